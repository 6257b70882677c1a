// SPDX-License-Identifier: Apache-2.0
// How the values of job/ending.h travel.
#pragma once

#include "launcher/channel/fields.h"
#include "launcher/job/ending.h"

namespace paddle_launch {

constexpr std::size_t kMostFailures = 32;
constexpr Range kSignals{0, 127};
constexpr Range kCountOrUnknown{kOomKillsUnknown, kAnyCount.most};
constexpr Range kWorkers{-1, kRanks.most};

template <typename Wire>
void fields(Wire& wire, Of<Wire, RoundState>& round) {
  wire.number(round.number, kAnyCount);
  wire.number(round.restarts, kAnyCount);
  wire.number(round.quick_failures, kAnyCount);
}

template <typename Wire>
void fields(Wire& wire, Of<Wire, std::chrono::milliseconds>& span) {
  auto count = static_cast<std::int64_t>(span.count());
  wire.number(count, kAnyCount);
  if constexpr (Wire::kReads) span = std::chrono::milliseconds(count);
}

template <typename Wire>
void fields(Wire& wire, Of<Wire, NextRound>& next) {
  fields(wire, next.state);
  fields(wire, next.pause);
  wire.flag(next.has_settled);
}

template <typename Wire>
void fields(Wire& wire, Of<Wire, StopCause>& cause) {
  wire.one_of(cause.kind, StopCause::Kind::LauncherFailed);
  wire.number(cause.node, kRanks);
  wire.number(cause.status, kStatus);
  wire.text(cause.text, kOneLine);
  wire.time(cause.at);
}

template <typename Wire>
void fields(Wire& wire, Of<Wire, ProcessExit>& exit) {
  wire.number(exit.worker, kWorkers);
  wire.number(exit.pid, kAnyCount);
  wire.number(exit.code, kStatus);
  wire.number(exit.signal, kSignals);
  wire.flag(exit.core_dumped);
  wire.flag(exit.was_told_to_stop);
  wire.flag(exit.had_failed);
  wire.time(exit.started);
  wire.time(exit.ended);
}

template <typename Wire>
void fields(Wire& wire, Of<Wire, FailureRecord>& failure) {
  fields(wire, failure.exit);
  wire.one_of(failure.role, Role::HeterWorker);
  wire.number(failure.rank, kRanks);
  wire.number(failure.local_rank, kRanks);
  wire.text(failure.node, kText);
  wire.text(failure.cards, kText);
  wire.text(failure.when, kText);
  wire.text(failure.log_path, kText);
  wire.text(failure.log_excerpt, kLogEnd);
  wire.text(failure.error, kOneLine);
  wire.flag(failure.log_readable);
  wire.number(failure.oom_kills, kCountOrUnknown);
}

template <typename Wire>
void fields(Wire& wire, Of<Wire, Suspicion>& suspicion) {
  wire.one_of(suspicion.role, Role::HeterWorker);
  wire.number(suspicion.rank, kRanks);
  wire.text(suspicion.node, kText);
  wire.text(suspicion.log_path, kText);
  wire.text(suspicion.log_excerpt, kLogEnd);
}

template <typename Wire>
void fields(Wire& wire, Of<Wire, PodEnding>& ending) {
  fields(wire, ending.own);
  wire.list(ending.failures, kMostFailures);
  wire.names(ending.stopped);
  wire.maybe(ending.confession, [&](auto& confession) { fields(wire, confession); });
  wire.flag(ending.first_is_echo);
  wire.flag(ending.all_are_echoes);
  wire.flag(ending.asked_to_end);
}

template <typename Wire>
void fields(Wire& wire, Of<Wire, JobVerdict>& verdict) {
  fields(wire, verdict.first);
  wire.text(verdict.doubt, kText);
  wire.names(verdict.aborted);
  wire.names(verdict.same);
  wire.names(verdict.stopped);
  wire.list(verdict.failures, kMostFailures);
  wire.maybe(verdict.suspicion, [&](auto& suspicion) { fields(wire, suspicion); });
  wire.texts(verdict.silent, kText);
  wire.number(verdict.asked_to_end, kRanks);
  wire.maybe(verdict.next, [&](auto& next) { fields(wire, next); });
}

}  // namespace paddle_launch
