// SPDX-License-Identifier: Apache-2.0
#include "benchmarks/line_check.h"

#include <charconv>
#include <fstream>
#include <iterator>
#include <stdexcept>

#include <fmt/format.h>

namespace paddle_launch {
namespace {

// rank=003 seq=00012345 xxx…x, 99 bytes and a newline.
constexpr size_t kLength = 99;
constexpr size_t kTail = 21;
constexpr size_t kLongestPrefix = 24;

int number(std::string_view digits) {
  int value = -1;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
  return error == std::errc{} && end == digits.data() + digits.size() ? value : -1;
}

bool is_tail(std::string_view text) {
  return text.front() == ' ' && text.find_first_not_of('x', 1) == std::string_view::npos;
}

bool names_rank(std::string_view prefix, int rank) {
  return prefix.size() <= kLongestPrefix && prefix.find(fmt::format("{}]", rank)) != prefix.npos;
}

}  // namespace

void LineCheck::check_line(std::string_view line, bool prefixed) {
  if (line.size() < kLength) {
    ++torn_;
    return;
  }
  const std::string_view prefix = line.substr(0, line.size() - kLength);
  const std::string_view body = line.substr(prefix.size());
  const int rank = number(body.substr(5, 3));
  const int sequence = number(body.substr(13, 8));
  const bool whole = body.substr(0, 5) == "rank=" && body.substr(8, 5) == " seq=" &&
                     is_tail(body.substr(kTail)) && rank >= 0 &&
                     rank < static_cast<int>(next_.size()) &&
                     (prefixed ? names_rank(prefix, rank) : prefix.empty());
  if (!whole || sequence != next_[static_cast<size_t>(rank)]) {
    ++torn_;
    if (whole && sequence >= 0) next_[static_cast<size_t>(rank)] = sequence + 1;
    return;
  }
  ++next_[static_cast<size_t>(rank)];
  ++good_;
}

void LineCheck::check_stream(std::string_view text, bool prefixed) {
  while (!text.empty()) {
    const size_t end = text.find('\n');
    check_line(text.substr(0, end), prefixed);
    if (end == std::string_view::npos) return;
    text.remove_prefix(end + 1);
  }
}

void LineCheck::check_file(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) throw std::runtime_error("no file " + path);
  for (std::string line; std::getline(file, line);) {
    if (line.find("rank=") != std::string::npos) check_line(line, false);
  }
}

std::string LineCheck::complaint() const {
  const long wanted = static_cast<long>(next_.size()) * lines_;
  if (torn_ == 0 && good_ == wanted) return {};
  return fmt::format("{} torn, {} of {} lines whole", torn_, good_, wanted);
}

}  // namespace paddle_launch
