// SPDX-License-Identifier: Apache-2.0
#include "launcher/round.h"

#include <sys/prctl.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <map>
#include <variant>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include "launcher/aftermath.h"
#include "launcher/job/errors.h"
#include "launcher/opening.h"
#include "launcher/os/signals.h"
#include "launcher/run/conclusion.h"
#include "launcher/run/console.h"
#include "launcher/run/guard.h"
#include "launcher/run/log_directory.h"
#include "launcher/run/supervisor.h"
#include "launcher/run/terminal.h"
#include "launcher/site/kernel_facts.h"
#include "launcher/tell/log_lines.h"
#include "launcher/tell/voice.h"
#include "launcher/tell/words.h"

namespace paddle_launch {
namespace {

// How long a console that does not take our output is waited for after an interrupt.
constexpr std::chrono::milliseconds kPatienceOfAnImpatientUser{500};
// How long the other nodes may take to stop, beyond the grace: what survives SIGKILL is given 30 s.
constexpr std::chrono::seconds kPatienceWithOthers{40};

std::vector<std::string> make_start_lines(const ProcessPlan& plan) {
  const std::string now = timestamp();
  std::vector<std::string> lines;
  for (const ProcessSpec& spec : plan.processes) lines.push_back(log_start_line(plan, spec, now));
  return lines;
}

std::string endpoints_log(const WorldPlan& world) {
  std::string text = "PADDLE_TRAINER_ENDPOINTS:\n";
  for (const Trainer& trainer : world.trainers) text += trainer.endpoint + "\n";
  return text;
}

std::vector<std::string> write_shared_files(const WorldPlan& world, const CollectivePlan& plan) {
  std::vector<std::string> problems;
  // Pods of one node share its directory.
  const auto problem = world.first_on_node ? replace_file(plan.log_dir + "/endpoints.log",
                                                          endpoints_log(world), 0666)
                                           : std::nullopt;
  if (problem) problems.push_back(*problem + "; the job goes on without it");
  if (plan.backup_path.empty()) return problems;
  const nlohmann::json backup =
      std::map<std::string, std::string>(plan.backup_env.begin(), plan.backup_env.end());
  if (const auto refused = replace_file(plan.backup_path, backup.dump(), 0600))
    throw LaunchError(*refused);
  return problems;
}

// What the two last acts of a round share.
struct Stage {
  const JobTies& ties;
  Guard& guard;
  Console& console;
  const Terminal& terminal;
  const Voice& voice;
  const Aftermath& aftermath;
  bool& speaks;
  bool first_on_node = true;
  // Of others who would not wait until our last process was gone.
  std::optional<JobVerdict> early_verdict{};
};

// The first pod spoke for all; where it is lost, the first pod of each other node does.
bool speaks_for_lost_hub(const Stage& stage, const Outcome& verdict) {
  const auto* stopped = std::get_if<JobStopped>(&verdict);
  const bool is_lost = stopped != nullptr && stopped->cause.kind == StopCause::Kind::PodLost &&
                       stopped->cause.node == 0;
  return is_lost && (stage.first_on_node || stage.ties.node == 1);
}

RoundResult supervise(Stage& stage, StopPolicy policy) {
  JobChannel& channel = stage.ties.channel;
  Supervisor supervisor(stage.ties.loop, stage.guard, stage.console, stage.ties.signals,
                        stage.terminal, std::move(policy),
                        {.verdict =
                             [&](const Outcome& verdict, int others) {
                               stage.speaks = stage.speaks || speaks_for_lost_hub(stage, verdict);
                               stage.aftermath.tell_verdict(stage.voice, verdict, others);
                               if (!std::holds_alternative<JobStopped>(verdict)) {
                                 channel.tell_stop(stage.aftermath.cause(verdict));
                               }
                             },
                         .second_interrupt =
                             [&] {
                               stage.voice.error("interrupted again: killing what is left");
                               channel.tell_kill();
                             }});
  channel.set_events({.stop = [&](const StopCause& cause) { supervisor.stop_because(cause); },
                      .kill = [&] { supervisor.kill_now(); },
                      .verdict = [&](const JobVerdict& verdict) { stage.early_verdict = verdict; },
                      .remark = [&](const std::string& line) { stage.voice.info(line); },
                      .other = {}});
  return supervisor.run();
}

JobVerdict conclude(const Stage& stage, const RoundResult& result,
                    std::chrono::milliseconds patience) {
  if (stage.early_verdict) return *stage.early_verdict;
  const PodEnding mine = stage.aftermath.ending(result);
  Conclusion conclusion(
      stage.ties.loop, stage.ties.signals, stage.ties.channel, stage.terminal, patience,
      {.stop =
           [&](const StopCause& cause) {
             stage.aftermath.tell_verdict(stage.voice, JobStopped{cause}, 0);
           },
       .interrupt =
           [&](int signal) {
             stage.aftermath.tell_verdict(stage.voice, Interrupted{signal}, 0);
             return stage.aftermath.cause(Interrupted{signal});
           },
       .waiting =
           [&] {
             stage.voice.info(
                 "the processes of this node have ended; waiting for the other nodes to end");
           }});
  return conclusion.wait(mine, !std::holds_alternative<Completed>(result.outcome),
                         [&](const std::string& line) { stage.voice.info(line); });
}

}  // namespace

int run_round(const JobTies& ties, const JobSpec& job, const Environment& env, const Machine& here,
              const WorldPlan& world, const CollectivePlan& plan, const Remarks& remarks,
              const rlimit& open_files_given) {
  const ProcessPlan& processes = plan.processes;
  prepare_log_directory(plan.log_dir, processes);
  Remarks said = remarks;
  for (std::string& problem : write_shared_files(world, plan))
    said.warnings.push_back(std::move(problem));

  prctl(PR_SET_CHILD_SUBREAPER, 1);

  const std::vector<std::string> start_lines = make_start_lines(processes);
  const bool all = job.console == ConsoleMode::All;
  bool speaks = ties.speaks;
  const bool colour =
      isatty(STDOUT_FILENO) == 1 && !lookup(env, "NO_COLOR") && lookup(env, "TERM") != "dumb";
  Console console({.prefix_lines = all, .colour = colour},
                  job.console == ConsoleMode::None || (!speaks && !all)
                      ? std::vector<FollowedLog>{}
                      : open_followed_logs(processes, start_lines, all, job.log_overwrite));
  const Voice voice(job.quiet ? LogLevel::Error : job.log_level,
                    [&console, &speaks](std::string_view text) {
                      if (speaks) console.say(text);
                    });
  open_the_console(voice, job, env, world, plan, said);

  const bool gives_stdin = std::any_of(processes.processes.begin(), processes.processes.end(),
                                       [](const ProcessSpec& spec) { return spec.has_stdin; });
  const bool lends_terminal = gives_stdin && Terminal::can_be_lent();
  const Terminal terminal(lends_terminal);
  Guard guard(processes, {.grace = job.grace,
                          .log_overwrite = job.log_overwrite,
                          .own_session = !lends_terminal,
                          .lend_terminal = lends_terminal,
                          .mask = ties.signals.mask_at_start(),
                          .ignore_sigchld = ties.sigchld_was_ignored,
                          .open_files = open_files_given,
                          .start_lines = start_lines});
  // Read while the guard is busy: the kernel takes its time for this file.
  const Aftermath aftermath(processes, here.host_name, ties.node, oom_kills_so_far());
  Stage stage{ties, guard, console, terminal, voice, aftermath, speaks, world.first_on_node};
  const RoundResult result =
      supervise(stage, StopPolicy(static_cast<int>(processes.processes.size()),
                                  lends_terminal ? std::optional<int>(0) : std::nullopt,
                                  ties.scheduler_signals_workers));
  terminal.take_back();
  const auto patience =
      result.user_is_impatient ? std::optional(kPatienceOfAnImpatientUser) : std::nullopt;
  console.drain(ties.signals, patience);
  const JobVerdict verdict = conclude(stage, result, job.grace + kPatienceWithOthers);
  aftermath.tell_end(voice, result, verdict);
  console.finish(ties.signals, patience);
  guard.wait_for_end();
  // A member with a console of its own has nothing to wait for.
  if (ties.channel.is_hub() || !ties.speaks) ties.channel.close();
  return verdict.first.status;
}

}  // namespace paddle_launch
