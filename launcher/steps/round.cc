// SPDX-License-Identifier: Apache-2.0
#include "launcher/steps/round.h"

#include <sys/prctl.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <exception>
#include <map>
#include <memory>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "launcher/job/errors.h"
#include "launcher/os/signals.h"
#include "launcher/run/console.h"
#include "launcher/run/log_directory.h"
#include "launcher/run/own_words.h"
#include "launcher/run/post_mortem.h"
#include "launcher/run/terminal.h"
#include "launcher/site/kernel_facts.h"
#include "launcher/site/log_place.h"
#include "launcher/site/named_files.h"
#include "launcher/steps/acts.h"
#include "launcher/steps/open_store_relay.h"
#include "launcher/tell/banner.h"
#include "launcher/tell/job_report.h"
#include "launcher/tell/log_lines.h"
#include "launcher/tell/voice.h"
#include "launcher/tell/words.h"

namespace paddle_launch {
namespace {

// How long the other nodes may take to stop, beyond the grace: what survives SIGKILL is given 30 s.
constexpr std::chrono::seconds kPatienceWithOthers{40};

// Between two rounds, or when the job was asked to end: how long a console that nobody reads is
// waited for.
constexpr std::chrono::milliseconds kPatienceWithConsole{5000};

std::vector<std::string> make_start_lines(const ProcessPlan& plan) {
  const std::string now = timestamp();
  std::vector<std::string> lines;
  for (const ProcessSpec& spec : plan.processes) lines.push_back(log_start_line(plan, spec, now));
  return lines;
}

std::optional<int> process_with_stdin(const ProcessPlan& plan) {
  const auto found = std::find_if(plan.processes.begin(), plan.processes.end(),
                                  [](const ProcessSpec& spec) { return spec.has_stdin; });
  if (found == plan.processes.end()) return std::nullopt;
  return static_cast<int>(found - plan.processes.begin());
}

Console make_console(const JobSpec& job, const Environment& env, const ProcessPlan& plan,
                     const std::vector<std::string>& start_lines, bool speaks) {
  const bool all = job.console == ConsoleMode::All;
  const bool colour =
      isatty(STDOUT_FILENO) == 1 && !lookup(env, "NO_COLOR") && lookup(env, "TERM") != "dumb";
  const bool follows_logs = all || (speaks && job.console == ConsoleMode::RankZero);
  return Console({.prefix_lines = all, .colour = colour},
                 follows_logs ? followed_logs(plan, start_lines, all) : std::vector<FollowedLog>{});
}

std::vector<PodFile> shared_files(const PodPlan& plan) {
  std::vector<PodFile> files;
  // Pods of one node share its directory.
  if (plan.first_on_node && !plan.log_dir.empty()) {
    files.push_back({.path = plan.log_dir + "/endpoints.log", .text = plan.endpoints_log});
  }
  if (plan.backup_path.empty()) return files;
  const nlohmann::json backup =
      std::map<std::string, std::string>(plan.backup_env.begin(), plan.backup_env.end());
  files.push_back(
      {.path = plan.backup_path, .text = backup.dump(), .mode = 0600, .is_needed = true});
  return files;
}

// But for what depends on the terminal. Only the first round empties logs, or is refused one.
GuardSettings guard_settings(const JobTies& ties, const JobSpec& job, const PodPlan& plan) {
  const bool is_first = ties.rounds.state.number == 0;
  return {.grace = job.grace,
          .log_dir = plan.log_dir,
          .log_overwrite = job.log_overwrite && is_first,
          .must_own_logs = is_first,
          .is_named =
              job.log_dir == kNamedLogs && plan.first_on_node && !plan.log_dir.empty() && is_first,
          .files = shared_files(plan),
          .inherited = ties.inherited,
          .start_lines = {},
          .remove_at_end = plan.log_dir.empty() ? plan.backup_path : ""};
}

[[noreturn]] void refuse(const StartRefusal& refusal) {
  if (refusal.is_wrong_use) throw UsageError(refusal.text);
  throw LaunchError(refusal.text);
}

// How this round ended, for the list at the end, and what comes next.
RoundEnd conclude_round(const Stage& stage, const JobVerdict& verdict, const PodPlan& plan,
                        SteadyTime started, bool launcher_failed) {
  Rounds& rounds = stage.ties.rounds;
  const Voice& voice = stage.voice;
  const auto lasted = std::chrono::duration_cast<std::chrono::milliseconds>(
      std::chrono::steady_clock::now() - started);
  add_round(rounds.told, {.state = rounds.state,
                          .nodes = plan.processes.nodes,
                          .trainers = plan.processes.world_size,
                          .lasted = lasted,
                          .cause = verdict.first});
  const bool is_mine = verdict.first.node == stage.ties.node;
  const bool is_asked = stage.ending_signal != 0;
  const bool is_elastic = rounds.rules.nodes == RestartRules::Nodes::Elastic;
  const bool leaves =
      verdict.next && is_elastic &&
      (is_asked || launcher_failed || (is_mine && leaves_after_failure(rounds.rules, verdict)));
  // The signal met a verdict that was on its way already.
  if (verdict.next && is_asked && !is_elastic) {
    return {
        .status = kSignalBase + stage.ending_signal, .next = verdict.next, .is_asked_to_end = true};
  }
  // Another cause was first, but a launcher that failed plays no other round.
  if (verdict.next && launcher_failed && !leaves)
    return {.status = kLaunchErrorStatus, .verdict = verdict};
  if (verdict.next && !leaves) {
    voice.info(next_round_line(rounds.told.back(), *verdict.next, rounds.rules.spec.most));
    return {.status = verdict.first.status, .next = verdict.next};
  }
  if (leaves) {
    voice.info(
        "this node leaves the job, which goes on without it; `paddle-launch --stop` ends an "
        "elastic job on all nodes");
  }
  const std::string why = leaves || verdict.asked_to_end > 0
                              ? std::string()
                              : no_next_round_line(rounds.told.back(), rounds.rules.spec);
  if (!why.empty()) voice.info(why);
  const std::string table = rounds_table(rounds.told);
  if (!table.empty()) voice.always(table);
  const int status = leaves && is_asked          ? kSignalBase + stage.ending_signal
                     : leaves && launcher_failed ? kLaunchErrorStatus
                                                 : verdict.first.status;
  return {.status = status, .leaves = leaves, .verdict = verdict};
}

// The elastic job's watch tells a stage of what it sees, and never one that is gone.
class WatchOfRound {
 public:
  explicit WatchOfRound(RoundWatch* watch) : watch_(watch) {}
  WatchOfRound(const WatchOfRound&) = delete;
  WatchOfRound& operator=(const WatchOfRound&) = delete;
  ~WatchOfRound() { end(); }
  void end() const {
    if (watch_ != nullptr) watch_->end();
  }

