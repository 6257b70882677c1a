// SPDX-License-Identifier: Apache-2.0
// The two last acts of a round: watching this pod's processes to the last, and waiting for the
// verdict over the whole job.
#pragma once

#include <chrono>
#include <functional>
#include <optional>
#include <string>

#include "launcher/job/ending.h"
#include "launcher/run/conclusion.h"
#include "launcher/run/conductor.h"
#include "launcher/run/console.h"
#include "launcher/run/guard.h"
#include "launcher/run/post_mortem.h"
#include "launcher/run/stop_policy.h"
#include "launcher/run/store_relay.h"
#include "launcher/run/supervisor.h"
#include "launcher/run/terminal.h"
#include "launcher/steps/round.h"
#include "launcher/tell/voice.h"

namespace paddle_launch {

// What both share.
struct Stage {
  const JobTies& ties;
  Guard& guard;
  Console& console;
  const Terminal& terminal;
  const Voice& voice;
  const PostMortem& post_mortem;
  bool& speaks;
  bool first_on_node = true;
  int nodes = 1;
  // When the logs are open: the first words of the round.
  std::function<void(const OpenedLogs&)> begin{};
  StoreRelay* store_relay = nullptr;  // where rank 0 is
  Conductor* conductor = nullptr;     // in a job with parameter servers
  Supervisor* supervisor = nullptr;   // while processes of this pod run
  Conclusion* conclusion = nullptr;   // while the verdict is waited for
  // Also of others who would not wait until our last process was gone.
  std::optional<JobVerdict> verdict{};
  std::optional<StopCause> cause{};  // this pod's own, as it was told when the verdict fell
  int ending_signal = 0;             // the first that asked this launcher to end
};

// What the job tells a stage, whichever act it is in.
class StageEvents final : public RoundPolicy, public RoundWatch::Listener {
 public:
  explicit StageEvents(Stage& stage) : RoundPolicy(stage.ties.rounds, stage.nodes), stage_(stage) {}

  void on_stop(const StopCause& cause) override;
  void on_kill() override;
  void on_verdict(const JobVerdict& verdict) override { stage_.verdict = verdict; }
  void on_remark(const std::string& line) override { stage_.voice.info(line); }
  // What keeps the pods of a job with servers in step.
  void on_message(int node, const Message& message) override;
  // What the elastic job's own watch found: told to all, and carried out here.
  void on_reason_to_stop(const StopCause& cause) override;
  void on_warning(const std::string& line) override { stage_.voice.warning(line); }

 private:
  Stage& stage_;
};

// What a conductor of this stage does with the processes, while there are any.
class ConductedStage final : public Conductor::Observer {
 public:
  explicit ConductedStage(Stage& stage) : stage_(stage) {}
  void start_workers() override;
  void stop_servers() override;
  void on_progress(const std::string& line) override;

 private:
  Stage& stage_;
};

// `patience`: how long this pod's own processes may take to end where the launcher has failed.
RoundResult supervise(Stage& stage, StageEvents& events, StopPolicy policy,
                      std::chrono::milliseconds patience);

// `patience`: how long the other pods may take once the job is being stopped. Where the launcher
// fails meanwhile, which is noted in the result, what is known by then is the verdict.
JobVerdict conclude(Stage& stage, RoundResult& result, std::chrono::milliseconds patience);

}  // namespace paddle_launch
