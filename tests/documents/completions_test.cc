// SPDX-License-Identifier: Apache-2.0
// The completions that were built have every option of the parser, with its values. What shells
// make of them is tried in tests/completions.
#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gtest/gtest.h>

#include "launcher/cli/value_rule.h"
#include "launcher/text/lists.h"
#include "tests/documents/options_in.h"

namespace paddle_launch {
namespace {

struct Completion {
  std::string file;
  std::string before;  // how the name of an option begins there
};

const Completion kCompletions[] = {
    {"paddle-launch.bash", "--"}, {"_paddle-launch", "--"}, {"paddle-launch.fish", "-l "}};

TEST(Completions, HaveEveryOptionWithItsValues) {
  for (const Completion& completion : kCompletions) {
    const std::string text = text_of_file(COMPLETIONS_DIR "/" + completion.file);
    const std::vector<std::string_view> lines = split(text, '\n');
    for (const Option& option : all_options()) {
      for (const std::string_view name : names_of(option)) {
        if (!name.starts_with("--")) continue;
        const std::string written = completion.before + std::string(name.substr(2));
        const std::string values = fmt::format("{}", fmt::join(words_of(option.rule), " "));
        const auto names_it_all = [&](std::string_view line) {
          return has_word(line, written) && line.find(values) != line.npos;
        };
        EXPECT_TRUE(std::any_of(lines.begin(), lines.end(), names_it_all))
            << completion.file << ": " << name;
      }
    }
  }
}

TEST(Completions, HaveNoTemplateLeft) {
  for (const Completion& completion : kCompletions) {
    const std::string text = text_of_file(COMPLETIONS_DIR "/" + completion.file);
    EXPECT_FALSE(std::regex_search(text, std::regex("@\\w+@"))) << completion.file;
  }
}

}  // namespace
}  // namespace paddle_launch
