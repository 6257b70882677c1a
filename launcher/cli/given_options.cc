// SPDX-License-Identifier: Apache-2.0
#include "launcher/cli/given_options.h"

#include <utility>

#include <fmt/format.h>

#include "launcher/cli/value_rule.h"
#include "launcher/job/card.h"
#include "launcher/job/errors.h"

namespace paddle_launch {

std::string said(const GivenOption& given) {
  const bool stands_alone = value_when_bare(*given.option) == given.text;
  if (stands_alone && !given.from_environment) return given.name;
  return fmt::format("{}={}{}", given.name, shown_value(given.option->rule, given.text),
                     given.file.empty() ? "" : " in " + given.file);
}

std::string how_to_drop(const GivenOption& given) {
  if (!given.file.empty()) return fmt::format("leave out {} in {}", given.name, given.file);
  return fmt::format("{} {}", given.from_environment ? "unset" : "leave out", given.name);
}

GivenOption accept(const Option& option, std::string_view name, std::string_view value,
                   bool from_environment) {
  ValueReading reading = read_value(option.rule, value);
  if (reading.problem.empty()) {
    return {&option,
            std::string(name),
            std::move(reading.text),
            std::move(reading.value),
            from_environment,
            {}};
  }
  const std::string shown = shown_value(option.rule, value);
  if (from_environment) {
    throw UsageError(fmt::format(
        "{0}={1} in the environment (the default for {2}) is refused: {3}. Correct the variable or "
        "unset it.",
        name, shown, names_of(option).front(), reading.problem));
  }
  throw UsageError(fmt::format("{0}={1} is refused: {2}. Correct the value or leave out {0}.", name,
                               shown, reading.problem));
}

void refuse_together(const GivenOption& one, const GivenOption& other, std::string_view why) {
  throw UsageError(fmt::format("{} and {} contradict each other: {}; {} or {}", said(one),
                               said(other), why, how_to_drop(one), how_to_drop(other)));
}

void GivenOptions::add(GivenOption given) {
  const std::string_view key = key_of(*given.option);
  given_.insert_or_assign(key, std::move(given));
}

void GivenOptions::drop(std::string_view key) { given_.erase(key); }

const GivenOption* GivenOptions::find(std::string_view key) const {
  const auto found = given_.find(key);
  return found == given_.end() ? nullptr : &found->second;
}

const GivenOption* GivenOptions::first_of(std::initializer_list<std::string_view> keys) const {
  for (const std::string_view key : keys) {
    if (const GivenOption* const given = find(key)) return given;
  }
  return nullptr;
}

std::optional<std::string> GivenOptions::text(std::string_view key) const {
  const GivenOption* const given = find(key);
  if (given == nullptr) return std::nullopt;
  return given->text;
}

bool GivenOptions::is_true(std::string_view key) const { return value<bool>(key).value_or(false); }

void drop_unused(const GivenOption& unused, std::string_view because, GivenOptions& given,
                 Remarks& remarks) {
  remarks.warnings.push_back(fmt::format("{} is not used: {}", said(unused), because));
  given.drop(key_of(*unused.option));
}

std::string option_comes_first(const GivenOption& option) {
  return fmt::format("the command line says {}, and an option beats a variable", said(option));
}

std::vector<const GivenOption*> card_options(const GivenOptions& given) {
  std::vector<const GivenOption*> options;
  const auto add = [&](std::string_view key) {
    if (const GivenOption* const option = given.find(key)) options.push_back(option);
  };
  for (const CardWords& words : kCardWords) {
    if (words.option != kOpenOption) add(words.option);
  }
  add("devices");
  return options;
}

}  // namespace paddle_launch
