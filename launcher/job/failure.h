// SPDX-License-Identifier: Apache-2.0
// A worker's failure with all that a person needs to know of it, on whichever node they sit.
#pragma once

#include <string>

#include "launcher/job/outcome.h"
#include "launcher/job/role.h"

namespace paddle_launch {

// In place of a number of OOM kills: the kernel does not tell.
constexpr long kOomKillsUnknown = -1;

struct FailureRecord {
  ProcessExit exit{};  // its times are of the steady clock of its own node
  Role role = Role::Trainer;
  int rank = 0;  // of a trainer; of others the place in the list of their role
  int local_rank = 0;
  std::string node{};   // host name and, where it differs, the address in the endpoints
  std::string cards{};  // "card 3" or "CPU"
  std::string when{};   // local time on its node
  std::string log_path{};
  std::string log_excerpt{};  // empty: nothing was written
  std::string error{};        // what failed alike has the same one; empty: nothing is known of it
  bool log_readable = true;
  long oom_kills = kOomKillsUnknown;  // on its node, during the run

  ProcessName name() const { return {role, rank}; }
  bool operator==(const FailureRecord&) const = default;
};

// A process that was stopped, or died after the first, although its log says that it began.
struct Suspicion {
  Role role = Role::Trainer;
  int rank = 0;
  std::string node{};
  std::string log_path{};
  std::string log_excerpt{};

  ProcessName name() const { return {role, rank}; }
  bool operator==(const Suspicion&) const = default;
};

}  // namespace paddle_launch
