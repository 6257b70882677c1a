// SPDX-License-Identifier: Apache-2.0
#include "launcher/rendezvous/task_group.h"

#include <algorithm>
#include <cstddef>
#include <map>
#include <set>

#include "launcher/text/wire.h"

namespace paddle_launch {

namespace {

constexpr std::size_t kLongestName = 4096;

// Each launcher of the node sees cards that no other sees: mpirun's or srun's user gave each its
// own.
bool has_own_cards(const std::vector<NodeFacts>& facts, const std::vector<int>& tasks_of_node) {
  std::set<std::string> seen;
  for (const int task : tasks_of_node) {
    const std::string& visible = facts[static_cast<std::size_t>(task)].visible_cards;
    if (visible.empty() || !seen.insert(visible).second) return false;
  }
  return tasks_of_node.size() > 1;
}

}  // namespace

std::string encode_facts(const NodeFacts& facts) {
  WireWriter out;
  out.text(facts.node);
  out.text(facts.host);
  out.text(facts.visible_cards);
  out.varint(facts.addresses.size());
  for (const std::uint32_t address : facts.addresses) out.varint(address);
  return out.take();
}

std::optional<NodeFacts> decode_facts(std::string_view bytes) {
  WireReader in(bytes);
  NodeFacts facts;
  facts.node = in.text(kLongestName);
  facts.host = in.text(kLongestName);
  facts.visible_cards = in.text(in.left());
  facts.addresses.resize(in.count());
  for (std::uint32_t& address : facts.addresses) {
    address = static_cast<std::uint32_t>(in.varint(UINT32_MAX));
  }
  if (!in.finished_well()) return std::nullopt;
  return facts;
}

TaskGroup group_tasks(const std::vector<NodeFacts>& facts, int my_task) {
  std::map<std::string, int> node_numbers;
  std::vector<std::vector<int>> tasks_of;
  for (std::size_t task = 0; task < facts.size(); ++task) {
    const auto [found, is_new] =
        node_numbers.emplace(facts[task].node, static_cast<int>(tasks_of.size()));
    if (is_new) tasks_of.emplace_back();
    tasks_of[static_cast<std::size_t>(found->second)].push_back(static_cast<int>(task));
  }
  TaskGroup group{.task_at = {}, .node_of = {}};
  group.nodes = static_cast<int>(tasks_of.size());
  for (std::size_t node = 0; node < tasks_of.size(); ++node) {
    const std::vector<int>& tasks = tasks_of[node];
    for (std::size_t local = 0; local < tasks.size(); ++local) {
      if (tasks[local] == my_task) {
        group.mine = group.pods();
        group.share = {.local = static_cast<int>(local),
                       .launchers = static_cast<int>(tasks.size()),
                       .own_cards = has_own_cards(facts, tasks)};
      }
      group.task_at.push_back(tasks[local]);
      group.node_of.push_back(static_cast<int>(node));
      group.hosts.push_back(facts[static_cast<std::size_t>(tasks[local])].host);
    }
  }
  return group;
}

TaskGroup group_by_counts(const std::vector<int>& tasks_per_node,
                          const std::vector<std::string>& hosts, int node, int local) {
  TaskGroup group{.task_at = {}, .node_of = {}};
  group.nodes = static_cast<int>(tasks_per_node.size());
  for (std::size_t i = 0; i < tasks_per_node.size(); ++i) {
    if (static_cast<int>(i) == node) {
      group.mine = group.pods() + local;
      group.share = {.local = local, .launchers = tasks_per_node[i]};
    }
    for (int task = 0; task < tasks_per_node[i]; ++task) {
      group.task_at.push_back(group.pods());
      group.node_of.push_back(static_cast<int>(i));
      group.hosts.push_back(i < hosts.size() ? hosts[i] : std::string());
    }
  }
  return group;
}

bool are_neighbours(const std::vector<int>& node_of, std::optional<int> one,
                    std::optional<int> other) {
  if (node_of.empty() || !one || !other) return false;
  return node_of.at(static_cast<std::size_t>(*one)) == node_of.at(static_cast<std::size_t>(*other));
}

std::optional<std::uint32_t> most_frequent(std::vector<std::uint32_t> addresses) {
  std::sort(addresses.begin(), addresses.end());
  std::optional<std::uint32_t> best;
  std::ptrdiff_t most = 0;
  for (auto next = addresses.begin(); next != addresses.end();) {
    const auto end = std::upper_bound(next, addresses.end(), *next);
    if (end - next > most) {
      most = end - next;
      best = *next;
    }
    next = end;
  }
  return best;
}

void share_addresses_of_nodes(Roster& roster) {
  for (std::size_t pod = 1; pod < roster.node_of.size(); ++pod) {
    if (roster.node_of[pod] == roster.node_of[pod - 1]) {
      roster.pods.at(pod).host = roster.pods.at(pod - 1).host;
    }
  }
}

}  // namespace paddle_launch
