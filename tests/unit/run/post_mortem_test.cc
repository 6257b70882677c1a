// SPDX-License-Identifier: Apache-2.0
// What a pod tells of its end, from how its processes ended and from what stands in their logs.
#include "launcher/run/post_mortem.h"

#include <csignal>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "tests/unit/temp_folder.h"

namespace paddle_launch {
namespace {

const std::string kOwnError =
    "step 1\nTraceback (most recent call last):\n  File \"train.py\"\nValueError: broken sample\n";
const std::string kSecondary =
    "step 1\nTraceback (most recent call last):\n  File \"train.py\"\nConnectionResetError: [Errno "
    "104]\n";

class APostMortem : public testing::Test {
 protected:
  APostMortem() {
    plan_.host = "10.0.0.18";
    plan_.nodes = 2;
  }
  // Rank 0, 1, … of this pod, with what stands in its log.
  void add(const std::string& log, ProcessExit exit) {
    const int worker = static_cast<int>(plan_.processes.size());
    const std::string path = folder_.path("workerlog." + std::to_string(worker));
    std::ofstream(path) << "==== paddle-launch starts\n" << log;
    plan_.processes.push_back({.rank = worker, .log_path = path});
    plan_.world_size = worker + 1;
    exit.worker = worker;
    if (exit.was_told_to_stop) exit.log_at_stop = static_cast<std::int64_t>(size_of(path));
    result_.exits.push_back(exit);
  }
  PodEnding ending(const std::optional<StopCause>& own = {}) {
    return PostMortem(plan_, "node18", 0, kOomKillsUnknown).ending(result_, own);
  }
  // As the first one that is there.
  void failed_first(int worker) {
    result_.outcome = Failed{result_.exits.at(static_cast<std::size_t>(worker))};
  }
  static std::size_t size_of(const std::string& path) { return std::filesystem::file_size(path); }

  TempFolder folder_;
  ProcessPlan plan_{};
  RoundResult result_{};
};

TEST_F(APostMortem, TellsWhoFailedAndWhoWasStopped) {
  add(kOwnError, {.code = 7});
  add("step 1\n", {.signal = SIGTERM, .was_told_to_stop = true});
  failed_first(0);
  const PodEnding told = ending();
  ASSERT_EQ(told.failures.size(), 1U);
  EXPECT_EQ(told.failures[0].name(), (ProcessName{Role::Trainer, 0}));
  EXPECT_EQ(told.failures[0].error, "ValueError: broken sample");
  EXPECT_EQ(told.failures[0].node, "node18 (10.0.0.18)");
  EXPECT_NE(told.failures[0].log_excerpt.find("File \"train.py\""), std::string::npos);
  EXPECT_EQ(told.stopped, (std::vector<ProcessName>{{Role::Trainer, 1}}));
  EXPECT_FALSE(told.first_is_secondary);
  EXPECT_FALSE(told.all_are_secondary);
}

TEST_F(APostMortem, NamesTheProcessWithAnErrorOfItsOwn) {
  add(kSecondary, {.code = 1});
  add(kOwnError, {.signal = SIGTERM, .was_told_to_stop = true});
  failed_first(0);
  const PodEnding told = ending();
  EXPECT_TRUE(told.first_is_secondary);
  ASSERT_TRUE(told.own_error);
  EXPECT_EQ(told.own_error->rank, 1);
  EXPECT_EQ(told.failures.size(), 2U) << "it had failed before it was told to stop";
  EXPECT_TRUE(result_.exits[1].had_failed);
}

TEST_F(APostMortem, CountsWhoOnlyLostANeighbourAsStoppedWhereSomebodyHasAReason) {
  add(kSecondary, {.code = 1});
  add(kOwnError, {.code = 1});
  add(kSecondary, {.code = 1});
  failed_first(1);
  const PodEnding told = ending();
  EXPECT_FALSE(told.all_are_secondary);
  ASSERT_EQ(told.failures.size(), 1U);
  EXPECT_EQ(told.failures[0].rank, 1);
  EXPECT_EQ(told.stopped, (std::vector<ProcessName>{{Role::Trainer, 0}, {Role::Trainer, 2}}));
}

TEST_F(APostMortem, SaysWhenAllOnlyLostANeighbour) {
  add(kSecondary, {.code = 1});
  add(kSecondary, {.code = 1});
  failed_first(0);
  const PodEnding told = ending();
  EXPECT_TRUE(told.all_are_secondary);
  EXPECT_EQ(told.failures.size(), 2U);
  EXPECT_FALSE(told.own_error);
}

TEST_F(APostMortem, GivesAnErrorOfAnotherProcessForNoneThatDiedWithoutWords) {
  add("step 1\n", {.signal = SIGKILL});
  add("step 1\n", {.signal = SIGTERM, .was_told_to_stop = true});
  failed_first(0);
  const PodEnding told = ending();
  EXPECT_FALSE(told.own_error);
  EXPECT_EQ(told.failures.at(0).error, "") << "killed: the last line says nothing of it";
}

TEST_F(APostMortem, KeepsTheCauseThatWasTold) {
  add(kOwnError, {.code = 7});
  failed_first(0);
  const StopCause own{.kind = StopCause::Kind::WorkerFailed, .status = 7, .text = "as told"};
  EXPECT_EQ(ending(own).own, own);
}

TEST_F(APostMortem, HasACauseOfItsOwnWhereAProcessFailedWhileTheStopWasOnItsWay) {
  add(kOwnError, {.code = 7});
  result_.outcome = JobStopped{{.kind = StopCause::Kind::WorkerFailed, .node = 1, .status = 9}};
  const PodEnding told = ending();
  EXPECT_EQ(told.own.kind, StopCause::Kind::WorkerFailed);
  EXPECT_EQ(told.own.status, 7);
}

TEST_F(APostMortem, ReadsNoLogsAfterAnInterrupt) {
  add(kOwnError, {.signal = SIGTERM, .was_told_to_stop = true});
  result_.outcome = Interrupted{SIGTERM};
  result_.ending_signal = SIGTERM;
  const PodEnding told = ending();
  EXPECT_TRUE(told.failures.empty());
  EXPECT_FALSE(told.own_error);
  EXPECT_TRUE(told.asked_to_end);
}

TEST_F(APostMortem, LeavesALastLineInTheLogOfWhoWasStopped) {
  add(kOwnError, {.code = 7});
  add("step 1\n", {.signal = SIGTERM, .was_told_to_stop = true});
  JobVerdict verdict;
  verdict.first = {.kind = StopCause::Kind::WorkerFailed, .node = 1, .text = "rank 9 failed"};
  verdict.aborted = {{Role::Trainer, 9}};
  std::string said;
  const Voice voice(LogLevel::Info, [&said](std::string_view text) { said += text; });
  PostMortem(plan_, "node18", 5, kOomKillsUnknown).tell_end(voice, result_, verdict);
  std::ifstream log(plan_.processes[1].log_path);
  const std::string text{std::istreambuf_iterator<char>(log), {}};
  EXPECT_NE(text.find("rank 9 failed"), std::string::npos) << text;
  EXPECT_EQ(size_of(plan_.processes[0].log_path),
            std::string("==== paddle-launch starts\n").size() + kOwnError.size());
  EXPECT_NE(said.find("ABORT"), std::string::npos) << said;
}

}  // namespace
}  // namespace paddle_launch
