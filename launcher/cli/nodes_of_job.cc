// SPDX-License-Identifier: Apache-2.0
// See nodes_of_job.h.
#include "launcher/cli/nodes_of_job.h"

#include <algorithm>
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "launcher/cli/host_and_port.h"
#include "launcher/job/errors.h"
#include "launcher/text/number.h"
#include "launcher/text/split.h"

namespace paddle_launch {
namespace {

constexpr std::size_t kPartsOfAnAddress = 4;

// "2", or "2:2": ranges with two ends that differ were refused before.
int number_of_nodes(const GivenOptions& given) {
  const std::string text = given.text("nnodes").value_or("1");
  return static_cast<int>(parse_whole_number(text.substr(0, text.find(':'))).value_or(1));
}

// 127.x.y.z in full; a shorter form is no address here, as everywhere in this launcher.
bool is_loopback(std::string_view entry) {
  const std::vector<std::string_view> parts = split(entry, '.');
  if (parts.size() != kPartsOfAnAddress || parts.front() != "127") return false;
  return std::all_of(parts.begin(), parts.end(), [](std::string_view part) {
    const auto number = parse_whole_number(part);
    return number && *number >= 0 && *number <= 255;
  });
}

// Several pods on one machine are for trying things out: 127.0.0.1,127.0.0.2 and a --host for each.
void refuse_loopback(const GivenOption& list, const JobSpec& job) {
  if (job.ips.size() < 2) return;
  const bool one_machine = std::all_of(job.ips.begin(), job.ips.end(), is_loopback);
  for (const std::string& entry : job.ips) {
    if (entry != "localhost" && !is_loopback(entry)) continue;
    if (one_machine && (job.host || entry != "127.0.0.1")) continue;
    throw UsageError(fmt::format(
        "{}: {} names each node itself on every node, so it cannot be one of several nodes. Write "
        "the address by which the other nodes reach it; to try several nodes on one machine, write "
        "addresses 127.x.y.z alone and name each launcher's own one with --host.",
        said(list), entry));
  }
}

void take_list(const GivenOption& list, const GivenOptions& given, JobSpec& job) {
  const std::vector<std::string_view> entries = split(list.value, ',');
  job.ips.assign(entries.begin(), entries.end());
  job.ips_given = true;
  job.ips_source = list.name;
  job.nnodes = static_cast<int>(job.ips.size());
  const GivenOption* const nodes = given.find("nnodes");
  if (nodes != nullptr && number_of_nodes(given) != job.nnodes) {
    refuse_together(*nodes, list,
                    fmt::format("the list has {} node{}", job.nnodes, job.nnodes == 1 ? "" : "s"));
  }
  refuse_loopback(list, job);
}

void take_master(const GivenOption& nodes, const GivenOptions& given, JobSpec& job) {
  job.nnodes = number_of_nodes(given);
  const GivenOption* const master = given.find("master");
  if (master == nullptr) {
    throw UsageError(fmt::format(
        "{}: the {} nodes have no way to find each other. Add --ips=ADDRESS,ADDRESS,… with the "
        "addresses of all nodes, the same list on each, or --master=HOST:PORT with the address of "
        "the first node and a free port of it, or {} to run on this node alone.",
        said(nodes), job.nnodes, how_to_drop(nodes)));
  }
  job.master = split_host_and_port(master->value);
  job.sort_ip = given.is_true("sort_ip");
}

void take_rank(const GivenOptions& given, JobSpec& job) {
  const GivenOption* const rank = given.find("rank");
  if (rank == nullptr || rank->value == "-1") return;
  job.node_rank = given.number("rank");
  if (*job.node_rank < job.nnodes) return;
  const std::string nodes = job.nnodes == 1 ? std::string("1 node, whose only node is 0")
                                            : fmt::format("{} nodes, whose nodes are 0 to {}",
                                                          job.nnodes, job.nnodes - 1);
  throw UsageError(fmt::format("{}: there is no node {} in a job of {}. Please {}{}.", said(*rank),
                               rank->value, nodes, job.nnodes == 1 ? "" : "correct it, or ",
                               how_to_drop(*rank)));
}

}  // namespace

void choose_list_or_master(GivenOptions& given, Remarks& remarks) {
  const GivenOption* const list = given.find("ips");
  const GivenOption* const master = given.find("master");
  if (list == nullptr || master == nullptr || list->value.find(',') == std::string::npos) return;

  if (master->from_environment) {
    remarks.warnings.push_back(
        fmt::format("{} is not used: {} names the nodes", said(*master), said(*list)));
    given.drop("master");
    return;
  }
  if (!list->from_environment) {
    refuse_together(*master, *list, "each is a way for the nodes to find each other");
  }
  // The typed master would win, and the job would shrink to one node without a word.
  if (number_of_nodes(given) == 1) {
    refuse_together(*master, *list,
                    "the first without --nnodes is for one node, the second names several");
  }
  remarks.warnings.push_back(
      fmt::format("{} is not used: the command line says {}, and an option beats a variable",
                  said(*list), said(*master)));
  given.drop("ips");
}

void fill_nodes(const GivenOptions& given, JobSpec& job) {
  const GivenOption* const nodes = given.find("nnodes");
  if (const GivenOption* const list = given.find("ips")) {
    take_list(*list, given, job);
  } else if (nodes != nullptr && number_of_nodes(given) > 1) {
    take_master(*nodes, given, job);
  }
  take_rank(given, job);
}

}  // namespace paddle_launch
