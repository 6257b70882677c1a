// SPDX-License-Identifier: Apache-2.0
// docs/several-nodes.md says how a person names nodes.
#include "launcher/site/own_node.h"

#include <algorithm>
#include <cctype>
#include <chrono>
#include <functional>
#include <iterator>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "launcher/job/errors.h"
#include "launcher/site/machine.h"
#include "launcher/text/ipv4.h"

namespace paddle_launch {
namespace {

using Ipv4 = std::uint32_t;
using Places = std::vector<std::size_t>;  // in job.ips

constexpr std::size_t kAskedAtOnce = 32;

std::string described(const Machine& here) {
  return fmt::format("this machine ({}, which has {})", here.host_name, list_of(here.addresses));
}

// Up to the first dot, in lower case.
std::string first_label(const std::string& name) {
  std::string label = name.substr(0, name.find('.'));
  std::transform(label.begin(), label.end(), label.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return label;
}

// The names of the list, in the order in which they are asked for: first those that begin as this
// machine is called. They are most likely its own, but only their addresses tell.
std::vector<Places> groups_to_ask(const JobSpec& job, const Machine& here) {
  const std::string own_label = first_label(here.host_name);
  std::vector<Places> groups(1);
  Places others;
  for (std::size_t i = 0; i < job.ips.size(); ++i) {
    if (parse_ipv4(job.ips[i])) continue;
    (first_label(job.ips[i]) == own_label ? groups.front() : others).push_back(i);
  }
  for (std::size_t next = 0; next < others.size(); next += kAskedAtOnce) {
    const auto from = others.begin() + static_cast<std::ptrdiff_t>(next);
    const std::size_t size = std::min(kAskedAtOnce, others.size() - next);
    groups.emplace_back(from, from + static_cast<std::ptrdiff_t>(size));
  }
  return groups;
}

using Fits = std::function<bool(const std::vector<Ipv4>&)>;

// The names whose addresses fit. A list of a thousand nodes is read by a thousand nodes at once:
// whoever has found itself asks no further.
Places names_that_fit(const JobSpec& job, const Machine& here, Lookups& lookups, const Fits& fits) {
  const auto begun = std::chrono::steady_clock::now();
  Places places;
  for (const Places& group : groups_to_ask(job, here)) {
    if (std::chrono::steady_clock::now() - begun > kPatienceWithNameServers) break;
    std::vector<std::string> names;
    for (const std::size_t place : group) names.push_back(job.ips[place]);
    lookups.fetch(names);
    std::copy_if(group.begin(), group.end(), std::back_inserter(places),
                 [&](std::size_t place) { return fits(lookups.addresses_of(job.ips[place])); });
    if (!places.empty()) break;
  }
  return places;
}

// The entries that have one of the addresses: the literal ones, or, if there is none, names.
Places entries_at(const std::vector<Ipv4>& addresses, const JobSpec& job, const Machine& here,
                  Lookups& lookups) {
  const auto fits = [&addresses](Ipv4 address) {
    return std::find(addresses.begin(), addresses.end(), address) != addresses.end();
  };
  Places places;
  for (std::size_t i = 0; i < job.ips.size(); ++i) {
    const auto literal = parse_ipv4(job.ips[i]);
    if (literal && fits(*literal)) places.push_back(i);
  }
  if (!places.empty() || addresses.empty()) return places;
  return names_that_fit(job, here, lookups, [&fits](const std::vector<Ipv4>& found) {
    return std::any_of(found.begin(), found.end(), fits);
  });
}

// The name of a single node in its endpoints, and who gave it, for messages.
std::pair<std::string, std::string> wished_host(const JobSpec& job) {
  const std::string& entry = job.ips.front();
  if (!job.host) return {entry, job.ips_source};
  if (!job.ips_given) return {*job.host, job.host_source};
  // An option beats a variable; two options must agree.
  if (job.host_source == "--host" && *job.host != entry) {
    throw UsageError(
        fmt::format("--host={} is not in {} ({}); name the same node in both, or leave one out",
                    *job.host, job.ips_source, entry));
  }
  return {entry, job.ips_source};
}

[[noreturn]] void refuse_stranger(const std::string& host, const std::string& source,
                                  const Machine& here, const std::string& failures) {
  throw UsageError(
      fmt::format("{}: {} is not an address of this machine ({}), which has {}{}; name one of them",
                  source, host, here.host_name, fmt::join(here.addresses, ", "), failures));
}

void must_be_mine(const JobSpec& job, const Machine& here, Lookups& lookups) {
  if (is_mine(here, *job.host, lookups.as_resolver())) return;
  refuse_stranger(*job.host, job.host_source, here, lookups.failures());
}

// A POD_IP that Kubernetes set for other reasons is told as well: to guess past it might make two
// pods of one machine the same node.
[[noreturn]] void refuse_host(const JobSpec& job, const Lookups& lookups) {
  const bool variable = job.host_source != "--host";
  throw UsageError(
      fmt::format("{}={} is not in {} ({}){}; {}", job.host_source, *job.host, job.ips_source,
                  list_of(job.ips), lookups.failures(),
                  variable ? fmt::format("unset {}, or correct {}", job.host_source, job.ips_source)
                           : "name this node as it stands there, or leave out --host"));
}

std::vector<std::string> names_at(const Places& places, const JobSpec& job) {
  std::vector<std::string> names;
  for (const std::size_t place : places) {
    names.push_back(fmt::format("{} (place {})", job.ips[place], place));
  }
  return names;
}

std::size_t place_of_wished_host(const JobSpec& job, const Machine& here, Lookups& lookups) {
  Places places;
  for (std::size_t i = 0; i < job.ips.size(); ++i) {
    if (job.ips[i] == *job.host) places.push_back(i);
  }
  if (places.empty()) places = entries_at(lookups.addresses_of(*job.host), job, here, lookups);
  if (places.empty()) refuse_host(job, lookups);
  if (places.size() > 1) {
    throw UsageError(
        fmt::format("{}={} fits several entries of {}: {}; name this node as it stands there, and "
                    "each node once",
                    job.host_source, *job.host, job.ips_source, list_of(names_at(places, job))));
  }
  must_be_mine(job, here, lookups);
  return places.front();
}

Places own_entries(const JobSpec& job, const Machine& here, Lookups& lookups) {
  std::vector<Ipv4> literals;
  Places places;
  for (std::size_t i = 0; i < job.ips.size(); ++i) {
    if (const auto address = parse_ipv4(job.ips[i])) literals.push_back(*address);
    if (is_name_of(here, job.ips[i])) places.push_back(i);
  }
  const auto own = own_among(here, literals);
  if (!own.empty()) {
    const auto by_address = entries_at(own, job, here, lookups);
    places.insert(places.end(), by_address.begin(), by_address.end());
    std::sort(places.begin(), places.end());
  }
  if (!places.empty()) return places;
  return names_that_fit(job, here, lookups, [&here](const std::vector<Ipv4>& found) {
    return !own_among(here, found).empty();
  });
}

std::size_t place_of_own_entry(const JobSpec& job, const Machine& here, Lookups& lookups) {
  const Places places = own_entries(job, here, lookups);
  if (places.size() == 1) return places.front();
  if (places.empty()) {
    throw UsageError(fmt::format(
        "no entry of {} ({}) is {}{}; start the launcher on the nodes of the list, or correct the "
        "list",
        job.ips_source, list_of(job.ips), described(here), lookups.failures()));
  }
  throw UsageError(fmt::format(
      "several entries of {} are {}: {}; {}say with --host which of them this launcher is",
      job.ips_source, described(here), list_of(names_at(places, job)),
      // With parameter servers a machine has several entries as a rule, all of one host.
      job.servers ? "write it in one way, or, if it has several launchers, " : ""));
}

// A rank that contradicts the list would give two nodes one place.
void must_fit_rank(const JobSpec& job, std::size_t place) {
  if (!job.node_rank || static_cast<std::size_t>(*job.node_rank) == place) return;
  throw UsageError(
      fmt::format("this node is {} at place {} of {}, but its rank is given as {} (--rank or "
                  "PADDLE_TRAINER_ID); leave out the rank, or put the list into its order",
                  job.ips[place], place, job.ips_source, *job.node_rank));
}

// A name that /etc/hosts gives to loopback here is known to the others under another address, and
// of several addresses they may choose any: then only listening on all of them will do.
std::optional<Ipv4> listening_address(const std::string& host, const Machine& here,
                                      Lookups& lookups) {
  if (const auto literal = parse_ipv4(host)) return literal;
  const auto own = own_among(here, lookups.addresses_of(host));
  if (own.size() != 1 || is_loopback(own.front())) return std::nullopt;
  return own.front();
}

OwnNode node_of_master(const JobSpec& job, const Machine& here, Lookups& lookups) {
  OwnNode node;
  if (job.host) {
    must_be_mine(job, here, lookups);
    node.host = *job.host;
  }
  node.place = static_cast<std::size_t>(job.node_rank.value_or(0));
  node.is_meeting_point = is_mine(here, job.master->host, lookups.as_resolver());
  if (node.is_meeting_point) node.address = listening_address(job.master->host, here, lookups);
  return node;
}

}  // namespace

OwnNode find_own_node(const JobSpec& job, const Machine& here, const Resolver& resolve) {
  Lookups lookups(resolve);
  if (job.master) return node_of_master(job, here, lookups);
  if (job.ips.size() == 1) {
    auto [host, source] = wished_host(job);
    if (!is_mine(here, host, resolve)) refuse_stranger(host, source, here, "");
    return {.host = std::move(host)};
  }
  const std::size_t place =
      job.host ? place_of_wished_host(job, here, lookups) : place_of_own_entry(job, here, lookups);
  must_fit_rank(job, place);
  const std::string& entry = job.ips[place];
  return {.host = entry, .place = place, .address = listening_address(entry, here, lookups)};
}

OwnNode own_node_of_task(const JobSpec& job, const Machine& here, std::size_t place,
                         const Resolver& resolve) {
  Lookups lookups(resolve);
  OwnNode node{.place = place};
  if (job.host) {
    must_be_mine(job, here, lookups);
    node.host = *job.host;
  }
  // Only servers ask for it.
  node.is_meeting_point =
      job.servers && job.master && is_mine(here, job.master->host, lookups.as_resolver());
  return node;
}

}  // namespace paddle_launch
