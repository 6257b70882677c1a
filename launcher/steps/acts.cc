// SPDX-License-Identifier: Apache-2.0
#include "launcher/steps/acts.h"

#include <functional>
#include <utility>
#include <variant>

#include <fmt/format.h>

#include "launcher/channel/judge.h"
#include "launcher/run/conclusion.h"
#include "launcher/site/kernel_facts.h"

namespace paddle_launch {
namespace {

// The first pod spoke for all; where it is lost, the first pod of each other node does.
bool speaks_for_lost_hub(const Stage& stage, const Outcome& verdict) {
  const auto* stopped = std::get_if<JobStopped>(&verdict);
  const bool is_lost = stopped != nullptr && stopped->cause.kind == StopCause::Kind::PodLost &&
                       stopped->cause.node == 0;
  return is_lost && (stage.first_on_node || stage.ties.node == 1);
}

void take_verdict(Stage& stage, const Outcome& verdict, int others) {
  if (std::holds_alternative<Completed>(verdict)) {
    return stage.voice.info(
        fmt::format("all workers have finished; stopping {} here that served them", others));
  }
  if (stage.conductor != nullptr) stage.conductor->job_stops();
  stage.speaks = stage.speaks || speaks_for_lost_hub(stage, verdict);
  stage.post_mortem.tell_verdict(stage.voice, verdict, others);
  if (std::holds_alternative<JobStopped>(verdict)) return;
  stage.cause = stage.post_mortem.cause(verdict);
  stage.ties.channel.tell_stop(*stage.cause);
}

// Of no consequence once the work is done.
void tell_of_interrupt(const Stage& stage, int signal) {
  if (stage.conductor != nullptr && stage.conductor->is_work_done()) return;
  if (stage.conductor != nullptr) stage.conductor->job_stops();
  stage.post_mortem.tell_verdict(stage.voice, Interrupted{signal}, 0);
}

void tell_of_hang(const Stage& stage, bool nothing_is_started) {
  stage.voice.warning(fmt::format(
      "{} after 10 s: the guard hangs ({}); does the disk answer? Ctrl-C ends the launch",
      nothing_is_started ? "the logs are not open and nothing is started"
                         : "not all processes are started",
      describe_stuck_process(stage.guard.pid())));
}

SupervisorNews supervisor_news(Stage& stage) {
  return {
      .verdict = [&](const Outcome& verdict, int others) { take_verdict(stage, verdict, others); },
      .second_interrupt =
          [&] {
            stage.voice.error("interrupted again: killing what is left");
            stage.ties.channel.tell_kill();
          },
      .opened = stage.begin,
      .started =
          [&] {
            if (stage.conductor != nullptr) stage.conductor->begin();
          },
      .waits_for = [&](const std::string& line) { stage.voice.info(line); },
      .hangs = [&](bool nothing_is_started) { tell_of_hang(stage, nothing_is_started); },
      .workers_done =
          [&] {
            if (stage.conductor != nullptr) stage.conductor->workers_done();
          },
      .ended_well =
          [&](int process) {
            if (stage.conductor != nullptr) stage.conductor->ended_well(process);
          },
      .is_secondary = [&](int process) { return stage.post_mortem.blames_another(process); },
      .ended =
          [&](int process) {
            if (stage.store_relay != nullptr && process == 0) stage.store_relay->rank_zero_is_gone();
          }};
}

// The job's news reach the processes of this pod.
void begin(Stage& stage, StageEvents& events) {
  stage.ties.channel.attend(events, events.terms(stage.ties.grace));
  RoundWatch* const watch = stage.ties.rounds.watch;
  if (watch == nullptr) return;
  stage.supervisor->spare(watch->keeper());
  watch->begin(stage.ties.channel, stage.nodes, events);
}

JobVerdict wait_for_verdict(Stage& stage, const RoundResult& result, const PodEnding& mine,
                            std::chrono::milliseconds patience) {
  Conclusion conclusion(
      stage.ties.loop, stage.ties.signals, stage.ties.channel, stage.terminal, patience,
      {.stop =
           [&](const StopCause& cause) {
             if (stage.conductor != nullptr) stage.conductor->job_stops();
             stage.post_mortem.tell_verdict(stage.voice, JobStopped{cause}, 0);
           },
       .interrupt =
           [&](int signal) {
             if (stage.ending_signal == 0) stage.ending_signal = signal;
             tell_of_interrupt(stage, signal);
             return stage.post_mortem.cause(Interrupted{signal});
           },
       .waiting =
           [&] {
             stage.voice.info(
                 "the processes of this node have ended; waiting for the other nodes to end");
           }});
  stage.conclusion = &conclusion;
  const bool stopping = !std::holds_alternative<Completed>(result.outcome);
  try {
    conclusion.wait(mine, stopping, stage.verdict);
  } catch (...) {
    stage.conclusion = nullptr;
    throw;
  }
  stage.conclusion = nullptr;
  return *stage.verdict;
}

// The launcher failed when its processes were gone: nobody is waited for any longer.
JobVerdict decide_alone(Stage& stage, PodEnding mine, const std::string& failure) {
  const LauncherFailed because{failure};
  if (mine.own.kind == StopCause::Kind::Completed) {
    mine.own = stage.post_mortem.cause(because);
    stage.post_mortem.tell_verdict(stage.voice, because, 0);
  }
  mine.asked_to_end = mine.own.kind != StopCause::Kind::LauncherFailed;
  stage.verdict = judge({PodAccount{.ending = mine}});
  Session& channel = stage.ties.channel;
  channel.tell_stop(mine.own);
  channel.tell_ending(mine);
  channel.decide_now();
  return *stage.verdict;
}

}  // namespace

void StageEvents::on_stop(const StopCause& cause) {
  if (stage_.supervisor != nullptr) return stage_.supervisor->stop_because(cause);
  if (stage_.conclusion != nullptr) stage_.conclusion->on_stop(cause);
}

void StageEvents::on_kill() {
  if (stage_.supervisor != nullptr) stage_.supervisor->kill_now();
}

void StageEvents::on_message(int node, const Message& message) {
  if (stage_.conductor != nullptr) stage_.conductor->on_message(node, message);
}

void StageEvents::on_reason_to_stop(const StopCause& cause) {
  stage_.ties.channel.tell_stop(cause);
  if (stage_.supervisor != nullptr) stage_.supervisor->stop_because(cause);
}

void ConductedStage::start_workers() {
  if (stage_.supervisor != nullptr) stage_.supervisor->start_rest();
}

void ConductedStage::stop_servers() {
  if (stage_.supervisor != nullptr) stage_.supervisor->job_completed();
}

void ConductedStage::on_progress(const std::string& line) { stage_.voice.info(line); }

RoundResult supervise(Stage& stage, StageEvents& events, StopPolicy policy,
                      std::chrono::milliseconds patience) {
  Supervisor supervisor(stage.ties.loop, stage.guard, stage.console, stage.ties.signals,
                        stage.terminal, std::move(policy), supervisor_news(stage));
  stage.supervisor = &supervisor;
  RoundResult result = supervisor.run([&] { begin(stage, events); }, patience);
  stage.supervisor = nullptr;
  if (stage.ties.rounds.watch != nullptr) stage.ties.rounds.watch->work_ends();
  if (stage.conductor != nullptr) stage.conductor->pod_ended();
  return result;
}

JobVerdict conclude(Stage& stage, RoundResult& result, std::chrono::milliseconds patience) {
  stage.ending_signal = result.ending_signal;
  if (stage.verdict) return *stage.verdict;
  PodEnding mine = stage.post_mortem.ending(result, stage.cause);
  try {
    return wait_for_verdict(stage, result, mine, patience);
  } catch (const std::exception& error) {
    result.launcher_failure = error.what();
    return decide_alone(stage, std::move(mine), error.what());
  }
}

}  // namespace paddle_launch
