// SPDX-License-Identifier: Apache-2.0
// Where the job stands among its rounds: which one this is, what became of those before, and the
// rule by which there may be another.
#pragma once

#include <sys/types.h>

#include <functional>
#include <set>
#include <string>
#include <vector>

#include "launcher/channel/job_channel.h"
#include "launcher/job/ending.h"
#include "launcher/run/restart_policy.h"
#include "launcher/tell/rounds_table.h"

namespace paddle_launch {

// What an elastic job minds while a round runs.
struct RoundWatch {
  std::function<pid_t()> keeper{};  // the process that talks to etcd
  JobChannel::Doorkeeper doorkeeper{};
  // `stop` ends the round, until `end` is called. Told that no process runs here any more: nobody
  // is let in then.
  std::function<void(JobChannel&, int nodes, std::function<void(const StopCause&)> stop,
                     std::function<void(const std::string&)> warn)>
      begin{};
  std::function<void()> work_ends{};
  std::function<void()> end{};
};

struct Rounds {
  RestartRules rules{};
  bool may_be_several = false;
  RoundState state{};
  std::vector<ToldRound> told{};  // those that this launcher has played, by add_round()
  RoundWatch watch{};
  std::set<std::string> warned{};  // what was warned of in rounds before
  bool told_of_console = false;    // that nobody reads it
  bool is_running = false;         // the processes of a round were started
};

}  // namespace paddle_launch
