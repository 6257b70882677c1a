// SPDX-License-Identifier: Apache-2.0
// docs/paddle-launch.1 against the parser.
#include <functional>
#include <map>
#include <optional>
#include <variant>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "launcher/cli/value_rule.h"
#include "tests/documents/options_in.h"
#include "tests/documents/roff.h"

namespace paddle_launch {
namespace {

// Options of the programs and scripts in the page's examples, and an example of any option.
const Names kOthers = {"--batch_size", "--bind-to", "--gpus-per-node", "--option"};

const std::string& page() {
  static const std::string text = text_of_file(SOURCE_DIR "/docs/paddle-launch.1");
  return text;
}

const std::vector<ManualEntry>& option_entries() {
  static const std::vector<ManualEntry> entries = entries_of(section_of(page(), "OPTIONS"));
  return entries;
}

Names names_in_tag(const std::string& tag) { return found_in(tag, "(?:^|, )(--?[A-Za-z]\\w*)"); }

const ManualEntry* entry_of(std::string_view name) {
  static const std::map<std::string, const ManualEntry*, std::less<>> entries = [] {
    std::map<std::string, const ManualEntry*, std::less<>> by_name;
    for (const ManualEntry& entry : option_entries()) {
      for (const std::string& spelling : names_in_tag(entry.tag)) by_name[spelling] = &entry;
    }
    return by_name;
  }();
  const auto found = entries.find(name);
  return found == entries.end() ? nullptr : found->second;
}

// The default as the table has it, where that is one word and no sentence.
std::optional<std::string> literal_default(const Option& option) {
  const std::string_view text = option.default_text.substr(0, option.default_text.find(','));
  if (text.empty() || text.find(' ') != std::string_view::npos) return std::nullopt;
  return std::string(text);
}

TEST(ManualPage, HasAnEntryForEachSpellingOfEachOption) {
  ASSERT_GT(option_entries().size(), 50U);
  for (const Option& option : all_options()) {
    for (const std::string_view name : names_of(option)) {
      EXPECT_NE(entry_of(name), nullptr) << name << " has no entry in docs/paddle-launch.1";
    }
  }
}

TEST(ManualPage, HasNoEntryForAnythingElse) {
  Names names;
  for (const ManualEntry& entry : option_entries()) names.merge(names_in_tag(entry.tag));
  EXPECT_EQ(without(names, all_names()), Names());
}

TEST(ManualPage, MentionsNoOptionThatTheParserLacks) {
  EXPECT_EQ(without(without(long_options_in(plain_text(page())), all_names()), kOthers), Names());
}

TEST(ManualPage, NamesTheValuesAsTheTableDoes) {
  for (const Option& option : all_options()) {
    for (const std::string_view name : names_of(option)) {
      const ManualEntry* const entry = entry_of(name);
      if (entry == nullptr) continue;
      if (!option.metavar.empty()) {
        const std::string both = fmt::format("{} {}", name, option.metavar);
        EXPECT_TRUE(has_word(entry->tag, both)) << both << " is not in: " << entry->tag;
      }
      for (const std::string& word : words_after_equals(option)) {
        EXPECT_NE(entry->tag.find("[=" + word + "]"), std::string::npos) << entry->tag;
      }
    }
  }
}

TEST(ManualPage, ExplainsEveryWordThatAnOptionTakes) {
  for (const Option& option : all_options()) {
    const ManualEntry* const entry = entry_of(names_of(option).front());
    const bool in_general = std::holds_alternative<Boolean>(option.rule);  // BOOL, in the beginning
    if (entry == nullptr || in_general) continue;
    for (const std::string& word : words_of(option.rule)) {
      // 0 to 3 of --with_gloo and their like are numbers, not words.
      if (std::holds_alternative<WholeNumber>(option.rule)) continue;
      EXPECT_TRUE(has_word(entry->tag + " " + entry->body, word)) << option.names << ": " << word;
    }
  }
}

TEST(ManualPage, HasTheDefaults) {
  for (const Option& option : all_options()) {
    const ManualEntry* const entry = entry_of(names_of(option).front());
    if (entry == nullptr || std::holds_alternative<ActsAtOnce>(option.rule)) continue;
    const std::string expected = "Default: " + literal_default(option).value_or("");
    const bool has_it = expected.ends_with(' ') ? entry->body.find(expected) != std::string::npos
                                                : has_word(entry->body, expected);
    EXPECT_TRUE(has_it) << option.names << ": \"" << expected << "\" is not in: " << entry->body;
  }
}

TEST(ManualPage, HasTheVariables) {
  for (const Option& option : all_options()) {
    const ManualEntry* const entry = entry_of(names_of(option).front());
    if (entry == nullptr) continue;
    for (const std::string_view variable : variables_of(option)) {
      EXPECT_TRUE(has_word(entry->body, std::string(variable))) << option.names << " " << variable;
    }
  }
}

TEST(ManualPage, HasEveryExitStatusAndNoOther) {
  Names statuses;
  for (const ManualEntry& entry : entries_of(section_of(page(), "EXIT STATUS"))) {
    statuses.insert(entry.tag);
  }
  EXPECT_EQ(statuses, all_exit_statuses());
}

}  // namespace
}  // namespace paddle_launch
