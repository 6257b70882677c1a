// SPDX-License-Identifier: Apache-2.0
#include "launcher/site/assumed_roster.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "launcher/site/server_offer.h"
#include "launcher/text/ipv4.h"

namespace paddle_launch {
namespace {

// What the others would probably see us come from.
std::string likely_address(const Machine& here) {
  for (const std::string& address : here.addresses) {
    if (!is_loopback(parse_ipv4(address).value_or(0))) return address;
  }
  return here.host_name;
}

// What another node of the lists would offer; where numbers count, the same as this one.
void assume_roles(const JobSpec& job, std::size_t place, PodOffer& pod) {
  if (!job.servers || job.servers->as_it_is) return;
  ServerSpec spec = *job.servers;
  if (spec.single) {
    const int servers = static_cast<int>(spec.servers.size());
    const int index = static_cast<int>(place);
    spec.single->mine = index < servers ? ProcessName{Role::Server, index}
                                        : ProcessName{Role::Trainer, index - servers};
  } else if (spec.servers.empty() || spec.workers.empty()) {
    return;
  }
  pod.roles = roles_of_pod(spec, pod.host, {});
}

std::string assumed_host(const JobSpec& job, std::size_t place, const std::string& own) {
  if (!job.master && place < job.ips.size()) return job.ips[place];
  return own.empty() || job.master ? fmt::format("node-{}", place) : own;
}

}  // namespace

Roster assumed_roster(const JobSpec& job, const Machine& here, const Offer& offer) {
  Roster roster;
  roster.mine = offer.me.place;
  const auto nodes = job.nnodes > 1 ? static_cast<std::size_t>(job.nnodes)
                                    : std::max<std::size_t>(job.ips.size(), 1);
  for (std::size_t place = 0; place < nodes; ++place) {
    PodOffer pod = offer.pod;
    if (place != offer.me.place) {
      pod.host = assumed_host(job, place, offer.pod.host);
      assume_roles(job, place, pod);
    }
    if (pod.host.empty()) pod.host = likely_address(here);
    roster.pods.push_back(std::move(pod));
  }
  return roster;
}

}  // namespace paddle_launch
