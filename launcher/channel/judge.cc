// SPDX-License-Identifier: Apache-2.0
#include "launcher/channel/judge.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "launcher/job/pod.h"

namespace paddle_launch {
namespace {

struct TimedCause {
  StopCause cause;
  std::chrono::nanoseconds error{0};
};

// What a pod says in the end is what it said at the verdict, with a time that is better known: its
// clock was measured since.
std::optional<StopCause> cause_of(const PodAccount& pod) {
  if (pod.ending && pod.ending->own.kind != StopCause::Kind::Completed) return pod.ending->own;
  return pod.cause;
}

std::vector<TimedCause> causes_in_time(const std::vector<PodAccount>& pods) {
  std::vector<TimedCause> causes;
  for (const PodAccount& pod : pods) {
    if (auto cause = cause_of(pod)) causes.push_back({std::move(*cause), pod.error});
  }
  std::stable_sort(
      causes.begin(), causes.end(),
      [](const TimedCause& one, const TimedCause& other) { return one.cause.at < other.cause.at; });
  return causes;
}

std::string doubt_about(const std::vector<TimedCause>& causes) {
  const TimedCause& first = causes.front();
  for (auto other = std::next(causes.begin()); other != causes.end(); ++other) {
    const auto apart = other->cause.at - first.cause.at;
    const auto known = first.error + other->error;
    if (other->cause.node == first.cause.node || apart > known) continue;
    using Milliseconds = std::chrono::duration<double, std::milli>;
    return fmt::format(
        "{}, {:.1f} ms later by clocks that are known to {:.1f} ms: which was first cannot be told",
        other->cause.text, Milliseconds(apart).count(), Milliseconds(known).count());
  }
  return "";
}

// Nodes that hang on one switch are lost together: all of them are named.
std::string text_of_all_lost(const std::vector<TimedCause>& causes) {
  std::string text = causes.front().cause.text;
  for (auto other = std::next(causes.begin()); other != causes.end(); ++other) {
    if (other->cause.kind == StopCause::Kind::PodLost) text += "; " + other->cause.text;
  }
  return text;
}

std::vector<ProcessName> aborted_by(const std::vector<PodAccount>& pods, StopCause::Kind because) {
  std::vector<ProcessName> names;
  for (const PodAccount& pod : pods) {
    if (because == StopCause::Kind::PodLost && !pod.ending && pod.cause &&
        pod.cause->kind == StopCause::Kind::PodLost) {
      names.insert(names.end(), pod.names.begin(), pod.names.end());
    }
    if (because == StopCause::Kind::LauncherFailed && pod.ending &&
        pod.ending->own.kind == because) {
      const std::vector<ProcessName>& stopped = pod.ending->stopped;
      names.insert(names.end(), stopped.begin(), stopped.end());
    }
    if (because != StopCause::Kind::WorkerFailed || !pod.ending) continue;
    for (const FailureRecord& failure : pod.ending->failures) names.push_back(failure.name());
  }
  std::sort(names.begin(), names.end());
  return names;
}

// The ABORT line speaks of the first one's role.
void put_first(Role role, std::vector<ProcessName>& names) {
  std::stable_partition(names.begin(), names.end(),
                        [role](const ProcessName& name) { return name.role == role; });
}

// The first cause's pod first, the others in the order of the pods.
std::vector<FailureRecord> all_failures(const std::vector<PodAccount>& pods, int first_node) {
  std::vector<FailureRecord> failures;
  const auto add = [&failures](const PodAccount& pod) {
    if (!pod.ending) return;
    failures.insert(failures.end(), pod.ending->failures.begin(), pod.ending->failures.end());
  };
  add(pods.at(static_cast<std::size_t>(first_node)));
  for (std::size_t node = 0; node < pods.size(); ++node) {
    if (static_cast<int>(node) != first_node) add(pods[node]);
  }
  return failures;
}

// A fault that all processes have in common is one to a person.
std::vector<ProcessName> failed_like_the_first(const std::vector<FailureRecord>& failures) {
  std::vector<ProcessName> names;
  for (std::size_t i = 1; i < failures.size(); ++i) {
    const bool is_same = !failures[i].error.empty() && failures[i].error == failures[0].error;
    if (is_same) names.push_back(failures[i].name());
  }
  std::sort(names.begin(), names.end());
  return names;
}

// A trainer that raises an exception closes its connections before it has ended, so a neighbour on
// another node may be dead first. The logs know better.
std::optional<RootCauseHint> root_cause_hint(const std::vector<PodAccount>& pods, int first_node) {
  const std::optional<PodEnding>& first = pods.at(static_cast<std::size_t>(first_node)).ending;
  if (!first || first->failures.empty()) return std::nullopt;
  if (first->own_error && first->own_error->name() != first->failures.front().name()) {
    return first->own_error;
  }
  if (!first->first_is_secondary) return std::nullopt;
  for (const PodAccount& pod : pods) {
    if (pod.ending && pod.ending->own_error &&
        pod.ending->own_error->name() != first->failures.front().name()) {
      return pod.ending->own_error;
    }
  }
  return std::nullopt;
}

// Who did not tell how it ended: lost after the first cause, or only late. Whose loss is the cause
// is named as that.
std::vector<std::string> silent_pods(const std::vector<PodAccount>& pods, StopCause::Kind because) {
  std::vector<std::string> hosts;
  for (const PodAccount& pod : pods) {
    const bool is_lost = pod.cause && pod.cause->kind == StopCause::Kind::PodLost;
    const bool is_cause = is_lost && because == StopCause::Kind::PodLost;
    if (!pod.ending && (is_lost || !pod.cause) && !is_cause) hosts.push_back(pod.host);
  }
  return hosts;
}

// In its ending, or by a word of its own before or after that.
bool was_asked_to_end(const PodAccount& pod) {
  const auto is_interrupt = [](const StopCause& cause) {
    return cause.kind == StopCause::Kind::Interrupted;
  };
  if (pod.ending && (pod.ending->asked_to_end || is_interrupt(pod.ending->own))) return true;
  return pod.cause && is_interrupt(*pod.cause);
}

bool has_failures(const PodAccount& pod) { return pod.ending && !pod.ending->failures.empty(); }

// Whoever only lost a neighbour has failed where nobody has a reason of its own. Where somebody
// has, on whichever node, it was stopped; the first cause alone stays what it is.
std::vector<PodAccount> with_secondary_stopped(std::vector<PodAccount> pods, int first_node) {
  for (std::size_t node = 0; node < pods.size(); ++node) {
    if (!has_failures(pods[node]) || !pods[node].ending->all_are_secondary) continue;
    std::vector<FailureRecord>& failures = pods[node].ending->failures;
    const long kept = static_cast<int>(node) == first_node ? 1 : 0;
    for (auto one = failures.begin() + kept; one != failures.end(); ++one)
      pods[node].ending->stopped.push_back(one->name());
    failures.erase(failures.begin() + kept, failures.end());
  }
  return pods;
}

JobVerdict judge_as_told(const std::vector<PodAccount>& pods) {
  JobVerdict verdict;
  for (const PodAccount& pod : pods) {
    if (!pod.ending) continue;
    verdict.stopped.insert(verdict.stopped.end(), pod.ending->stopped.begin(),
                           pod.ending->stopped.end());
  }
  std::sort(verdict.stopped.begin(), verdict.stopped.end());
  verdict.asked_to_end =
      static_cast<int>(std::count_if(pods.begin(), pods.end(), was_asked_to_end));
  const std::vector<TimedCause> causes = causes_in_time(pods);
  if (!causes.empty()) verdict.first = causes.front().cause;
  verdict.silent = silent_pods(pods, verdict.first.kind);
  if (causes.empty()) return verdict;
  if (verdict.first.kind == StopCause::Kind::PodLost) {
    verdict.first.text = text_of_all_lost(causes);
  } else {
    verdict.doubt = doubt_about(causes);
  }
  verdict.aborted = aborted_by(pods, verdict.first.kind);
  if (verdict.first.kind != StopCause::Kind::WorkerFailed) return verdict;
  verdict.failures = all_failures(pods, verdict.first.node);
  if (!verdict.failures.empty()) put_first(verdict.failures.front().role, verdict.aborted);
  verdict.same = failed_like_the_first(verdict.failures);
  verdict.hint = root_cause_hint(pods, verdict.first.node);
  // Whoever wrote the same error a moment earlier is no better cause.
  if (verdict.hint &&
      std::binary_search(verdict.same.begin(), verdict.same.end(), verdict.hint->name()))
    verdict.hint.reset();
  return verdict;
}

}  // namespace

std::vector<PodAccount> without_causes(std::vector<PodAccount> pods) {
  for (PodAccount& pod : pods) {
    pod.cause.reset();
    if (pod.ending) pod.ending->own = StopCause{};
  }
  return pods;
}

JobVerdict judge(const std::vector<PodAccount>& pods) {
  JobVerdict verdict = judge_as_told(pods);
  const bool has_reason = std::any_of(pods.begin(), pods.end(), [](const PodAccount& pod) {
    return has_failures(pod) && !pod.ending->all_are_secondary;
  });
  if (verdict.first.kind != StopCause::Kind::WorkerFailed || !has_reason) return verdict;
  return judge_as_told(with_secondary_stopped(pods, verdict.first.node));
}

namespace {

std::vector<int> indices_of(Role role, const std::vector<ProcessName>& names) {
  std::vector<int> indices;
  for (const ProcessName& name : names) {
    if (name.role == role) indices.push_back(name.index);
  }
  std::sort(indices.begin(), indices.end());
  return indices;
}

// "rank 2", "ranks 2 to 3", "servers 0, 2 to 4"; nothing: there is none.
std::string runs_in_words(std::string_view word, const std::vector<int>& indices) {
  std::vector<std::string> runs;
  for (std::size_t first = 0; first < indices.size();) {
    std::size_t last = first;
    while (last + 1 < indices.size() && indices[last + 1] - indices[last] <= 1) ++last;
    runs.push_back(indices[last] == indices[first]
                       ? fmt::format("{}", indices[first])
                       : fmt::format("{} to {}", indices[first], indices[last]));
    first = last + 1;
  }
  if (runs.empty()) return "";
  return fmt::format("{}{} {}", word, indices.size() == 1 ? "" : "s", fmt::join(runs, ", "));
}

// Among several launchers of a node, the one that is meant.
std::string launcher_of(const std::vector<ProcessName>& names) {
  std::vector<std::string> parts;
  for (const Role role : {Role::Server, Role::Trainer, Role::HeterWorker}) {
    std::string part = runs_in_words(words_of(role).numbered, indices_of(role, names));
    if (!part.empty()) parts.push_back(std::move(part));
  }
  if (parts.empty()) return "launcher without processes";
  return fmt::format("launcher of {}", fmt::join(parts, " and "));
}

}  // namespace

std::vector<PodAccount> open_accounts(const Roster& roster) {
  std::vector<std::vector<ProcessName>> names = names_of_pods(roster);
  std::vector<PodAccount> accounts;
  for (std::size_t i = 0; i < roster.pods.size(); ++i) {
    PodAccount& account = accounts.emplace_back();
    account.host = roster.pods[i].host;
    if (roster.shares_its_node(i)) account.host += fmt::format(" ({})", launcher_of(names[i]));
    account.names = std::move(names[i]);
  }
  return accounts;
}

}  // namespace paddle_launch
