// SPDX-License-Identifier: Apache-2.0
// Which of the job's nodes this machine is: the list of nodes, --host or POD_IP and the machine's
// own addresses, brought together. Every doubt is wrong use: two launchers that take themselves for
// the same node, or one that listens where nobody looks for it, would cost the whole time-out.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include "launcher/job/job_spec.h"
#include "launcher/site/machine.h"

namespace paddle_launch {

struct OwnNode {
  std::string host{};     // as typed in the list; empty: known when the nodes have met (--master)
  std::size_t place = 0;  // in job.ips, or --rank
  std::optional<std::uint32_t> address{};  // what a hub listens on; none: every address
  bool is_meeting_point = false;           // the nodes meet on this machine (--master)

  bool operator==(const OwnNode&) const = default;
};

// Literal addresses are compared first; names are looked up only when none of them fits and none is
// the own host name, some at a time, until one of them is this machine.
OwnNode find_own_node(const JobSpec& job, const Machine& here,
                      const Resolver& resolve = ask_name_servers);

// Where a scheduler gives the places: only what --host or POD_IP say counts, and it must be ours.
OwnNode own_node_of_task(const JobSpec& job, const Machine& here, std::size_t place,
                         const Resolver& resolve = ask_name_servers);

}  // namespace paddle_launch
