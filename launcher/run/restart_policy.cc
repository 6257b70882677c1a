// SPDX-License-Identifier: Apache-2.0
#include "launcher/run/restart_policy.h"

#include <algorithm>
#include <csignal>

#include "launcher/job/errors.h"

namespace paddle_launch {
namespace {

using Kind = StopCause::Kind;

// A round that fails sooner has hardly begun to train: its cause is probably still there.
constexpr std::chrono::seconds kQuick{60};
constexpr std::chrono::milliseconds kLongestPause{60'000};

bool allows_code(const RestartCauses& on, int code) {
  return on.any_code || on.codes.contains(code);
}

bool allows_signal(const RestartCauses& on, int signal) {
  return on.any_signal || on.signals.contains(signal);
}

bool allows(const RestartCauses& on, const ProcessExit& exit) {
  return exit.signal != 0 ? allows_signal(on, exit.signal) : allows_code(on, exit.code);
}

bool asks_to_start_again(const JobVerdict& verdict) {
  if (verdict.first.kind != Kind::WorkerFailed || verdict.failures.empty()) return false;
  const ProcessExit& exit = verdict.failures.front().exit;
  return exit.signal == 0 && exit.code == kStartMeAgain;
}

bool is_elastic(const RestartRules& rules) { return rules.nodes == RestartRules::Nodes::Elastic; }

// Of an elastic job that goes on: whether the pod whose trainer or launcher failed stays behind.
bool leaves_after_failure(const RestartRules& rules, const JobVerdict& verdict) {
  if (!is_elastic(rules)) return false;
  if (verdict.first.kind == Kind::LauncherFailed) return true;
  return rules.level == 0 && verdict.first.kind == Kind::WorkerFailed &&
         !asks_to_start_again(verdict);
}

// The nodes of the next round are others, and nothing failed.
bool is_change_of_nodes(const RestartRules& rules, const JobVerdict& verdict) {
  if (!is_elastic(rules)) return false;
  const Kind kind = verdict.first.kind;
  if (kind == Kind::PodLost) return rules.spec.on.lost_node;
  return kind == Kind::NodesChange || kind == Kind::Interrupted ||
         leaves_after_failure(rules, verdict);
}

bool may_be_tried_again(const RestartRules& rules, const StoppedRound& round,
                        const JobVerdict& verdict) {
  const RestartCauses& on = rules.spec.on;
  switch (verdict.first.kind) {
    case Kind::WorkerFailed:
      return !verdict.failures.empty() && allows(on, verdict.failures.front().exit);
    case Kind::GuardLost:
      return allows_signal(on, SIGKILL);
    case Kind::PodLost:
      return on.lost_node && rules.nodes == RestartRules::Nodes::Typed && !round.hub_is_lost;
    default:
      return false;
  }
}

std::chrono::milliseconds pause_after(const RestartSpec& spec, int quick_failures) {
  std::chrono::milliseconds pause = spec.first_pause;
  for (int i = 1; i < quick_failures && pause < kLongestPause; ++i) pause *= 2;
  return quick_failures > 1 ? std::min(pause, std::max(kLongestPause, spec.first_pause)) : pause;
}

// Somebody must be left who goes on.
bool is_deserted(const RestartRules& rules, const StoppedRound& round, const JobVerdict& verdict) {
  if (!is_elastic(rules)) return verdict.asked_to_end > 0;
  const bool one_more_leaves = leaves_after_failure(rules, verdict);
  return verdict.asked_to_end + (one_more_leaves ? 1 : 0) >= round.nodes;
}

}  // namespace

RestartRules rules_of(const JobSpec& job, bool others_may_come) {
  using Nodes = RestartRules::Nodes;
  RestartRules rules{.spec = job.restarts, .nodes = others_may_come ? Nodes::Typed : Nodes::Fixed};
  if (!job.elastic) return rules;
  rules.nodes = Nodes::Elastic;
  rules.level = job.elastic->level;
  return rules;
}

std::optional<NextRound> next_round(const RestartRules& rules, const StoppedRound& round,
                                    const JobVerdict& verdict) {
  if (verdict.first.kind == Kind::Completed || is_deserted(rules, round, verdict)) {
    return std::nullopt;
  }
  NextRound next{.state = round.state};
  ++next.state.number;
  if (is_change_of_nodes(rules, verdict)) {
    next.state.quick_failures = 0;
    next.has_settled = verdict.first.kind == Kind::NodesChange;
    return next;
  }
  const bool is_wish = asks_to_start_again(verdict);
  if (!is_wish && !may_be_tried_again(rules, round, verdict)) return std::nullopt;
  if (!is_wish && round.state.restarts >= rules.spec.most) return std::nullopt;
  const bool is_quick = round.lasted < kQuick;
  next.state.quick_failures = is_quick ? round.state.quick_failures + 1 : 0;
  // Who asks for it has no fault to wait for; asking in a loop is held back as failing is.
  const bool pauses = !is_wish || next.state.quick_failures > 1;
  if (pauses) next.pause = pause_after(rules.spec, next.state.quick_failures);
  if (!is_wish) ++next.state.restarts;
  return next;
}

RoundEnd end_of_round(const RestartRules& rules, const JobVerdict& verdict, const OwnEnd& own) {
  if (!verdict.next) return {.status = verdict.first.status, .verdict = verdict};
  const bool is_asked = own.ending_signal != 0;
  const int status = is_asked         ? kSignalBase + own.ending_signal
                     : own.has_failed ? kLaunchErrorStatus
                                      : verdict.first.status;
  const bool stays_behind = own.has_cause && leaves_after_failure(rules, verdict);
  if (is_elastic(rules) && (is_asked || own.has_failed || stays_behind)) {
    return {.status = status, .leaves = true, .verdict = verdict};
  }
  // The signal met a verdict that was on its way already.
  if (is_asked) return {.status = status, .next = verdict.next, .is_asked_to_end = true};
  // Another cause was first, but a launcher that failed plays no other round.
  if (own.has_failed) return {.status = status, .verdict = verdict};
  return {.status = status, .next = verdict.next};
}

}  // namespace paddle_launch
