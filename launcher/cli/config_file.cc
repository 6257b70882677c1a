// SPDX-License-Identifier: Apache-2.0
// For users: docs/getting-started.md.
#include "launcher/cli/config_file.h"

#include <filesystem>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "launcher/cli/typed_line.h"
#include "launcher/job/errors.h"

namespace paddle_launch {
namespace {

// What is done at once, or to another job than the one that is started.
constexpr std::string_view kTypedOnly[] = {"config", "status", "scale", "stop", "make_token"};

std::vector<CLI::ConfigItem> items_of(const std::string& file) {
  std::error_code error;
  if (std::filesystem::is_regular_file(file, error)) {
    try {
      return CLI::ConfigTOML().from_file(file);
    } catch (const CLI::Error&) {
    }
  }
  throw UsageError(
      fmt::format("--config={}: it cannot be read; name a file that is there and yours to read, or "
                  "leave it out",
                  file));
}

const Option& option_in(const CLI::ConfigItem& item, const std::string& file) {
  if (!item.parents.empty()) {
    throw UsageError(fmt::format(
        "--config={}: it has a section [{}]; write the options without sections, each as in "
        "`log_dir = x`",
        file, item.parents.front()));
  }
  const std::string name = "--" + with_underscores(item.name);
  const Option* const option = find_option(name);
  if (option == nullptr) {
    throw UsageError(
        fmt::format("--config={}: {} is not an option; correct the file, or leave it out there "
                    "(--help=all shows every option)",
                    file, name));
  }
  if (is_among(key_of(*option), kTypedOnly) || std::holds_alternative<ActsAtOnce>(option->rule)) {
    throw UsageError(fmt::format("--config={}: {} is typed, and not for a file; leave it out there",
                                 file, name));
  }
  return *option;
}

GivenOption accepted_in(const std::string& file, const CLI::ConfigItem& item) {
  const Option& option = option_in(item, file);
  const std::string value = fmt::format("{}", fmt::join(item.inputs, ","));
  ValueReading reading = read_value(option.rule, value);
  std::string name = "--" + with_underscores(item.name);
  if (reading.problem.empty()) {
    return {&option, std::move(name), std::move(reading.text), std::move(reading.value), true,
            file};
  }
  throw UsageError(
      fmt::format("{}={} in {} is refused: {}. Correct the value or leave it out there.", name,
                  shown_value(option.rule, value), file, reading.problem));
}

bool asks_for_nothing(const GivenOption& option) {
  return option.text.empty() ||
         (std::holds_alternative<Flag>(option.option->rule) && option.text == "False");
}

}  // namespace

void add_config_file(GivenOptions& given) {
  const std::optional<std::string> file = given.text("config");
  if (!file) return;
  GivenOptions of_file;
  for (const CLI::ConfigItem& item : items_of(*file)) {
    GivenOption option = accepted_in(*file, item);
    const GivenOption* const twin = of_file.find(key_of(*option.option));
    if (twin != nullptr) refuse_together(*twin, option, "they are two values of one option");
    if (!asks_for_nothing(option)) of_file.add(std::move(option));
  }
  const bool cards_are_typed = !card_options(given).empty();
  for (const GivenOption* const cards : card_options(of_file)) {
    if (cards_are_typed) of_file.drop(key_of(*cards->option));
  }
  for (const auto& [key, option] : of_file) {
    if (given.find(key) == nullptr) given.add(option);
  }
}

}  // namespace paddle_launch
