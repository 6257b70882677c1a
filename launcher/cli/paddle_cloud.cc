// SPDX-License-Identifier: Apache-2.0
// For users: docs/several-nodes.md.
#include "launcher/cli/paddle_cloud.h"

#include <algorithm>
#include <cstddef>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "launcher/cli/environment_defaults.h"
#include "launcher/cli/nodes_of_job.h"
#include "launcher/cli/value_rule.h"
#include "launcher/job/errors.h"
#include "launcher/text/ipv4.h"
#include "launcher/text/lists.h"
#include "launcher/text/number.h"

namespace paddle_launch {
namespace {

constexpr std::string_view kTrainers = "PADDLE_TRAINERS";
constexpr std::string_view kPlace = "PADDLE_TRAINER_ID";
constexpr std::string_view kPortsOfANode = "TRAINER_PORTS_NUM";
constexpr std::string_view kWholeSet[] = {kTrainers, "POD_IP", kPlace, kPortsOfANode};
constexpr std::string_view kEndpoints = "DISTRIBUTED_TRAINER_ENDPOINTS";
constexpr std::string_view kEndpointLists[] = {kEndpoints, "PADDLE_TRAINER_ENDPOINTS"};
constexpr std::string_view kUsualPort = "6768";  // of a first endpoint without one
constexpr std::string_view kFirstPort = "PADDLE_PORT";
constexpr std::string_view kNumberOfNodes = "PADDLE_TRAINERS_NUM";

std::optional<int> number_in(const Environment& env, std::string_view variable, int low, int high) {
  const auto number = parse_whole_number(lookup(env, variable).value_or(""));
  if (!number || *number < low || *number > high) return std::nullopt;
  return static_cast<int>(*number);
}

std::size_t count_hosts(std::string_view endpoints) {
  std::set<std::string_view> hosts;
  for (const std::string_view endpoint : split(endpoints, ',')) {
    const std::string_view entry = without_blanks(endpoint);
    if (!entry.empty()) hosts.insert(host_of(entry));
  }
  return hosts.size();
}

void check_number_of_nodes(const Environment& env, const JobSpec& job) {
  const auto number = parse_whole_number(lookup(env, kNumberOfNodes).value_or(""));
  if (!number || *number == job.nnodes) return;
  throw UsageError(fmt::format(
      "{}={} names {} node{}, and {}={}: one of them leaves nodes out. Correct the one that is "
      "wrong, or unset {}.",
      kTrainers, fmt::join(job.ips, ","), job.nnodes, job.nnodes == 1 ? "" : "s", kNumberOfNodes,
      *number, kNumberOfNodes));
}

int place_of_this_node(const Environment& env, const JobSpec& job) {
  if (const auto place = number_in(env, kPlace, 0, job.nnodes - 1)) return *place;
  throw UsageError(
      fmt::format("{}={} is no place in {}={}: it takes a whole number from 0 to {}. Correct {}, "
                  "or name the place with --rank.",
                  kPlace, lookup(env, kPlace).value_or(""), kTrainers, fmt::join(job.ips, ","),
                  job.nnodes - 1, kPlace));
}

// A place that contradicts --host would give two nodes the same ranks, or one node the ports of
// another.
void check_place(const Environment& env, const GivenOptions& given, const JobSpec& job) {
  const std::string& there = job.ips[static_cast<std::size_t>(*job.node_rank)];
  const GivenOption* const host = given.find("host");
  if (host == nullptr || there == host->text) return;

  const GivenOption* const rank = given.find("rank");
  const bool own_rank = rank != nullptr && rank->as<int>() != kNoRank;
  const std::string rank_name = own_rank ? rank->name : std::string(kPlace);
  const auto found = std::find(job.ips.begin(), job.ips.end(), host->text);
  const std::string remedy =
      found == job.ips.end()
          ? fmt::format("{} is not in the list; correct {}", host->text, host->name)
          : fmt::format("{} is node {}; correct {}", host->text, found - job.ips.begin(),
                        rank_name);
  throw UsageError(
      fmt::format("{}, {}={} and {}={} contradict each other: node {} of the list is {}, and {}",
                  said(*host), rank_name, own_rank ? rank->text : lookup(env, kPlace).value_or(""),
                  kTrainers, fmt::join(job.ips, ","), *job.node_rank, there, remedy));
}

[[noreturn]] void refuse_endpoint(std::string_view endpoint, std::string_view why) {
  throw UsageError(fmt::format(
      "{} in {} is refused: {}. Correct {}, or unset it to let the launcher find ports.", endpoint,
      kEndpoints, why, kEndpoints));
}

int accepted_port(std::string_view endpoint, const std::vector<int>& before, const JobSpec& job) {
  const ValueReading reading = read_value(HostAndPort(), endpoint);
  if (!reading.problem.empty()) refuse_endpoint(endpoint, reading.problem);
  const auto& [host, port] = std::get<MeetingPoint>(reading.value);
  const auto node = std::find(job.ips.begin(), job.ips.end(), host);
  if (node != job.ips.end() && node - job.ips.begin() != *job.node_rank) {
    refuse_endpoint(endpoint, fmt::format("it stands where the ports of node {} do, and {} is "
                                          "node {} of {}",
                                          *job.node_rank, host, node - job.ips.begin(), kTrainers));
  }
  if (std::find(before.begin(), before.end(), port) != before.end()) {
    refuse_endpoint(endpoint, "it is there twice, and every trainer has its own port");
  }
  return port;
}

// One endpoint a node is where its launcher is to be met, and says nothing of the trainers' ports.
bool has_one_a_node(std::string_view list, const Environment& env, const JobSpec& job) {
  return split(list, ',').size() == job.ips.size() && non_empty(env, kPortsOfANode) != "1";
}

// Node i owns the i-th part of the list.
std::vector<int> ports_in(std::string_view list, const Environment& env, const JobSpec& job) {
  const std::vector<std::string_view> endpoints = split(list, ',');
  const auto of_a_node = number_in(env, kPortsOfANode, 1, kHighestPort);
  if (!of_a_node) {
    throw UsageError(fmt::format(
        "{}={} is refused: it takes the number of ports of each node in {}. Correct it, or unset "
        "{}.",
        kPortsOfANode, lookup(env, kPortsOfANode).value_or(""), kEndpoints, kEndpoints));
  }
  const auto share = static_cast<std::size_t>(*of_a_node);
  if (endpoints.size() != job.ips.size() * share) {
    throw UsageError(fmt::format(
        "{} has {} endpoints, and {} nodes ({}) with {} ports each ({}) have {}. Correct the one "
        "that is wrong, or unset {} to let the launcher find ports.",
        kEndpoints, endpoints.size(), job.ips.size(), kTrainers, share, kPortsOfANode,
        job.ips.size() * share, kEndpoints));
  }
  std::vector<int> ports;
  const std::size_t first = static_cast<std::size_t>(*job.node_rank) * share;
  for (std::size_t i = first; i < first + share; ++i) {
    ports.push_back(accepted_port(endpoints[i], ports, job));
  }
  return ports;
}

void take_ports(const Environment& env, const GivenOptions& given, JobSpec& job, Remarks& remarks) {
  std::optional<std::string> endpoints = non_empty(env, kEndpoints);
  if (endpoints && has_one_a_node(*endpoints, env, job)) endpoints.reset();
  const std::optional<std::string> first = non_empty(env, kFirstPort);
  const GivenOption* const own = given.first_of({"start_port", "port_range"});
  if (own != nullptr && (endpoints || (first && *first != own->text))) {
    remarks.warnings.push_back(
        fmt::format("{} is not used: {} comes first",
                    endpoints ? std::string(kEndpoints) : fmt::format("{}={}", kFirstPort, *first),
                    said(*own)));
  }
  if (own != nullptr) return;
  if (endpoints) {
    job.given_ports = ports_in(*endpoints, env, job);
  } else if (const auto port = number_in(env, kFirstPort, 1, kHighestPort)) {
    job.start_port = port;
    job.start_port_source = kFirstPort;
  } else if (first) {
    remarks.warnings.push_back(
        fmt::format("{}={} is not used: it is no port from 1 to {}, so free ports are taken",
                    kFirstPort, *first, kHighestPort));
  }
}

}  // namespace

bool is_paddle_cloud(const Environment& env) {
  const bool is_whole =
      std::all_of(std::begin(kWholeSet), std::end(kWholeSet),
                  [&env](std::string_view name) { return non_empty(env, name).has_value(); });
  if (is_nested(env) || !is_whole) return false;
  // Paddle's first cluster documents set PADDLE_TRAINERS to the number of trainers.
  return !parse_whole_number(read_value(AddressList(), *lookup(env, kTrainers)).text);
}

void add_meeting_point(const Environment& env, GivenOptions& given, Remarks& remarks) {
  if (is_nested(env) || given.first_of({"master", "ips", "nnodes"}) != nullptr) return;
  for (const std::string_view name : kEndpointLists) {
    const std::string list = lookup(env, name).value_or("");
    const std::size_t hosts = count_hosts(list);
    if (hosts < 2) continue;
    std::string first(without_blanks(split(list, ',').front()));
    if (first.find(':') == std::string::npos) first.append(":").append(kUsualPort);
    given.add(accept(*find_option("--master"), name, first, true));
    given.add(accept(*find_option("--nnodes"), name, std::to_string(hosts), true));
    remarks.notices.push_back(fmt::format(
        "{} names {} hosts, which meet at its first endpoint, {}, as with --master={} --nnodes={}",
        name, hosts, first, first, hosts));
    return;
  }
}

void add_platform_rank(const Environment& env, GivenOptions& given, Remarks& remarks) {
  const std::optional<std::string> place = non_empty(env, kPlace);
  const bool has_master = given.find("master") != nullptr && number_of_nodes(given) > 1;
  if (!place || !has_master || is_nested(env)) return;
  const GivenOption* const rank = given.find("rank");
  if (rank != nullptr && rank->as<int>() == kNoRank) given.drop("rank");
  add_variable(*find_option("--rank"), kPlace, *place, given, remarks);
}

void add_cloud_nodes(const Environment& env, GivenOptions& given) {
  GivenOption trainers =
      accept(*find_option("--ips"), kTrainers, lookup(env, kTrainers).value_or(""), true);
  const GivenOption* const list = given.find("ips");
  if (list == nullptr) {
    given.add(std::move(trainers));
  } else if (list->text != trainers.text) {
    refuse_together(*list, trainers, "on PaddleCloud the second names the nodes of the job");
  }
}

void take_cloud_place(const Environment& env, const GivenOptions& given, JobSpec& job,
                      Remarks& remarks) {
  check_number_of_nodes(env, job);
  if (!job.node_rank) job.node_rank = place_of_this_node(env, job);
  check_place(env, given, job);
  take_ports(env, given, job, remarks);
}

}  // namespace paddle_launch
