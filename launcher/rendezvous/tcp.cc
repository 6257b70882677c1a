// SPDX-License-Identifier: Apache-2.0
// docs/several-nodes.md is the page for whoever types the nodes.
#include "launcher/rendezvous/tcp.h"

#include <algorithm>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include "launcher/rendezvous/agreement.h"
#include "launcher/rendezvous/identity.h"
#include "launcher/text/ipv4.h"

namespace paddle_launch {
namespace {

constexpr std::chrono::seconds kToTellAProblem{10};

std::vector<int> hub_ports(const JobSpec& job) {
  if (job.master) return {job.master->port};
  std::vector<int> ports(kHubPorts);
  std::iota(ports.begin(), ports.end(), job.bootstrap_port);
  return ports;
}

TcpSettings typed_settings(const JobSpec& job, const OwnNode& me) {
  TcpSettings settings;
  settings.hub_host = job.master ? job.master->host : job.ips.front();
  settings.ports = hub_ports(job);
  settings.is_hub = job.master ? me.is_meeting_point : me.place == 0;
  settings.may_join_instead = job.master.has_value();
  settings.listen_on = job.master ? parse_ipv4(job.master->host) : me.address;
  // Several pods on one machine, to try things out: each comes from its own address.
  if (me.address && is_loopback(*me.address)) settings.from = me.address;
  if (job.servers && job.servers->single) {
    settings.names = job.servers->single->pods;
  } else if (!job.master) {
    settings.names = job.ips;
    settings.is_list_typed = true;
  }
  return settings;
}

}  // namespace

std::chrono::milliseconds patience_with(const Offer& offer, const JobSpec& job) {
  const std::chrono::milliseconds usual = job.bootstrap_timeout;
  return offer.problem ? std::min<std::chrono::milliseconds>(usual, kToTellAProblem) : usual;
}

Gathered Tcp::gather(const Brought& brought) {
  const JobSpec& job = launch_.job;
  std::vector<std::string> notices;
  if (!star_) {
    TcpSettings settings = typed_settings(job, brought.offer.me);
    settings.identity = typed_identity(job, launch_.env, launch_.here, notices);
    settings.timeout = patience_with(brought.offer, job);
    star_.emplace(launch_.loop, std::move(settings), narrator_);
  }
  const JobTerms terms = terms_of(job, launch_.here, brought.offer, nullptr);
  Gathered gathered =
      star_->gather(brought.next.state, offer_message(terms, brought.offer.pod), brought.payload);
  gathered.notices = std::move(notices);
  return gathered;
}

}  // namespace paddle_launch
