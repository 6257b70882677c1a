// SPDX-License-Identifier: Apache-2.0
// For users: docs/several-nodes.md.
#include "launcher/cli/nodes_of_job.h"

#include <algorithm>
#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "launcher/cli/servers_of_job.h"
#include "launcher/job/errors.h"
#include "launcher/text/ipv4.h"

namespace paddle_launch {

int number_of_nodes(const GivenOptions& given) {
  return given.value<NodeRange>("nnodes").value_or(NodeRange()).min;
}

namespace {

// 127.x.y.z in full; a shorter form is no address here, as everywhere in this launcher.
bool is_loopback(std::string_view entry) {
  return entry.starts_with("127.") && is_dotted_address(entry);
}

// Several pods on one machine are for trying things out: 127.0.0.1,127.0.0.2 and a --host for each.
// `input` is what named the nodes.
void refuse_loopback(std::string_view input, const JobSpec& job) {
  if (job.ips.size() < 2) return;
  const bool is_single = job.servers && job.servers->single;
  const bool one_machine = std::all_of(job.ips.begin(), job.ips.end(), is_loopback);
  for (const std::string& entry : job.ips) {
    if (entry != "localhost" && !is_loopback(entry)) continue;
    if (one_machine && (job.host || is_single || entry != "127.0.0.1")) continue;
    throw UsageError(fmt::format(
        "{}: {} names each node itself on every node, so it cannot be one of several nodes. Write "
        "the address by which the other nodes reach it; to try several nodes on one machine, write "
        "addresses 127.x.y.z alone and name each launcher's own one with {}.",
        input, entry, is_single ? "PADDLE_CURRENT_IP" : "--host"));
  }
}

void take_hosts(std::vector<std::string> hosts, std::string source, JobSpec& job) {
  job.ips = std::move(hosts);
  job.ips_given = true;
  job.ips_source = std::move(source);
  job.nnodes = static_cast<int>(job.ips.size());
}

void check_number_of_nodes(const GivenOption& list, std::string_view has, const GivenOptions& given,
                           const JobSpec& job) {
  const GivenOption* const nodes = given.find("nnodes");
  if (nodes == nullptr || number_of_nodes(given) == job.nnodes) return;
  refuse_together(*nodes, list,
                  fmt::format("{} {} node{}", has, job.nnodes, job.nnodes == 1 ? "" : "s"));
}

void take_list(const GivenOption& list, const GivenOptions& given, JobSpec& job) {
  take_hosts(list.as<std::vector<std::string>>(), list.name, job);
  check_number_of_nodes(list, "the list has", given, job);
  refuse_loopback(said(list), job);
}

void take_endpoints(const std::vector<const GivenOption*>& lists, const GivenOptions& given,
                    JobSpec& job) {
  std::vector<std::string> names;
  std::vector<std::string> values;
  for (const GivenOption* const list : lists) {
    names.push_back(list->name);
    values.push_back(said(*list));
  }
  take_hosts(hosts_of(*job.servers), in_words(names), job);
  check_number_of_nodes(*lists.front(), "the endpoints are on", given, job);
  refuse_loopback(in_words(values), job);
}

// The servers are in the list, the trainers behind it.
void take_places(const SingleProcess& single, JobSpec& job) {
  take_hosts(hosts_of(*job.servers), "PADDLE_PSERVER_IPS", job);
  const int servers = job.nnodes;
  job.nnodes = static_cast<int>(single.pods.size());
  job.node_rank = single.mine.index;
  if (single.mine.role == Role::Server) {
    job.host = job.ips.at(static_cast<std::size_t>(single.mine.index));
    job.host_source = "PADDLE_CURRENT_IP";
  } else {
    *job.node_rank += servers;
  }
  refuse_loopback(fmt::format("{}={}", job.ips_source, fmt::join(job.ips, ",")), job);
}

// A single process, or one that PaddleCloud has placed, needs no address of its node.
void forget_address(JobSpec& job) {
  job.host.reset();
  job.host_source.clear();
}

void take_master(const GivenOption& nodes, const GivenOptions& given, JobSpec& job) {
  job.nnodes = number_of_nodes(given);
  const GivenOption* const master = given.find("master");
  if (master == nullptr) {
    const std::string_view list =
        job.servers ? "--servers=HOST:PORT,… and --workers=HOST:PORT,… with the endpoints of all"
                    : "--ips=ADDRESS,ADDRESS,… with the addresses of all";
    throw UsageError(fmt::format(
        "{}: the {} nodes have no way to find each other. Add {} nodes, the same list on each, or "
        "--master=HOST:PORT with the address of the first node and a free port of it, or {} to run "
        "on this node alone.",
        said(nodes), job.nnodes, list, how_to_drop(nodes)));
  }
  job.master = master->as<MeetingPoint>();
  job.sort_ip = given.is_true("sort_ip");
}

void take_rank(const GivenOptions& given, JobSpec& job) {
  const GivenOption* const rank = given.find("rank");
  if (rank == nullptr || rank->as<int>() == kNoRank) return;
  job.node_rank = rank->as<int>();
  if (*job.node_rank < job.nnodes) return;
  const std::string nodes = job.nnodes == 1 ? std::string("1 node, whose only node is 0")
                                            : fmt::format("{} nodes, whose nodes are 0 to {}",
                                                          job.nnodes, job.nnodes - 1);
  throw UsageError(fmt::format("{}: there is no node {} in a job of {}; {}{}", said(*rank),
                               rank->text, nodes, job.nnodes == 1 ? "" : "correct it, or ",
                               how_to_drop(*rank)));
}

void choose_endpoints_or_master(GivenOptions& given, const ServerSpec& servers, Remarks& remarks) {
  const GivenOption* const master = given.find("master");
  const std::vector<const GivenOption*> lists = endpoint_options(given);
  if (master == nullptr || lists.empty() || hosts_of(servers).size() < 2) return;

  if (!master->from_environment) {
    refuse_together(*master, *lists.front(), "each is a way for the nodes to find each other");
  }
  drop_unused(*master, fmt::format("{} names the nodes", said(*lists.front())), given, remarks);
}

}  // namespace

void choose_list_or_master(GivenOptions& given, const std::optional<ServerSpec>& servers,
                           Remarks& remarks) {
  if (servers) return choose_endpoints_or_master(given, *servers, remarks);
  const GivenOption* const list = given.find("ips");
  const GivenOption* const master = given.find("master");
  if (list == nullptr || master == nullptr || list->as<std::vector<std::string>>().size() < 2)
    return;

  if (master->from_environment) {
    return drop_unused(*master, fmt::format("{} names the nodes", said(*list)), given, remarks);
  }
  if (!list->from_environment) {
    refuse_together(*master, *list, "each is a way for the nodes to find each other");
  }
  // The typed --master would win over PADDLE_IPS, and without --nnodes the job would shrink to one
  // node without a word.
  if (number_of_nodes(given) == 1) {
    refuse_together(*master, *list,
                    "the first without --nnodes is for one node, the second names several");
  }
  drop_unused(*list, option_comes_first(*master), given, remarks);
}

void fill_nodes(const GivenOptions& given, JobSpec& job) {
  const GivenOption* const nodes = given.find("nnodes");
  const std::vector<const GivenOption*> endpoints = endpoint_options(given);
  // The nodes of an elastic job get their places from etcd, whatever --rank says.
  if (job.elastic) {
    job.nnodes = job.elastic->nodes.max;
    return;
  }
  if (job.servers && job.servers->as_it_is) {
    forget_address(job);
  } else if (job.servers && job.servers->single) {
    take_places(*job.servers->single, job);
  } else if (job.servers && !endpoints.empty()) {
    take_endpoints(endpoints, given, job);
  } else if (const GivenOption* const list = given.find("ips")) {
    take_list(*list, given, job);
  } else if (nodes != nullptr && number_of_nodes(given) > 1) {
    take_master(*nodes, given, job);
  }
  take_rank(given, job);
}

}  // namespace paddle_launch
