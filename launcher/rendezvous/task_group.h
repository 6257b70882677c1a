// SPDX-License-Identifier: Apache-2.0
// The tasks of a job in Paddle's order, pure: who shares a node with whom, and who is which pod.
// Schedulers number tasks as they place them; Paddle's ranks go node by node.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "launcher/job/pod.h"

namespace paddle_launch {

// What a task says of the node it is on.
struct NodeFacts {
  std::string node{};                      // the same for all tasks of a node, and for them alone
  std::string host{};                      // its name for messages
  std::vector<std::uint32_t> addresses{};  // not loopback
  std::string visible_cards{};             // as the visibility variables say it; empty: all

  bool operator==(const NodeFacts&) const = default;
};

std::string encode_facts(const NodeFacts& facts);
std::optional<NodeFacts> decode_facts(std::string_view bytes);

struct TaskGroup {
  int mine = 0;  // this launcher's place among the pods
  int nodes = 1;
  std::vector<int> task_at{0};       // of each pod
  std::vector<int> node_of{0};       // of each pod, ascending
  std::vector<std::string> hosts{};  // of each pod, for messages
  NodeShare share{};                 // of this launcher in its node

  int pods() const { return static_cast<int>(task_at.size()); }
  bool operator==(const TaskGroup&) const = default;
};

// Nodes in the order of their lowest task, tasks of a node in their own: the first pod is task 0.
TaskGroup group_tasks(const std::vector<NodeFacts>& facts, int my_task);

// Where nobody was asked: so many tasks on each node, one after the other.
TaskGroup group_by_counts(const std::vector<int>& tasks_per_node,
                          const std::vector<std::string>& hosts, int node, int local);

// `node_of`: of each place; empty: every pod has a node of its own.
bool are_neighbours(const std::vector<int>& node_of, std::optional<int> one,
                    std::optional<int> other);

// The smallest of those that are there most often; none: there are none.
std::optional<std::uint32_t> most_frequent(std::vector<std::uint32_t> addresses);

// One address for a node, its first pod's, whichever way each of its pods came.
void share_addresses_of_nodes(Roster& roster);

}  // namespace paddle_launch
