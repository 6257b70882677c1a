// SPDX-License-Identifier: Apache-2.0
// What --help and --version print.
#include "launcher/cli/help_text.h"

#include <regex>

#include <gtest/gtest.h>

#include "launcher/cli/option_table.h"
#include "launcher/text/split.h"
#include "tests/unit/cli/parsing.h"

namespace paddle_launch {
namespace {

std::string printed(const Words& words) {
  return std::get<PrintAndExit>(command_line_of(words)).text;
}

TEST(HelpText, IsPrintedForBothSpellingsWithoutAScript) {
  EXPECT_EQ(printed({"-h"}), help_text("paddle-launch"));
  EXPECT_EQ(printed({"--gpus=0", "--help", "train.py"}), help_text("paddle-launch"));
}

TEST(HelpText, BeginsWithTheUsageOfTheProgramAsTyped) {
  const auto line = std::get<PrintAndExit>(parse_command_line({"/opt/bin/fleetrun", "-h"}, {}));
  EXPECT_EQ(line.text.find("usage: fleetrun [options] training_script [args ...]\n"), 0U);
}

TEST(HelpText, HasTheDocumentsGroupsInOrder) {
  const std::string text = help_text("paddle-launch");
  std::size_t last = 0;
  for (const char* const title :
       {"\nBase Parameters:\n", "\nCollective Parameters:\n", "\nParameter-Server Parameters:\n",
        "\nElastic Parameters:\n", "\nLauncher Parameters:\n", "\nEXIT STATUS\n",
        "man paddle-launch"}) {
    const std::size_t place = text.find(title);
    ASSERT_NE(place, std::string::npos) << title;
    EXPECT_GT(place, last) << title;
    last = place;
  }
}

TEST(HelpText, NamesEveryOptionAndVariable) {
  const std::string text = help_text("paddle-launch");
  for (const Option& option : all_options()) {
    for (const std::string_view name : names_of(option)) {
      EXPECT_NE(text.find(name), std::string::npos) << name;
    }
    for (const std::string_view variable : variables_of(option)) {
      EXPECT_NE(text.find(variable), std::string::npos) << variable;
    }
  }
}

TEST(HelpText, FitsInEightyColumns) {
  const std::string text = help_text("paddle-launch");
  for (const std::string_view line : split(text, '\n')) EXPECT_LE(line.size(), 80U) << line;
}

std::string in_one_line(const std::string& text) {
  return std::regex_replace(text, std::regex("\\s+"), " ");
}

TEST(HelpText, TellsTheDefaults) {
  const std::string text = in_one_line(help_text("paddle-launch"));
  EXPECT_NE(text.find("127.0.0.1. Variable: PADDLE_IPS."), std::string::npos);
  EXPECT_NE(text.find("Default: log. Variable: PADDLE_LOG_DIR."), std::string::npos);
  EXPECT_NE(text.find("Default: none."), std::string::npos);
  EXPECT_NE(text.find("Default: off."), std::string::npos);
}

TEST(HelpText, NamesTheVariableOfTheSecretAndTheStatusOfALostNode) {
  const std::string text = in_one_line(help_text("paddle-launch"));
  EXPECT_NE(text.find("The variable PADDLE_LAUNCH_TOKEN can hold the secret"), std::string::npos);
  EXPECT_NE(text.find("75 a node never came or was lost"), std::string::npos);
}

TEST(HelpText, TellsTheTruthAboutServers) {
  const std::string text = in_one_line(help_text("paddle-launch"));
  EXPECT_EQ(text.find("6767"), std::string::npos);
  EXPECT_NE(text.find("a free port. Variable: PADDLE_GLOO_PORT."), std::string::npos);
}

TEST(HelpText, NamesTheVariablesThatCountInElasticJobsAlone) {
  const std::string text = help_text("paddle-launch");
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
