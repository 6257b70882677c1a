// SPDX-License-Identifier: Apache-2.0
// For users: docs/compatibility.md.
#include "launcher/cli/environment_defaults.h"

#include <algorithm>
#include <iterator>

#include <fmt/format.h>

#include "launcher/cli/option_table.h"
#include "launcher/cli/value_rule.h"
#include "launcher/job/plan.h"

namespace paddle_launch {
namespace {

// Set by people for this launcher, never by a launcher for its trainers.
constexpr std::string_view kKeptWhenNested[] = {"PADDLE_LAUNCH_ASSUME_GPUS", "PADDLE_LAUNCH_PORT",
                                                "PADDLE_LAUNCH_NCCL_LIB"};

bool is_kept_when_nested(std::string_view variable) {
  return std::find(std::begin(kKeptWhenNested), std::end(kKeptWhenNested), variable) !=
         std::end(kKeptWhenNested);
}

// PADDLE_DEVICES stands for whichever card option the user typed.
const GivenOption* beats(const Option& option, const GivenOptions& given) {
  if (key_of(option) != "devices") return given.find(key_of(option));
  const std::vector<const GivenOption*> cards = card_options(given);
  return cards.empty() ? nullptr : cards.front();
}

bool same_value(const Option& option, std::string_view text, const GivenOption& winner) {
  const ValueReading reading = read_value(option.rule, text);
  return (reading.problem.empty() ? reading.text : text) == winner.text;
}

// No variable of --omp: what libraries take there (4,2) is more than a number.
void tell_of_unused_threads(const Environment& env, const GivenOptions& given, Remarks& remarks) {
  const GivenOption* const omp = given.find("omp");
  const std::optional<std::string> variable = non_empty(env, kThreadsVariable);
  if (omp == nullptr || !variable || omp->text == "keep" || omp->text == *variable) return;
  remarks.warnings.push_back(fmt::format("{}={} is not used: the command line says {}",
                                         kThreadsVariable, *variable, said(*omp)));
}

// The secret itself never stands in a message.
void tell_of_unused_token(const Environment& env, const GivenOptions& given, Remarks& remarks) {
  const GivenOption* const file = given.find("token_file");
  if (file == nullptr || !non_empty(env, kTokenVariable)) return;
  remarks.warnings.push_back(
      fmt::format("{} is not used: the command line says {}", kTokenVariable, said(*file)));
}

}  // namespace

std::optional<std::string> non_empty(const Environment& env, std::string_view name) {
  std::optional<std::string> value = lookup(env, name);
  if (value && value->empty()) return std::nullopt;
  return value;
}

bool is_nested(const Environment& env) { return non_empty(env, "PADDLE_LAUNCH_JOB").has_value(); }

void add_variable(const Option& option, std::string_view variable, const std::string& value,
                  GivenOptions& given, Remarks& remarks) {
  const GivenOption* const winner = beats(option, given);
  if (winner == nullptr || !winner->file.empty()) {
    if (winner != nullptr) given.drop(key_of(*winner->option));
    given.add(accept(option, variable, value, true));
    return;
  }
  if (same_value(option, value, *winner)) return;
  const std::string shown = shown_value(option.rule, value);
  remarks.warnings.push_back(
      winner->from_environment
          ? fmt::format("{}={} is not used: {} comes first", variable, shown, said(*winner))
          : fmt::format("{}={} is not used: the command line says {}, and an option beats its "
                        "variable (in Paddle's launcher the variable wins)",
                        variable, shown, said(*winner)));
}

void add_environment_defaults(const Environment& env, GivenOptions& given, Remarks& remarks) {
  const bool nested = is_nested(env);
  if (nested) {
    remarks.notices.emplace_back(
        "PADDLE_LAUNCH_JOB is set, so this launcher was started by a trainer: the variables of "
        "that "
        "trainer's job (PADDLE_*, FLAGS_START_PORT, POD_IP) are not taken as defaults of options");
  }
  for (const Option& option : all_options()) {
    for (const std::string_view variable : variables_of(option)) {
      if (nested && !is_kept_when_nested(variable)) continue;
      const std::optional<std::string> value = non_empty(env, variable);
      if (value) add_variable(option, variable, *value, given, remarks);
    }
  }
  tell_of_unused_token(env, given, remarks);
  tell_of_unused_threads(env, given, remarks);
}

}  // namespace paddle_launch
