// SPDX-License-Identifier: Apache-2.0
#include "launcher/tell/probable_cause.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <set>
#include <string>

#include "launcher/tell/log_lines.h"

namespace paddle_launch {
namespace {

// Time stamps of files are as coarse as the kernel's tick.
constexpr std::int64_t kTickNs = 10'000'000;
// How an error begins: in Python, and in C++ when nobody caught it. Paddle puts a "C++ Traceback"
// under both kinds, and under any signal: that one says nothing.
constexpr std::string_view kUncaught = "terminate called after throwing an instance of";
constexpr std::array<std::string_view, 2> kHeaders = {kTraceback, kUncaught};
// Paddle's words on a crash. A process that was stopped, or aborted itself, has others there.
constexpr std::array<std::string_view, 4> kCrashes = {
    "FatalError: `Segmentation fault`",
    "FatalError: `Illegal instruction`",
    "FatalError: `Erroneous arithmetic operation`",
    "FatalError: `Access to an undefined portion of a memory object`",
};
// Under it stands what only Paddle says, frames that look alike among it.
constexpr std::string_view kPaddlesFrames = "C++ Traceback (most recent call last):";

// What a process says that lost a neighbour: Python, gloo, NCCL, the kernel's own words.
constexpr std::array<std::string_view, 12> kSecondaryErrors = {
    "ConnectionError",         "ConnectionResetError",
    "ConnectionRefusedError",  "ConnectionAbortedError",
    "BrokenPipeError",         "EOFError",
    "onnection reset by peer", "onnection closed by peer",
    "remote process exited",   "Broken pipe",
    "gloo::IoException",       "gloo::TimeoutException",
};

// The last error of the log, from its header to the end; empty: the log does not end with one.
std::string_view last_error(std::string_view log) {
  std::string_view last;
  for (const std::string_view header : kHeaders) {
    const std::size_t at = last_line_with(header, log);
    if (at == std::string_view::npos) continue;
    if (last.empty() || log.size() - at < last.size()) last = log.substr(at);
  }
  return last;
}

bool comes_before(const LastWords& candidate, const LastWords& first) {
  const bool candidate_is_secondary = is_secondary(candidate.bytes);
  const bool first_is_secondary = is_secondary(first.bytes);
  if (candidate_is_secondary != first_is_secondary) return first_is_secondary;
  return candidate.written_ns + kTickNs < first.written_ns;
}

bool has_own_error(std::string_view log) { return !last_error(log).empty() && !is_secondary(log); }

// Takes the next line; none: there is none that has its end.
std::optional<std::string_view> next_line(std::string_view& text) {
  const std::size_t end = text.find('\n');
  if (end == std::string_view::npos) return std::nullopt;
  const std::string_view line = text.substr(0, end);
  text.remove_prefix(end + 1);
  return line;
}

struct ToldError {
  std::string_view line;   // names it; empty: it was not told to its end
  std::string_view after;  // what stands below that line
};

// In Python frames are indented, and what they led to is not. C++ says what() in the second line.
ToldError told_error(std::string_view error) {
  const bool is_python = error.starts_with(kTraceback);
  next_line(error);
  while (const auto line = next_line(error)) {
    const bool is_indented = line->empty() || line->front() == ' ';
    if (is_python ? !is_indented : line->starts_with("  what():")) return {*line, error};
    if (!is_python) break;
  }
  return {};
}

// Two lines that differ only in their figures are lines of one kind.
std::string kind_of(std::string_view line) {
  std::string kind;
  for (const char c : line) {
    const bool is_digit = std::isdigit(static_cast<unsigned char>(c)) != 0;
    if (!is_digit) kind += c;
    if (is_digit && (kind.empty() || kind.back() != '0')) kind += '0';
  }
  return kind;
}

bool is_output(std::string_view line) {
  return !line.empty() && line.front() != ' ' && std::any_of(line.begin(), line.end(), [](char c) {
    return std::isalpha(static_cast<unsigned char>(c)) != 0;
  });
}

// An exception that was caught and written down, and then the next steps: there are lines of a kind
// that was there before, or of one kind among themselves.
bool went_on(std::string_view before, std::string_view after) {
  after = after.substr(0, last_line_with(kPaddlesFrames, after));
  std::set<std::string> kinds;
  while (const auto line = next_line(before)) {
    if (is_output(*line)) kinds.insert(kind_of(*line));
  }
  while (const auto line = next_line(after)) {
    if (is_output(*line) && !kinds.insert(kind_of(*line)).second) return true;
  }
  return false;
}

// Where Paddle tells of a crash; the end of the log: nowhere.
std::size_t crash_in(std::string_view log) {
  for (const std::string_view words : kCrashes) {
    const std::size_t at = last_line_with(words, log);
    if (at != std::string_view::npos) return at;
  }
  return log.size();
}

}  // namespace

// An exception that was raised because of another says nothing new: the first of them counts.
bool is_secondary(std::string_view log) {
  std::string_view error = last_error(log);
  if (error.starts_with(kTraceback)) error = first_of_chain(log, log.size() - error.size());
  return std::any_of(
      kSecondaryErrors.begin(), kSecondaryErrors.end(),
      [error](std::string_view told) { return error.find(told) != std::string_view::npos; });
}

bool ends_with_own_error(std::string_view log) {
  const std::string_view error = last_error(log);
  if (error.empty()) return crash_in(log) != log.size();
  const ToldError told = told_error(error);
  if (told.line.empty() || is_secondary(log)) return false;
  return !went_on(log.substr(0, log.size() - error.size()), told.after);
}

std::string_view error_line(std::string_view log) {
  const std::string_view line = told_error(last_error(log)).line;
  if (!line.empty()) return line;
  std::string_view crash = log.substr(crash_in(log));
  return next_line(crash).value_or(std::string_view());
}

std::optional<int> first_own_error(const std::vector<LastWords>& words) {
  const LastWords* best = nullptr;
  for (const LastWords& one : words) {
    if (!has_own_error(one.bytes)) continue;
    if (best == nullptr || one.written_ns < best->written_ns) best = &one;
  }
  if (best == nullptr) return std::nullopt;
  return best->worker;
}

std::optional<int> probable_cause(int first, const std::vector<LastWords>& words) {
  const auto of_first = std::find_if(words.begin(), words.end(),
                                     [first](const LastWords& one) { return one.worker == first; });
  // Only what an exception says can be compared: a crash leaves no words, and is its own cause.
  if (of_first == words.end() || last_error(of_first->bytes).empty()) return std::nullopt;
  const LastWords* best = &*of_first;
  for (const LastWords& one : words) {
    if (!last_error(one.bytes).empty() && comes_before(one, *best)) best = &one;
  }
  if (best->worker == first) return std::nullopt;
  return best->worker;
}

}  // namespace paddle_launch
