// SPDX-License-Identifier: Apache-2.0
#include "launcher/run/post_mortem.h"

#include <algorithm>
#include <utility>
#include <variant>

#include <fmt/format.h>

#include "launcher/site/kernel_facts.h"
#include "launcher/tell/failure_report.h"
#include "launcher/tell/log_lines.h"
#include "launcher/tell/words.h"
#include "launcher/text/utf8.h"

namespace paddle_launch {
namespace {

constexpr std::size_t kEnoughToCompare = 200;  // of a line that names an error
// A disk that does not answer is not to hold up the verdict.
constexpr std::chrono::milliseconds kBeforeTheVerdict{500};

// A failure anywhere makes every log worth reading; an interrupt does not.
bool is_about_a_failure(const Outcome& outcome) {
  if (std::holds_alternative<Failed>(outcome)) return true;
  const auto* stopped = std::get_if<JobStopped>(&outcome);
  return stopped != nullptr && stopped->cause.kind == StopCause::Kind::WorkerFailed;
}

// All processes of a pod have one, or none has.
bool has_logs(const ProcessPlan& plan) {
  return !plan.processes.empty() && !plan.processes.front().log_path.empty();
}

using LogEnds = std::vector<std::optional<LogEnd>>;

std::string_view words_in(const LogEnd& log) { return this_run(log.bytes, kLogLineMark); }

// What it had said when it was told to stop.
std::string_view words_before_stop(const ProcessExit& exit, const LogEnd& log) {
  return this_run(log.when_it_had(exit.log_at_stop), kLogLineMark);
}

// By the kernel it is known who ended by itself. The logs tell which of the others had failed
// before it was told to stop, and who only lost a neighbour, before the verdict or after it.
// `cause`: the verdict, if it is here. False: all only lost a neighbour, and nobody has an error of
// its own.
bool believe_the_logs(std::vector<ProcessExit>& exits, const LogEnds& logs,
                      std::optional<int> cause) {
  const auto log_of = [&logs](const ProcessExit& exit) -> const std::optional<LogEnd>& {
    return logs.at(static_cast<std::size_t>(exit.worker));
  };
  const auto lost_a_neighbour = [&log_of](const ProcessExit& exit) {
    return !exit.had_failed && log_of(exit) && is_secondary(words_in(*log_of(exit)));
  };
  for (ProcessExit& exit : exits) {
    const bool may_have = exit.was_told_to_stop && exit.failed() && log_of(exit);
    exit.had_failed = may_have && ends_with_own_error(words_before_stop(exit, *log_of(exit)));
  }
  const bool has_reason =
      !cause ||
      std::any_of(exits.begin(), exits.end(), [&lost_a_neighbour](const ProcessExit& exit) {
        return exit.failed_by_itself() && !lost_a_neighbour(exit);
      });
  for (ProcessExit& exit : exits) {
    if (has_reason && exit.failed_by_itself() && exit.worker != cause && lost_a_neighbour(exit))
      exit.was_told_to_stop = true;
  }
  return has_reason;
}

// The same for all who failed alike. A program that says no error in a way that we know has said
// something before it exited.
std::string error_of(const ProcessExit& exit, const LogEnd& log) {
  const std::string_view words = exit.had_failed ? words_before_stop(exit, log) : words_in(log);
  const std::string_view error = error_line(words);
  if (!error.empty()) return printable(error.substr(0, kEnoughToCompare));
  const std::string_view last = exit.signal == 0 ? last_line(words) : std::string_view();
  if (last.empty()) return "";
  return fmt::format("{}: {}", describe(exit), printable(last.substr(0, kEnoughToCompare)));
}

SteadyTime moment_of(const Outcome& outcome) {
  const auto* failed = std::get_if<Failed>(&outcome);
  return failed != nullptr ? failed->first.ended : std::chrono::steady_clock::now();
}

}  // namespace

PostMortem::PostMortem(const ProcessPlan& plan, std::string host_name, int node,
                       long oom_kills_before)
    : plan_(plan),
      host_name_(std::move(host_name)),
      node_(node),
      oom_kills_before_(oom_kills_before) {}

long PostMortem::oom_kills() const {
  const long now = oom_kills_so_far();
  return now == kOomKillsUnknown ? now : now - oom_kills_before_;
}

std::string PostMortem::node_name() const {
  return plan_.host == host_name_ ? host_name_ : fmt::format("{} ({})", host_name_, plan_.host);
}

void PostMortem::tell_verdict(const Voice& voice, const Outcome& verdict, int others) const {
  const std::string line = verdict_line(verdict, plan_, others, oom_kills());
  const auto* const stopped = std::get_if<JobStopped>(&verdict);
  const bool is_change = stopped != nullptr && stopped->cause.kind == StopCause::Kind::NodesChange;
  is_change ? voice.info(line) : voice.error(line);
}

StopCause PostMortem::cause(const Outcome& outcome) const {
  return stop_cause(outcome, plan_, node_, moment_of(outcome), oom_kills());
}

bool PostMortem::lost_a_neighbour(int worker) const {
  if (plan_.world_size < 2 || !has_logs(plan_)) return false;
  const LogEnds ends = read_log_ends(
      {plan_.processes.at(static_cast<std::size_t>(worker)).log_path}, kBeforeTheVerdict);
  return !ends.empty() && ends.front() && is_secondary(words_in(*ends.front()));
}

PostMortem::LogEnds PostMortem::read_logs(const Outcome& outcome) const {
  LogEnds logs;
  if (is_about_a_failure(outcome) && has_logs(plan_)) {
    std::vector<std::string> paths;
    for (const ProcessSpec& spec : plan_.processes) paths.push_back(spec.log_path);
    logs = read_log_ends(paths);
  }
  logs.resize(plan_.processes.size());
  return logs;
}

PodEnding PostMortem::ending(RoundResult& result, const std::optional<StopCause>& own) const {
  PodEnding ending{.own = own.value_or(StopCause{})};
  const bool fails_after_another =
      !result.launcher_failure.empty() && ending.own.kind != StopCause::Kind::LauncherFailed;
  ending.asked_to_end = result.ending_signal != 0 || fails_after_another;
  const bool is_of_others = std::holds_alternative<JobStopped>(result.outcome);
  const LogEnds logs = read_logs(result.outcome);
  const auto* const failed = std::get_if<Failed>(&result.outcome);
  ending.all_are_secondary = !believe_the_logs(
      result.exits, logs, failed == nullptr ? std::nullopt : std::optional(failed->first.worker));
  ending.stopped = victims(result.exits, plan_);
  for (const ProcessExit& exit : result.exits) {
    if (!exit.failed_by_itself()) continue;
    const bool is_first = ending.failures.empty();
    // One that died by itself while the news from another node was on its way.
    if (is_of_others && !exit.was_told_to_stop && ending.own.kind == StopCause::Kind::Completed)
      ending.own = cause(Failed{exit});
    ending.failures.push_back(
        record(exit, logs.at(static_cast<std::size_t>(exit.worker)), is_first));
  }
  compare_logs(logs, result, ending);
  return ending;
}

FailureRecord PostMortem::record(const ProcessExit& exit, const std::optional<LogEnd>& log,
                                 bool with_excerpt) const {
  return failure_record(
      exit, plan_.processes.at(static_cast<std::size_t>(exit.worker)),
      {.node = node_name(),
       .when = timestamp_of(exit.ended),
       .log_excerpt = log && with_excerpt ? log_excerpt(log->bytes, kLogLineMark) : "",
       .error = log ? error_of(exit, *log) : "",
       .log_readable = log.has_value(),
       .oom_kills = oom_kills()});
}

RootCauseHint PostMortem::hint_at(int worker, const LogEnds& logs) const {
  const auto index = static_cast<std::size_t>(worker);
  const ProcessSpec& spec = plan_.processes.at(index);
  return {.role = spec.role,
          .rank = spec.rank,
          .node = node_name(),
          .log_path = spec.log_path,
          .log_excerpt = log_excerpt(logs.at(index)->bytes, kLogLineMark)};
}

void PostMortem::compare_logs(const LogEnds& logs, const RoundResult& result,
                              PodEnding& ending) const {
  std::vector<LastWords> words;
  for (std::size_t i = 0; i < logs.size(); ++i) {
    if (!logs[i]) continue;
    words.push_back({static_cast<int>(i), words_in(*logs[i]), logs[i]->written_ns});
  }
  const auto first = std::find_if(result.exits.begin(), result.exits.end(),
                                  [](const ProcessExit& exit) { return exit.failed_by_itself(); });
  std::optional<int> who;
  if (first == result.exits.end()) {
    who = first_own_error(words);
  } else {
    const int worker = first->worker;
    who = probable_cause(worker, words);
    if (!who) {
      // One that died without words has no error of its own, and no other one has it for it.
      std::erase_if(words, [worker](const LastWords& one) { return one.worker != worker; });
      who = first_own_error(words);
    }
    const auto& log = logs.at(static_cast<std::size_t>(worker));
    ending.first_is_secondary = log && is_secondary(words_in(*log));
  }
  if (who) ending.own_error = hint_at(*who, logs);
}

void PostMortem::tell_end(const Voice& voice, const RoundResult& result,
                          const JobVerdict& verdict) const {
  for (const int pid : result.survivors) {
    voice.error(fmt::format("{} did not end within 30 s of SIGKILL; it is left to the kernel",
                            describe_stuck_process(pid)));
  }
  const bool is_complete = verdict.first.kind == StopCause::Kind::Completed;
  mark_victims(voice, result, is_complete ? "all workers have finished" : verdict.first.text);
  if (is_complete) return voice.info("Local processes completed.");
  if (verdict.aborted.empty()) return;
  voice.always(abort_line(plan_.world_size, verdict.aborted));
  const bool is_told_here =
      node_ == 0 || node_ == verdict.first.node || verdict.first.kind == StopCause::Kind::PodLost;
  if (is_told_here) voice.always(failure_report(verdict, plan_.nodes));
}

void PostMortem::mark_victims(const Voice& voice, const RoundResult& result,
                              const std::string& because) const {
  if (!has_logs(plan_)) return;
  const std::string now = timestamp();
  // With the guard gone nobody knows who ended when: whoever is not known to have ended was
  // stopped.
  std::vector<bool> stopped(plan_.processes.size(),
                            std::holds_alternative<GuardLost>(result.outcome));
  for (const ProcessExit& exit : result.exits)
    stopped.at(static_cast<std::size_t>(exit.worker)) = exit.was_stopped();
  std::vector<std::pair<std::string, std::string>> lines;
  for (std::size_t i = 0; i < stopped.size(); ++i) {
    const ProcessSpec& spec = plan_.processes[i];
    if (stopped[i]) lines.emplace_back(spec.log_path, log_stop_line(spec, because, now));
  }
  if (!append_to_logs(lines)) {
    voice.warning(
        "the last line could not be written to the log of every stopped rank; is the disk full, or "
        "the log "
        "directory gone?");
  }
}

}  // namespace paddle_launch
