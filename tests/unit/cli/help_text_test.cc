// SPDX-License-Identifier: Apache-2.0
// What --help and --version print.
#include "launcher/cli/help_text.h"

#include <algorithm>
#include <regex>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "launcher/cli/option_table.h"
#include "launcher/text/lists.h"
#include "tests/unit/cli/parsing.h"

namespace paddle_launch {
namespace {

std::string printed(const Words& words) {
  return std::get<PrintAndExit>(command_line_of(words)).text;
}

std::string in_one_line(const std::string& text) {
  return std::regex_replace(text, std::regex("\\s+"), " ");
}

void expect_eighty_columns(const std::string& text) {
  for (const std::string_view line : split(text, '\n')) EXPECT_LE(line.size(), 80U) << line;
}

void expect_in_order(const std::string& text, std::initializer_list<const char*> parts) {
  std::size_t last = 0;
  for (const char* const part : parts) {
    const std::size_t place = text.find(part);
    ASSERT_NE(place, std::string::npos) << part;
    EXPECT_GT(place, last) << part;
    last = place;
  }
}

TEST(HelpText, IsAPageUnlessAllIsAskedFor) {
  EXPECT_EQ(printed({"-h"}), everyday_help("paddle-launch"));
  EXPECT_EQ(printed({"--gpus=0", "--help", "train.py"}), everyday_help("paddle-launch"));
  EXPECT_EQ(printed({"--gpus=0", "--help=all", "train.py"}), full_help("paddle-launch"));
  EXPECT_EQ(printed({"-h=all"}), full_help("paddle-launch"));
}

TEST(HelpText, BeginsWithTheUsageOfTheProgramAsTyped) {
  for (const char* const option : {"-h", "--help=all"}) {
    const auto line = std::get<PrintAndExit>(parse_command_line({"/opt/bin/fleetrun", option}, {}));
    EXPECT_EQ(line.text.find("usage: fleetrun [options] training_script [args ...]\n"), 0U);
  }
}

TEST(EverydayHelp, FitsAPage) {
  const std::string text = everyday_help("paddle-launch");
  EXPECT_LE(std::count(text.begin(), text.end(), '\n'), 48);
  expect_eighty_columns(text);
}

TEST(EverydayHelp, HasALineForEachEverydayOptionAndTheRestIsInTheFullHelp) {
  const std::string page = everyday_help("paddle-launch");
  const std::string all = full_help("paddle-launch");
  int lines = 0;
  for (const Option& option : all_options()) {
    const std::string name(names_of(option).front());
    const bool on_page = std::regex_search(page, std::regex("\n  " + name + "[ \\[]"));
    EXPECT_EQ(on_page, option.everyday != Everyday::No) << name;
    if (!on_page) continue;
    ++lines;
    EXPECT_LE(summary_of(option).size(), 50U) << name;
    EXPECT_TRUE(std::regex_search(all, std::regex("\n  " + name + "[ ,\\[]"))) << name;
  }
  EXPECT_GE(lines, 20);
}

TEST(EverydayHelp, GoesByPurposeAndNamesTheRest) {
  expect_in_order(
      everyday_help("paddle-launch"),
      {"\nCards and processes:\n", "\nSeveral nodes", "\nParameter servers:\n",
       "\nRestarts and elastic jobs:\n", "\nLogs and console:\n", "\nLook before you start:\n",
       "\nExit status: 0 ", "--help=all shows every option; man paddle-launch explains them."});
}

TEST(HelpText, NamesEveryExitStatus) {
  for (const std::string& text : {everyday_help("x"), full_help("x")}) {
    for (const ExitStatus& status : exit_statuses()) {
      EXPECT_NE(in_one_line(text).find(fmt::format(" {} ", status.status)), std::string::npos)
          << status.status;
    }
  }
}

TEST(FullHelp, HasTheDocumentsGroupsInOrder) {
  expect_in_order(full_help("paddle-launch"),
                  {"\nBase Parameters:\n", "\nCollective Parameters:\n",
                   "\nParameter-Server Parameters:\n", "\nElastic Parameters:\n",
                   "\nLauncher Parameters:\n", "\nEXIT STATUS\n", "man paddle-launch"});
}

TEST(FullHelp, NamesEveryOptionAndVariable) {
  const std::string text = full_help("paddle-launch");
  for (const Option& option : all_options()) {
    for (const std::string_view name : names_of(option)) {
      EXPECT_NE(text.find(name), std::string::npos) << name;
    }
    for (const std::string_view variable : variables_of(option)) {
      EXPECT_NE(text.find(variable), std::string::npos) << variable;
    }
  }
}

TEST(FullHelp, FitsInEightyColumns) { expect_eighty_columns(full_help("paddle-launch")); }

TEST(FullHelp, TellsTheDefaults) {
  const std::string text = in_one_line(full_help("paddle-launch"));
  EXPECT_NE(text.find("127.0.0.1. Variable: PADDLE_IPS."), std::string::npos);
  EXPECT_NE(text.find("Default: log. Variable: PADDLE_LOG_DIR."), std::string::npos);
  EXPECT_NE(text.find("Default: none."), std::string::npos);
  EXPECT_NE(text.find("Default: off."), std::string::npos);
}

TEST(FullHelp, NamesTheVariableOfTheSecretAndTheStatusOfALostNode) {
  const std::string text = in_one_line(full_help("paddle-launch"));
  EXPECT_NE(text.find("The variable PADDLE_LAUNCH_TOKEN can hold the secret"), std::string::npos);
  EXPECT_NE(text.find("75 a node never came or was lost"), std::string::npos);
}

TEST(FullHelp, TellsTheTruthAboutServers) {
  const std::string text = in_one_line(full_help("paddle-launch"));
  EXPECT_EQ(text.find("6767"), std::string::npos);
  EXPECT_NE(text.find("a free port. Variable: PADDLE_GLOO_PORT."), std::string::npos);
}

TEST(FullHelp, NamesTheVariablesThatCountInElasticJobsAlone) {
  const std::string text = full_help("paddle-launch");
  for (const char* const variable :
       {"PADDLE_ETCD_PASSWORD", "PADDLE_ELASTIC_JOB_ID", "PADDLE_ELASTIC_FAULT_TOLERANC_LEVEL"}) {
    EXPECT_NE(text.find(variable), std::string::npos) << variable;
  }
}

TEST(VersionText, NamesTheProgramAndItsVersion) {
  EXPECT_EQ(printed({"--version"}), "paddle-launch " PADDLE_LAUNCH_VERSION "\n");
}

}  // namespace
}  // namespace paddle_launch
