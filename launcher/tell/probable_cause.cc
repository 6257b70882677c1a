// SPDX-License-Identifier: Apache-2.0
#include "launcher/tell/probable_cause.h"

#include <algorithm>
#include <array>

#include "launcher/tell/log_excerpt.h"

namespace paddle_launch {
namespace {

// Time stamps of files are as coarse as the kernel's tick.
constexpr std::int64_t kTickNs = 10'000'000;
// How an error begins: in Python, and in C++ when nobody caught it. Paddle puts a "C++ Traceback"
// under both kinds, and under any signal: that one says nothing.
constexpr std::array<std::string_view, 2> kHeaders = {
    kTraceback, "terminate called after throwing an instance of"};

// What a process says that lost a neighbour: Python, gloo, NCCL, the kernel's own words.
constexpr std::array<std::string_view, 12> kEchoes = {
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

bool is_echo(std::string_view error) {
  return std::any_of(kEchoes.begin(), kEchoes.end(), [error](std::string_view echo) {
    return error.find(echo) != std::string_view::npos;
  });
}

bool comes_before(const LastWords& candidate, const LastWords& first) {
  const bool candidate_is_echo = is_echo(last_error(candidate.bytes));
  const bool first_is_echo = is_echo(last_error(first.bytes));
  if (candidate_is_echo != first_is_echo) return first_is_echo;
  return candidate.written_ns + kTickNs < first.written_ns;
}

bool has_own_error(std::string_view log) {
  const std::string_view error = last_error(log);
  return !error.empty() && !is_echo(error);
}

}  // namespace

bool only_complains(std::string_view log) { return is_echo(last_error(log)); }

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
