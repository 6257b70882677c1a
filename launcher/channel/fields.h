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
  void real(double value);
  void time(SteadyTime value);
  void text(std::string_view value, TextRule rule);
  void packed(std::string_view value) { wire_.text(value); }
  void texts(const std::vector<std::string>& values, TextRule rule);
  void ranks(const std::vector<int>& ranks);
  void names(const std::vector<ProcessName>& names);
  void pod(const PodOffer& pod);

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
  void real(double& value) { value = wire_.real(); }
  void time(SteadyTime& value);
  void text(std::string& value, TextRule /*of the writer*/) { value = wire_.text(kMostTextRead); }
  void packed(std::string& value) { value = wire_.text(wire_.left()); }
  void texts(std::vector<std::string>& values, TextRule rule);
  void ranks(std::vector<int>& ranks);
  void names(std::vector<ProcessName>& names);
  void pod(PodOffer& pod);

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

  bool finished_well() const { return wire_.finished_well(); }

 private:
  std::int64_t number_within(Range range);

  WireReader wire_;
};

// template <typename Wire> void fields(Wire& wire, Of<Wire, StopCause>& cause)
template <typename Wire, typename Value>
using Of = std::conditional_t<Wire::kReads, Value, const Value>;

}  // namespace paddle_launch
