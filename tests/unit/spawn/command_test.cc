// SPDX-License-Identifier: Apache-2.0
#include "spawn/command.h"

#include <gtest/gtest.h>

#include "launcher/job/errors.h"

namespace paddle_launch {
namespace {

using Words = std::vector<std::string>;

const ChosenCards kThreeCards{.kind = CardKind::Gpu,
                              .cards = {{"7", "0", {}}, {"5", "1", {}}, {"GPU-3", "2", {}}}};
constexpr std::size_t kCpus = 6;

Words options_of(const SpawnOptions& options, const ChosenCards& visible = {}) {
  return options_of_cards(options, visible, kCpus);
}

std::string refusal_of(const SpawnOptions& options, const ChosenCards& visible = {}) {
  try {
    options_of(options, visible);
  } catch (const UsageError& error) {
    return error.what();
  }
  return "(none)";
}

TEST(OptionsOfCards, AllVisibleCardsAreUsed) {
  EXPECT_EQ(options_of({}, kThreeCards), (Words{"--gpus=7,5,GPU-3", "--nproc_per_node=3"}));
}

TEST(OptionsOfCards, OfMoreVisibleCardsTheFirstAreUsed) {
  EXPECT_EQ(options_of({.nprocs = 2}, kThreeCards), (Words{"--gpus=7,5", "--nproc_per_node=2"}));
  EXPECT_EQ(refusal_of({.nprocs = 4}, kThreeCards)
                .rfind("the number of visible devices(3) is less than the number of spawn "
                       "processes(4), please",
                       0),
            0U);
}

TEST(OptionsOfCards, NamedCardsAreAsManyAsProcesses) {
  EXPECT_EQ(options_of({.gpus = "4,5"}, kThreeCards), (Words{"--gpus=4,5", "--nproc_per_node=2"}));
  EXPECT_EQ(options_of({.nprocs = 2, .gpus = "4,5"}), (Words{"--gpus=4,5", "--nproc_per_node=2"}));
  EXPECT_EQ(refusal_of({.nprocs = 3, .gpus = "4,5"})
                .rfind("The number of selected devices(2) is not equal to the number of spawn "
                       "processes(3), please",
                       0),
            0U);
}

TEST(OptionsOfCards, WithoutCardsThereIsOneProcessForEachCpu) {
  EXPECT_EQ(options_of({}), (Words{"--nproc_per_node=6"}));
  EXPECT_EQ(options_of({.nprocs = 3}), (Words{"--nproc_per_node=3"}));
  EXPECT_EQ(options_of({.gpus = "cpu"}, kThreeCards), (Words{"--gpus=cpu", "--nproc_per_node=6"}));
}

TEST(OptionsOfCards, NumbersThatCannotBeAreRefused) {
  for (const int number : {0, -2}) {
    EXPECT_NE(refusal_of({.nprocs = number}).find("nprocs is " + std::to_string(number)),
              std::string::npos);
  }
}

TEST(CommandOfSpawn, WithoutALogDirectoryOutputGoesStraightToTheConsole) {
  const JobSpec job = command_of_spawn({.nprocs = 2}, {}, "train").job;
  EXPECT_EQ(job.console, ConsoleMode::Direct);
  EXPECT_EQ(job.nproc_per_node, 2);
  EXPECT_EQ(job.script.name, "train");
  EXPECT_TRUE(job.quiet);
  EXPECT_EQ(job.bootstrap, "solo");
}

TEST(CommandOfSpawn, NodesLogsAndGraceAreHandedOn) {
  const JobSpec job = command_of_spawn({.nprocs = 2,
                                        .ips = "192.168.0.1,192.168.0.2",
                                        .log_dir = "logs",
                                        .grace = std::chrono::milliseconds(1'050)},
                                       {}, "train.py")
                          .job;
  EXPECT_EQ(job.console, ConsoleMode::RankZero);
  EXPECT_EQ(job.log_dir, "logs");
  EXPECT_EQ(job.grace, std::chrono::milliseconds(1'050));
  EXPECT_EQ(job.ips.size(), 2U);
  EXPECT_EQ(job.bootstrap, "tcp");
}

TEST(CommandOfSpawn, RefusesANegativeGrace) {
  EXPECT_THROW(command_of_spawn({.nprocs = 1, .grace = std::chrono::milliseconds(-1)}, {}, "x"),
               UsageError);
}

}  // namespace
}  // namespace paddle_launch
