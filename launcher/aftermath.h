// SPDX-License-Identifier: Apache-2.0
// What is said when a round ends: the verdict at once, and when all is quiet the documented ABORT
// line, the report and the last line in each victim's log.
#pragma once

#include <string>

#include "launcher/job/outcome.h"
#include "launcher/job/process_spec.h"
#include "launcher/run/supervisor.h"
#include "launcher/tell/voice.h"

namespace paddle_launch {

class Aftermath {
 public:
  Aftermath(const ProcessPlan& plan, std::string host_name, long oom_kills_before);

  void tell_verdict(const Voice& voice, const Outcome& verdict, int others) const;
  void tell_end(const Voice& voice, const RoundResult& result) const;

 private:
  long oom_kills() const;
  void mark_victims(const Voice& voice, const RoundResult& result) const;
  std::string failure(const ProcessExit& first, const RoundResult& result) const;

  const ProcessPlan& plan_;
  std::string host_name_;
  long oom_kills_before_;
};

}  // namespace paddle_launch
