// SPDX-License-Identifier: Apache-2.0
// For users: docs/elastic.md.
#include "launcher/cli/restarts_of_job.h"

#include <algorithm>
#include <cctype>
#include <csignal>
#include <optional>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "launcher/text/lists.h"
#include "launcher/text/number.h"
#include "launcher/text/signal_name.h"

namespace paddle_launch {
namespace {

constexpr int kHighestCode = 255;

RestartCauses no_cause() { return {false, {}, false, {}, false}; }

// "SIGKILL" or "KILL", in any case.
std::optional<int> signal_named(std::string_view word) {
  std::string name(word);
  std::transform(name.begin(), name.end(), name.begin(),
                 [](unsigned char c) { return static_cast<char>(std::toupper(c)); });
  if (!name.starts_with("SIG")) name.insert(0, "SIG");
  for (int signal = 1; signal <= SIGRTMAX; ++signal) {
    if (signal_name(signal) == name) return signal;
  }
  return std::nullopt;
}

std::optional<int> code_named(std::string_view word) {
  const auto number = parse_whole_number(word);
  if (!number || *number < 1 || *number > kHighestCode) return std::nullopt;
  return static_cast<int>(*number);
}

// False: the word is no cause.
bool add_cause(std::string_view word, RestartCauses& causes) {
  if (word == kAnyCause) {
    causes.any_code = causes.any_signal = causes.lost_node = true;
  } else if (word == kAnyCode) {
    causes.any_code = true;
  } else if (word == kAnySignal) {
    causes.any_signal = true;
  } else if (word == kLostNode) {
    causes.lost_node = true;
  } else if (const auto code = code_named(word)) {
    causes.codes.insert(*code);
  } else if (const auto signal = signal_named(word)) {
    causes.signals.insert(*signal);
  } else {
    return false;
  }
  return true;
}

std::string in_one_spelling(std::string_view word) {
  if (const auto code = code_named(word)) return std::to_string(*code);
  const auto signal = signal_named(word);
  return signal ? signal_name(*signal) : std::string(word);
}

}  // namespace

ValueReading read_restart_causes(std::string_view text) {
  std::vector<std::string> words;
  RestartCauses causes = no_cause();
  for (const std::string_view part : split(text, ',')) {
    const std::string_view word = without_blanks(part);
    if (!add_cause(word, causes)) {
      return refused(
          fmt::format("'{}' is no cause: it takes any, code, signal, lost_node, exit codes "
                      "from 1 to {} and names of signals (SIGKILL), with commas",
                      word, kHighestCode));
    }
    words.push_back(in_one_spelling(word));
  }
  if (words.empty()) return refused("it takes at least one cause: any, code, signal or lost_node");
  // What is in a whole needs no naming.
  if (causes.any_code) causes.codes.clear();
  if (causes.any_signal) causes.signals.clear();
  return accepted(fmt::format("{}", fmt::join(words, ",")), std::move(causes));
}

namespace {

constexpr int kMostInElasticJobs = 3;

// At level -1 a failure ends an elastic job, unless the user names a number of restarts.
int most_by_default(const std::optional<ElasticSpec>& elastic) {
  return elastic && elastic->level >= 0 ? kMostInElasticJobs : 0;
}

}  // namespace

RestartSpec restarts_of_job(const GivenOptions& given, const std::optional<ElasticSpec>& elastic) {
  RestartSpec restarts;
  restarts.most = given.value<int>("max_restart").value_or(most_by_default(elastic));
  restarts.first_pause =
      given.value<std::chrono::milliseconds>("restart_pause").value_or(restarts.first_pause);
  restarts.on = given.value<RestartCauses>("restart_on").value_or(restarts.on);
  return restarts;
}

}  // namespace paddle_launch
