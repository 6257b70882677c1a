// SPDX-License-Identifier: Apache-2.0
#include "launcher/channel/fields.h"

#include <chrono>
#include <cmath>

#include "launcher/text/utf8.h"

namespace paddle_launch {
namespace {

constexpr std::size_t kMostRanks = 1'000'000;  // when a list of ranks is written out again
constexpr std::size_t kLeastBytesOfRun = 2;
constexpr std::size_t kLeastBytesOfStretch = 1 + 1 + kLeastBytesOfRun;  // its role, its runs
constexpr Range kDistances{-kRanks.most - 1, kRanks.most};

int rank_in_range(int rank) {
  return std::clamp(rank, static_cast<int>(kRanks.least), static_cast<int>(kRanks.most));
}

struct Run {
  int first = 0;
  int last = 0;
};

std::vector<Run> runs_of(const std::vector<int>& ranks) {
  std::vector<Run> runs;
  const std::size_t count = std::min(ranks.size(), kMostRanks);
  for (std::size_t i = 0; i < count; ++i) {
    const int rank = rank_in_range(ranks[i]);
    if (!runs.empty() && rank == runs.back().last + 1) {
      runs.back().last = rank;
    } else {
      runs.push_back({rank, rank});
    }
  }
  return runs;
}

// Names in a row that have one role.
struct Stretch {
  Role role = Role::Trainer;
  std::vector<int> indices{};
};

std::vector<Stretch> stretches_of(const std::vector<ProcessName>& names) {
  std::vector<Stretch> stretches;
  const std::size_t count = std::min(names.size(), kMostRanks);
  for (std::size_t i = 0; i < count; ++i) {
    const ProcessName& name = names[i];
    if (stretches.empty() || stretches.back().role != name.role) stretches.push_back({name.role});
    stretches.back().indices.push_back(name.index);
  }
  return stretches;
}

}  // namespace

void FieldWriter::number(std::int64_t value, Range range) {
  wire_.signed_varint(std::clamp(value, range.least, range.most));
}

void FieldWriter::real(double value) { wire_.real(std::isfinite(value) ? value : 0); }

void FieldWriter::time(SteadyTime value) {
  const auto since_epoch = value.time_since_epoch();
  number(std::chrono::duration_cast<std::chrono::nanoseconds>(since_epoch).count(), kTimes);
}

void FieldWriter::text(std::string_view value, TextRule rule) {
  wire_.text(rule.keep_end ? end_of_text(value, rule.most) : start_of_text(value, rule.most));
}

void FieldWriter::texts(const std::vector<std::string>& values, TextRule rule) {
  const std::size_t count = std::min(values.size(), kMostTexts);
  wire_.varint(count);
  for (std::size_t i = 0; i < count; ++i) text(values[i], rule);
}

// Each run of neighbours as its distance from the end of the run before, and how many follow its
// first rank. The order of the ranks is kept.
void FieldWriter::ranks(const std::vector<int>& ranks) {
  const std::vector<Run> runs = runs_of(ranks);
  wire_.varint(runs.size());
  int next = 0;
  for (const Run& run : runs) {
    wire_.signed_varint(run.first - next);
    wire_.varint(static_cast<std::uint64_t>(run.last - run.first));
    next = run.last + 1;
  }
}

// Stretch by stretch, so that their order is kept too.
void FieldWriter::names(const std::vector<ProcessName>& names) {
  const std::vector<Stretch> stretches = stretches_of(names);
  wire_.varint(stretches.size());
  for (const Stretch& stretch : stretches) {
    one_of(stretch.role, Role::HeterWorker);
    ranks(stretch.indices);
  }
}

void FieldReader::flag(bool& value) {
  const std::uint8_t byte = wire_.byte();
  if (byte > 1) wire_.fail();
  value = byte == 1;
}

void FieldReader::time(SteadyTime& value) {
  const std::chrono::nanoseconds since_epoch(number_within(kTimes));
  value = SteadyTime(std::chrono::duration_cast<SteadyTime::duration>(since_epoch));
}

void FieldReader::texts(std::vector<std::string>& values, TextRule rule) {
  const std::size_t count = wire_.count();
  if (count > kMostTexts) return wire_.fail();
  while (values.size() < count && !wire_.failed()) text(values.emplace_back(), rule);
}

void FieldReader::ranks(std::vector<int>& ranks) {
  const std::size_t runs = wire_.count(kLeastBytesOfRun);
  std::int64_t next = 0;
  for (std::size_t i = 0; i < runs && !wire_.failed(); ++i) {
    const std::int64_t first = next + number_within(kDistances);
    const auto more = static_cast<std::int64_t>(wire_.varint(kMostRanks));
    const std::int64_t last = first + more;
    if (first < kRanks.least || last > kRanks.most) return wire_.fail();
    if (ranks.size() + static_cast<std::size_t>(more) >= kMostRanks) return wire_.fail();
    for (std::int64_t rank = first; rank <= last; ++rank) ranks.push_back(static_cast<int>(rank));
    next = last + 1;
  }
}

void FieldReader::names(std::vector<ProcessName>& names) {
  const std::size_t stretches = wire_.count(kLeastBytesOfStretch);
  for (std::size_t i = 0; i < stretches && !wire_.failed(); ++i) {
    Stretch stretch;
    one_of(stretch.role, Role::HeterWorker);
    ranks(stretch.indices);
    // One spelling only: what belongs together stands together.
    const bool goes_on = !names.empty() && names.back().role == stretch.role;
    const bool too_many = stretch.indices.size() > kMostRanks - names.size();
    if (stretch.indices.empty() || goes_on || too_many) return wire_.fail();
    for (const int index : stretch.indices) names.push_back({stretch.role, index});
  }
}

std::int64_t FieldReader::number_within(Range range) {
  const std::int64_t value = wire_.signed_varint();
  if (value >= range.least && value <= range.most) return value;
  wire_.fail();
  return std::clamp(std::int64_t{0}, range.least, range.most);
}

}  // namespace paddle_launch