 private:
  RoundWatch* watch_;
};

// How long a console that does not take what the trainers wrote is waited for: without an end where
// a job ended by itself, since nobody but this launcher waits.
std::optional<std::chrono::milliseconds> patience_with_console(const Stage& stage,
                                                               const JobVerdict& verdict,
                                                               bool user_is_impatient) {
  if (user_is_impatient) return kPatienceOfAnImpatientUser;
  if (verdict.next || stage.ending_signal != 0) return kPatienceWithConsole;
  return std::nullopt;
}

// What the trainers wrote is on the console before our own last words are. The others have been
// told by now: whoever does not read this console holds up nobody but us.
void drain_console(const Stage& stage, const JobVerdict& verdict,
                   std::optional<std::chrono::milliseconds> patience) {
  Rounds& rounds = stage.ties.rounds;
  if (stage.console.drain(stage.ties.signals, patience) || !verdict.next) return;
  if (std::exchange(rounds.told_of_console, true)) return;
  stage.voice.warning(fmt::format(
      "nobody has read the console for {} s: the next round does not wait for it, and what the "
      "trainers of this one wrote is in the log directory",
      std::chrono::duration_cast<std::chrono::seconds>(kPatienceWithConsole).count()));
}

// Before the others may end: mpirun stops this launcher as soon as one of them has failed.
void report_end(const std::string& file, const RoundEnd& end, const Rounds& rounds) {
  const auto problem =
      write_report_file(file, job_report(end.verdict, end.status, rounds.state.restarts));
  if (!problem) return;
  say_patiently(fmt::format("paddle-launch: warning: --report={}\n", *problem),
                std::chrono::seconds(1));
}

// Everything is told by now: a loop that fails here changes nothing any more.
void take_leave(Session& channel) {
  try {
    channel.close();
  } catch (const std::exception&) {
  }
}

// From the start of the processes to the last word.
RoundEnd see_through(Stage& stage, const JobSpec& job, const PodPlan& plan, StopPolicy policy,
                     SteadyTime started) {
  const JobTies& ties = stage.ties;
  const WatchOfRound watch(ties.rounds.watch);
  const auto longest = job.grace + kPatienceWithOthers;
  StageEvents events(stage);
  RoundResult result = supervise(stage, events, std::move(policy), longest);
  if (result.refusal) refuse(*result.refusal);
  stage.terminal.take_back();
  const JobVerdict verdict = conclude(stage, result, longest);
  watch.end();
  const auto patience = patience_with_console(stage, verdict, result.user_is_impatient);
  drain_console(stage, verdict, patience);
  stage.post_mortem.tell_end(stage.voice, result, verdict);
  RoundEnd end = conclude_round(stage, verdict, plan, started, !result.launcher_failure.empty());
  stage.console.finish(ties.signals, patience);
  stage.guard.wait_for_end();
  if (!end.next && job.report && stage.speaks) report_end(*job.report, end, ties.rounds);
  // A member with a console of its own has nothing to wait for.
  const bool has_listeners = ties.channel.is_hub() || !ties.speaks;
  if (!end.next && !end.leaves && has_listeners) take_leave(ties.channel);
  return end;
}

}  // namespace

RoundEnd run_round(const JobTies& ties, const JobSpec& job, const Environment& env,
                   const Machine& here, const PodPlan& plan, const OpeningRemarks& remarks) {
  const ProcessPlan& processes = plan.processes;
  const SteadyTime started = std::chrono::steady_clock::now();
  prctl(PR_SET_CHILD_SUBREAPER, 1);

  const std::vector<std::string> start_lines = make_start_lines(processes);
  bool speaks = ties.speaks;
  Console console = make_console(job, env, processes, start_lines, speaks);
  const Voice voice(job.quiet ? LogLevel::Error : job.log_level,
                    [&console, &speaks](std::string_view text) {
                      if (speaks) console.say(text);
                    });
  const std::unique_ptr<StoreRelay> store_relay = open_store_relay(ties.loop, plan.store_relay, voice);
  const std::optional<int> reader = process_with_stdin(processes);
  const bool lends_terminal = reader && Terminal::can_be_lent();
  const std::optional<int> terminal_worker = lends_terminal ? reader : std::nullopt;
  const Terminal terminal(lends_terminal);
  GuardSettings settings = guard_settings(ties, job, plan);
  settings.own_session = !lends_terminal;
  settings.lend_terminal = lends_terminal;
  settings.start_lines = start_lines;
  Guard guard(processes, settings);
  // Read while the guard is busy: the kernel takes its time for this file.
  const PostMortem post_mortem(processes, here.host_name, ties.node, oom_kills_so_far());
  Stage stage{ties,
              guard,
              console,
              terminal,
              voice,
              post_mortem,
              speaks,
              plan.first_on_node,
              processes.nodes,
              [&](const OpenedLogs& logs) {
                ties.rounds.is_running = true;
                const bool is_first = ties.rounds.told.empty();
                if (is_first) introduce_job(voice, job, plan, env);
                for (const std::string& text : remarks.warnings) voice.warning(text);
                for (const std::string& text : logs.warnings) voice.warning(text);
                for (const std::string& text : remarks.notices) voice.info(text);
                if (!is_first) voice.info(round_begins_line(processes));
                console.follow(logs.begins);
              },
              store_relay.get()};
  std::optional<Conductor> conductor;
  ConductedStage conducted(stage);
  if (plan.servers) {
    conductor.emplace(ties.loop, ties.channel, conductor_settings(*plan.servers, *job.servers),
                      conducted, look_for_servers(*plan.servers, [&voice](const std::string& text) {
                        voice.warning(text);
                      }));
    stage.conductor = &*conductor;
  }
  return see_through(
      stage, job, plan,
      StopPolicy(crew_of(processes), terminal_worker, ties.scheduler_signals_workers), started);
}

}  // namespace paddle_launch
