// SPDX-License-Identifier: Apache-2.0
// What is said when a round ends: the verdict at once, and when all is quiet the documented ABORT
// line, the report and the last line in each victim's log.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "launcher/job/ending.h"
#include "launcher/job/plan.h"
#include "launcher/run/log_directory.h"
#include "launcher/run/supervisor.h"
#include "launcher/tell/probable_cause.h"
#include "launcher/tell/voice.h"

namespace paddle_launch {

class PostMortem {
 public:
  // `node`: this pod's place in the roster.
  PostMortem(const ProcessPlan& plan, std::string host_name, int node, long oom_kills_before);

  void tell_verdict(const Voice& voice, const Outcome& verdict, int others) const;
  // This pod's outcome as the others learn it.
  StopCause cause(const Outcome& outcome) const;
  // Whether a process that failed says that it lost a neighbour, and nothing of its own.
  bool lost_a_neighbour(int worker) const;
  // This pod's account of itself. `own`: the cause that was told when the verdict fell; none: the
  // reason was another pod's, or all went well. Reads the logs, so before our own last lines go
  // into them. Then result.exits know who had failed before it was told to stop, and who only
  // lost a neighbour.
  PodEnding ending(RoundResult& result, const std::optional<StopCause>& own) const;
  void tell_end(const Voice& voice, const RoundResult& result, const JobVerdict& verdict) const;

 private:
  using LogEnds = std::vector<std::optional<LogEnd>>;

  long oom_kills() const;
  void mark_victims(const Voice& voice, const RoundResult& result,
                    const std::string& because) const;
  LogEnds read_logs(const Outcome& outcome) const;
  FailureRecord record(const ProcessExit& exit, const std::optional<LogEnd>& log,
                       bool with_excerpt) const;
  RootCauseHint hint_at(int worker, const LogEnds& logs) const;
  void compare_logs(const LogEnds& logs, const RoundResult& result, PodEnding& ending) const;
  std::string node_name() const;

  const ProcessPlan& plan_;
  std::string host_name_;
  int node_;
  long oom_kills_before_;
};

}  // namespace paddle_launch
