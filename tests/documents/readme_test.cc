// SPDX-License-Identifier: Apache-2.0
// README.md and README.zh-CN.md, and the pages behind them, against the parser.
#include <gtest/gtest.h>

#include "tests/documents/options_in.h"

namespace paddle_launch {
namespace {

struct Readme {
  std::string file;
  std::string goes_on;      // the page behind it
  std::string all_options;  // the title of its section that lists them
};

const Readme kReadmes[] = {{"README.md", "docs/getting-started.md", "\n## All options\n"},
                           {"README.zh-CN.md", "docs/getting-started.zh-CN.md", "\n## 全部参数\n"}};

// Options of the programs and scripts in the examples.
const Names kOthers = {"--batch_size", "--bind-to",       "--build",  "--fail_rank", "--fail_step",
                       "--install",    "--gpus-per-node", "--prefix", "--preset"};

std::string text_of(const Readme& readme) {
  return text_of_file(SOURCE_DIR "/" + readme.file) + text_of_file(SOURCE_DIR "/" + readme.goes_on);
}

std::string section_of(const std::string& text, const std::string& title) {
  const std::size_t begin = text.find(title);
  if (begin == std::string::npos) return {};
  return text.substr(begin, text.find("\n## ", begin + title.size() - 1) - begin);
}

TEST(Readme, ListsEveryOptionAndNoOther) {
  for (const Readme& readme : kReadmes) {
    const std::string section = section_of(text_of(readme), readme.all_options);
    const std::string table = section.substr(std::min(section.find("\n| "), section.size()));
    EXPECT_EQ(found_in(table, "`(--?\\w+)`"), all_names()) << readme.file;
  }
}

TEST(Readme, MentionsNoOptionThatTheParserLacks) {
  for (const Readme& readme : kReadmes) {
    EXPECT_EQ(without(without(long_options_in(text_of(readme)), all_names()), kOthers), Names())
        << readme.file;
  }
}

TEST(Compatibility, ListsEveryOptionThatPaddleLacks) {
  const std::string page = text_of_file(SOURCE_DIR "/docs/compatibility.md");
  const std::size_t begin = page.find("\nNew options: ");
  Names ours;
  for (const Option& option : all_options()) {
    if (!is_paddles(option)) ours.emplace(names_of(option).front());
  }
  EXPECT_EQ(found_in(page.substr(begin, page.find("\n\n", begin) - begin), "`(--?\\w+)`"), ours);
}

TEST(Readme, HasEveryExitStatusAndNoOther) {
  for (const Readme& readme : kReadmes) {
    Names statuses;
    for (const std::string& cell : found_in(text_of(readme), "\n\\| ([0-9NS+、, ]+) \\|")) {
      statuses.merge(found_in(cell, "([\\w+]+)"));
    }
    EXPECT_EQ(statuses, all_exit_statuses()) << readme.file;
  }
}

}  // namespace
}  // namespace paddle_launch
