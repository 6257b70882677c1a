// SPDX-License-Identifier: Apache-2.0
// The fields of a message, named once for both directions: fields(wire, value) is written against
// what FieldWriter and FieldReader have in common, so that the two cannot disagree. The writer
// makes every value fit for the reader: long texts are cut, numbers out of range go to its nearest
// end.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "launcher/job/ending.h"
#include "launcher/job/pod.h"
#include "launcher/job/role.h"
#include "launcher/text/wire.h"

namespace paddle_launch {

struct Range {
  std::int64_t least = 0;
  std::int64_t most = 0;
};
constexpr Range kRanks{0, 10'000'000};  // and whatever else is counted by trainers or by nodes
constexpr Range kPlaceOrNone{-1, kRanks.most};
constexpr Range kPorts{0, kLastPort};
constexpr Range kStatus{0, 255};
constexpr Range kAnyCount{0, 2'147'483'647};
constexpr Range kRoundOrNone{-1, kAnyCount.most};
// Nanoseconds; nobody who subtracts one from another can overflow.
constexpr Range kTimes{-(std::int64_t{1} << 62) + 1, (std::int64_t{1} << 62) - 1};

struct TextRule {
  std::size_t most = 0;  // the writer's; the reader takes kMostTextRead
  bool keep_end = false;
};
constexpr std::size_t kKilobyte = 1024;
constexpr std::size_t kMostTextRead = 64 * kKilobyte;
constexpr TextRule kText{8 * kKilobyte};
constexpr TextRule kOneLine{kKilobyte};
constexpr TextRule kCommand{4 * kKilobyte};
constexpr TextRule kWholeText{kMostTextRead};
constexpr TextRule kLogEnd{48 * kKilobyte, true};

constexpr std::size_t kMostTexts = 1'000'000;  // of a list
constexpr std::size_t kNoLimit = std::numeric_limits<std::size_t>::max();

class FieldWriter {
 public:
  static constexpr bool kReads = false;

  void flag(bool value) { wire_.byte(value ? 1 : 0); }
  void number(std::int64_t value, Range range);
  // In two bytes: what is large as often as small.
  void port(int value) {
    wire_.fixed16(static_cast<std::uint16_t>(std::clamp(value, 0, kLastPort)));
  }
  void real(double value);
  void time(SteadyTime value);
  void text(std::string_view value, TextRule rule);
  void packed(std::string_view value) { wire_.text(value); }
  void texts(const std::vector<std::string>& values, TextRule rule);
  void ranks(const std::vector<int>& ranks);
  void names(const std::vector<ProcessName>& names);

  template <typename Enum>
  void one_of(Enum value, Enum last) {
    wire_.byte(static_cast<std::uint8_t>(std::min(value, last)));
  }

  template <typename Value, typename Write>
  void maybe(const std::optional<Value>& value, Write write) {
    flag(value.has_value());
    if (value) write(*value);
  }

  template <typename Value>
  void list(const std::vector<Value>& values, std::size_t most) {
    const std::size_t count = std::min(values.size(), most);
    wire_.varint(count);
    for (std::size_t i = 0; i < count; ++i) fields(*this, values[i]);
  }

  std::string take() { return wire_.take(); }

 private:
  WireWriter wire_;
};

class FieldReader {
 public:
  static constexpr bool kReads = true;
  explicit FieldReader(std::string_view bytes) : wire_(bytes) {}

  void flag(bool& value);
  template <typename Number>
  void number(Number& value, Range range) {
    value = static_cast<Number>(number_within(range));
  }
  void port(int& value) { value = wire_.fixed16(); }
  void real(double& value) { value = wire_.real(); }
  void time(SteadyTime& value);
  void text(std::string& value, TextRule /*of the writer*/) { value = wire_.text(kMostTextRead); }
  void packed(std::string& value) { value = wire_.text(wire_.left()); }
  void texts(std::vector<std::string>& values, TextRule rule);
  void ranks(std::vector<int>& ranks);
  void names(std::vector<ProcessName>& names);

  template <typename Enum>
  void one_of(Enum& value, Enum last) {
    const std::uint8_t byte = wire_.byte();
    if (byte > static_cast<std::uint8_t>(last)) return wire_.fail();
    value = static_cast<Enum>(byte);
  }

  template <typename Value, typename Read>
  void maybe(std::optional<Value>& value, Read read) {
    bool there = false;
    flag(there);
    if (there) read(value.emplace());
  }

  template <typename Value>
  void list(std::vector<Value>& values, std::size_t /*the writer's limit*/) {
    const std::size_t count = wire_.count();
    while (values.size() < count && !wire_.failed()) fields(*this, values.emplace_back());
  }

  void fail() { wire_.fail(); }
  bool failed() const { return wire_.failed(); }
  bool finished_well() const { return wire_.finished_well(); }

 private:
  std::int64_t number_within(Range range);

  WireReader wire_;
};

// template <typename Wire> void fields(Wire& wire, Of<Wire, StopCause>& cause)
template <typename Wire, typename Value>
using Of = std::conditional_t<Wire::kReads, Value, const Value>;

// How the values of job/ending.h travel.

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
void fields(Wire& wire, Of<Wire, RootCauseHint>& hint) {
  wire.one_of(hint.role, Role::HeterWorker);
  wire.number(hint.rank, kRanks);
  wire.text(hint.node, kText);
  wire.text(hint.log_path, kText);
  wire.text(hint.log_excerpt, kLogEnd);
}

template <typename Wire>
void fields(Wire& wire, Of<Wire, PodEnding>& ending) {
  fields(wire, ending.own);
  wire.list(ending.failures, kMostFailures);
  wire.names(ending.stopped);
  wire.maybe(ending.own_error, [&](auto& own_error) { fields(wire, own_error); });
  wire.flag(ending.first_is_secondary);
  wire.flag(ending.all_are_secondary);
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
  wire.maybe(verdict.hint, [&](auto& hint) { fields(wire, hint); });
  wire.texts(verdict.silent, kText);
  wire.number(verdict.asked_to_end, kRanks);
  wire.maybe(verdict.next, [&](auto& next) { fields(wire, next); });
}

}  // namespace paddle_launch
