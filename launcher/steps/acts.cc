// SPDX-License-Identifier: Apache-2.0
#include "launcher/steps/acts.h"

#include <functional>
#include <utility>
#include <variant>

#include <fmt/format.h>

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
  stage.aftermath.tell_verdict(stage.voice, verdict, others);
  if (std::holds_alternative<JobStopped>(verdict)) return;
  stage.cause = stage.aftermath.cause(verdict);
  stage.ties.channel.tell_stop(*stage.cause);
}

// What keeps the pods of a job with servers in step goes to the conductor, as long as it lives.
std::function<void(int, const Message&)> for_the_conductor(const Stage& stage) {
  if (stage.conductor == nullptr) return {};
  return [conductor = stage.conductor](int node, const Message& message) {
    conductor->take(node, message);
  };
}

// Of no consequence once the work is done.
void tell_of_interrupt(const Stage& stage, int signal) {
  if (stage.conductor != nullptr && stage.conductor->is_work_done()) return;
  if (stage.conductor != nullptr) stage.conductor->job_stops();
  stage.aftermath.tell_verdict(stage.voice, Interrupted{signal}, 0);
}

// What the elastic job's own watch found: told to all, and carried out here.
void stop_because(const Stage& stage, const StopCause& cause) {
  stage.ties.channel.tell_stop(cause);
  if (stage.supervisor != nullptr) stage.supervisor->stop_because(cause);
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
      .only_complains = [&](int process) { return stage.aftermath.blames_another(process); },
      .ended =
          [&](int process) {
            if (stage.store_door != nullptr && process == 0) stage.store_door->rank_zero_is_gone();
          }};
}

}  // namespace

ConductorNews conductor_news(Stage& stage) {
  return {.start_workers =
              [&stage] {
                if (stage.supervisor != nullptr) stage.supervisor->start_rest();
              },
          .stop_servers =
              [&stage] {
                if (stage.supervisor != nullptr) stage.supervisor->job_completed();
              },
          .tell = [&stage](const std::string& line) { stage.voice.info(line); }};
}

RoundResult supervise(Stage& stage, StopPolicy policy) {
  JobChannel& channel = stage.ties.channel;
  Supervisor supervisor(stage.ties.loop, stage.guard, stage.console, stage.ties.signals,
                        stage.terminal, std::move(policy), supervisor_news(stage));
  channel.set_events({.stop = [&](const StopCause& cause) { supervisor.stop_because(cause); },
                      .kill = [&] { supervisor.kill_now(); },
                      .verdict = [&](const JobVerdict& verdict) { stage.early_verdict = verdict; },
                      .remark = [&](const std::string& line) { stage.voice.info(line); },
                      .other = for_the_conductor(stage)});
  if (stage.ties.rounds.watch.keeper) supervisor.spare(stage.ties.rounds.watch.keeper());
  stage.supervisor = &supervisor;
  if (stage.ties.rounds.watch.begin) {
    stage.ties.rounds.watch.begin(
        channel, stage.nodes, [&stage](const StopCause& cause) { stop_because(stage, cause); },
        [&stage](const std::string& line) { stage.voice.warning(line); });
  }
  RoundResult result = supervisor.run();
  stage.supervisor = nullptr;
  if (stage.ties.rounds.watch.work_ends) stage.ties.rounds.watch.work_ends();
  if (stage.conductor != nullptr) stage.conductor->pod_ended();
  return result;
}

JobVerdict conclude(Stage& stage, RoundResult& result, std::chrono::milliseconds patience) {
  stage.ending_signal = result.ending_signal;
  if (stage.early_verdict) return *stage.early_verdict;
  const PodEnding mine = stage.aftermath.ending(result, stage.cause);
  Conclusion conclusion(
      stage.ties.loop, stage.ties.signals, stage.ties.channel, stage.terminal, patience,
      {.stop =
           [&](const StopCause& cause) {
             if (stage.conductor != nullptr) stage.conductor->job_stops();
             stage.aftermath.tell_verdict(stage.voice, JobStopped{cause}, 0);
           },
       .interrupt =
           [&](int signal) {
             if (stage.ending_signal == 0) stage.ending_signal = signal;
             tell_of_interrupt(stage, signal);
             return stage.aftermath.cause(Interrupted{signal});
           },
       .waiting =
           [&] {
             stage.voice.info(
                 "the processes of this node have ended; waiting for the other nodes to end");
           }});
  return conclusion.wait(
      mine, !std::holds_alternative<Completed>(result.outcome),
      [&](const std::string& line) { stage.voice.info(line); }, for_the_conductor(stage));
}

}  // namespace paddle_launch
