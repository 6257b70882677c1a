// SPDX-License-Identifier: Apache-2.0
#include "launcher/tell/failure_report.h"

#include <csignal>

#include <gtest/gtest.h>

namespace paddle_launch {
namespace {

ProcessPlan eight_processes() {
  ProcessPlan plan;
  plan.world_size = 8;
  for (int rank = 0; rank < 8; ++rank) {
    plan.processes.push_back(
        {.rank = rank, .local_rank = rank, .log_path = "log/workerlog." + std::to_string(rank)});
  }
  return plan;
}

const SteadyTime kStart{};

ProcessExit ended(int worker, int code, int after_ms, bool told = false) {
  return {.worker = worker,
          .pid = 1000 + worker,
          .code = code,
          .was_told_to_stop = told,
          .started = kStart,
          .ended = kStart + std::chrono::milliseconds(after_ms)};
}

TEST(AbortLine, IsTheDocumentsWordForWord) {
  EXPECT_EQ(abort_line(8, {2, 3}),
            "ABORT!!! Out of all 8 trainers, the trainer process with rank=[2,3] was aborted. "
            "Please check its log.\n");
}

TEST(Culprits, AreThoseWhoFailedByThemselvesInAscendingOrder) {
  const std::vector<ProcessExit> exits = {ended(3, 7, 10), ended(1, 0, 11), ended(2, 9, 12),
                                          ended(0, 1, 13, true)};
  EXPECT_EQ(culprits(exits, eight_processes()), (std::vector<int>{2, 3}));
  EXPECT_EQ(victims(exits, eight_processes()), std::vector<int>{0});
}

TEST(FailureReport, TellsWhoWhereHowWhenAndShowsTheLog) {
  const std::vector<ProcessExit> exits = {ended(3, 7, 2500), ended(2, 9, 2512),
                                          ended(0, 0, 2600, true), ended(1, 0, 2600, true)};
  const std::string text = failure_report(
      exits[0], exits, eight_processes(),
      {.node = "node17", .when = "2026-11-16 06:09:36,185", .log_excerpt = "boom\n"});
  for (const char* part :
       {"rank      3 (local rank 3, CPU)", "node      node17", "pid       1003", "exit code 7",
        "2026-11-16 06:09:36,185, after 2.5 s", "rank 2: exit code 9, 12 ms later",
        "because of it: rank 0-1", "log/workerlog.3", "boom\n"}) {
    EXPECT_NE(text.find(part), std::string::npos) << part << " in\n" << text;
  }
}

TEST(FailureReport, EndsWithTheRankThatProbablyBeganIt) {
  const std::vector<ProcessExit> exits = {ended(3, 1, 2500), ended(2, 0, 2512, true)};
  const std::string text =
      failure_report(exits[0], exits, eight_processes(),
                     {.log_excerpt = "lost\n", .suspicion = Suspicion{2, "broken\n"}});
  EXPECT_NE(text.find("probably  rank 2 began it"), std::string::npos);
  EXPECT_LT(text.find("lost\n"), text.find("broken\n"));
}

TEST(FailureReport, SaysWhenThereIsNoLog) {
  const std::vector<ProcessExit> exits = {ended(0, 1, 1)};
  EXPECT_NE(failure_report(exits[0], exits, eight_processes(), {}).find("nothing was written"),
            std::string::npos);
  EXPECT_NE(failure_report(exits[0], exits, eight_processes(), {.log_readable = false})
                .find("cannot be read"),
            std::string::npos);
}

}  // namespace
}  // namespace paddle_launch
