// SPDX-License-Identifier: Apache-2.0
// See typed_options.h.
#include "launcher/cli/typed_options.h"

#include <algorithm>
#include <string_view>
#include <variant>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "launcher/cli/option_table.h"
#include "launcher/job/errors.h"

namespace paddle_launch {
namespace {

struct Spelling {
  const Option* option;
  std::string_view name;
  CLI::Option* parsed;
};

// Each spelling is an option of its own for CLI11: messages name what the user typed. Only those
// that occur are declared: CLI11 compares each new option with all before it, and the whole table
// would cost a noticeable part of a short job's start.
std::vector<Spelling> declare(CLI::App& app, const std::vector<std::string>& own) {
  std::vector<Spelling> spellings;
  for (const Option& option : all_options()) {
    if (std::holds_alternative<ActsAtOnce>(option.rule)) continue;
    for (const std::string_view name : names_of(option)) {
      if (std::find(own.begin(), own.end(), name) == own.end()) continue;
      CLI::Option* const parsed = app.add_option(std::string(name));
      parsed->expected(1)->allow_extra_args(false);
      parsed->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
      spellings.push_back({&option, name, parsed});
    }
  }
  return spellings;
}

void parse(CLI::App& app, const std::vector<std::string>& own) {
  try {
    app.parse(std::vector<std::string>(own.rbegin(), own.rend()));  // CLI11 reads from the back
  } catch (const CLI::ParseError& error) {
    throw UsageError(fmt::format("{}. See --help=all for all options.", error.what()));
  }
}

bool is_empty_list(const Option& option, std::string_view value) {
  return value.empty() && may_be_empty(option.rule);
}

}  // namespace

GivenOptions read_typed_options(const std::vector<std::string>& own,
                                std::vector<std::string>& warnings) {
  CLI::App app;
  app.set_help_flag();
  const std::vector<Spelling> spellings = declare(app, own);
  parse(app, own);

  GivenOptions given;
  for (const Spelling& spelling : spellings) {
    const std::vector<std::string>& values = spelling.parsed->results();
    if (values.empty() || is_empty_list(*spelling.option, values.back())) continue;
    GivenOption last = accept(*spelling.option, spelling.name, values.back(), false);
    if (const GivenOption* const twin = given.find(key_of(*spelling.option))) {
      refuse_together(*twin, last, "they are two spellings of one option");
    }
    if (std::any_of(values.begin(), values.end(),
                    [&values](const std::string& value) { return value != values.back(); })) {
      warnings.push_back(
          fmt::format("{} was given {} times with different values; the last one counts: {}",
                      spelling.name, values.size(), said(last)));
    }
    given.add(std::move(last));
  }
  return given;
}

}  // namespace paddle_launch
