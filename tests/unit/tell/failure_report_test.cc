// SPDX-License-Identifier: Apache-2.0
#include "launcher/tell/failure_report.h"

#include <chrono>
#include <utility>

#include <gtest/gtest.h>

#include "tests/unit/tell/has.h"

namespace paddle_launch {
namespace {

using Kind = StopCause::Kind;

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

FailureRecord failed(int rank, int code, int after_ms, const std::string& node = "node17") {
  const ProcessPlan plan = eight_processes();
  return failure_record(ended(rank, code, after_ms),
                        plan.processes.at(static_cast<std::size_t>(rank)),
                        {.node = node, .when = "2026-11-16 06:09:36,185"});
}

JobVerdict verdict_on(std::vector<FailureRecord> failures) {
  return {.first = {.kind = Kind::WorkerFailed, .text = "rank 3 failed: exit code 7"},
          .failures = std::move(failures)};
}

std::vector<ProcessName> ranks(const std::vector<int>& all) {
  std::vector<ProcessName> names;
  for (const int rank : all) names.push_back({Role::Trainer, rank});
  return names;
}

TEST(AbortLine, IsTheDocumentsWordForWord) {
  EXPECT_EQ(abort_line(8, ranks({2, 3})),
            "ABORT!!! Out of all 8 trainers, the trainer process with rank=[2,3] was aborted. "
            "Please check its log.\n");
}

TEST(AbortLine, NamesTheRoleOfTheFirst) {
  EXPECT_EQ(abort_line(8, {{Role::Server, 2}, {Role::Trainer, 0}}),
            "ABORT!!! Out of all 8 trainers, the server process with index=[2] was aborted. Please "
            "check its log.\n");
  EXPECT_EQ(
      abort_line(8, {{Role::HeterWorker, 0}, {Role::HeterWorker, 2}, {Role::Server, 1}}),
      "ABORT!!! Out of all 8 trainers, the heter worker process with index=[0,2] was aborted. "
      "Please check its log.\n");
}

TEST(Victims, AreThoseWhoWereToldToStopInAscendingOrder) {
  const std::vector<ProcessExit> exits = {ended(3, 7, 10), ended(1, 0, 11), ended(2, 9, 12, true),
                                          ended(0, 1, 13, true)};
  EXPECT_EQ(victims(exits, eight_processes()), ranks({0, 2}));
  std::vector<ProcessExit> one_had_failed = exits;
  one_had_failed[2].had_failed = true;
  EXPECT_EQ(victims(one_had_failed, eight_processes()), ranks({0}));
}

TEST(CardsOf, NamesTheCardsOrTheCpu) {
  EXPECT_EQ(cards_of({}), "CPU");
  EXPECT_EQ(cards_of({.cards = {{"0", "0", {}}, {"3", "3", {}}}}), "card 0,3");
}

TEST(MakeFailureRecord, JoinsExitPlanAndFacts) {
  const FailureRecord record = failure_record(
      ended(3, 7, 10), {.rank = 11, .local_rank = 3, .log_path = "log/workerlog.3"},
      {.node = "node17", .when = "now", .log_excerpt = "boom\n", .log_readable = true});
  EXPECT_EQ(record, (FailureRecord{.exit = ended(3, 7, 10),
                                   .rank = 11,
                                   .local_rank = 3,
                                   .node = "node17",
                                   .cards = "CPU",
                                   .when = "now",
                                   .log_path = "log/workerlog.3",
                                   .log_excerpt = "boom\n"}));
}

TEST(FailureReport, TellsWhoWhereHowWhenAndShowsTheLog) {
  JobVerdict verdict = verdict_on({failed(3, 7, 2500), failed(2, 9, 2512)});
  verdict.stopped = ranks({0, 1});
  verdict.failures.front().log_excerpt = "boom\n";
  EXPECT_EQ(failure_report(verdict, 1),
            "  rank      3 (local rank 3, CPU)\n"
            "  node      node17\n"
            "  pid       1003\n"
            "  what      exit code 7\n"
            "  when      2026-11-16 06:09:36,185, after 2.5 s\n"
            "  also      rank 2: exit code 9, 12 ms later; log log/workerlog.2\n"
            "  stopped   because of it: rank 0-1\n"
            "  log       log/workerlog.3, its end:\n"
            "  --------------------------------------------------------------------\n"
            "boom\n"
            "  --------------------------------------------------------------------\n");
}

TEST(FailureReport, NamesThoseWithTheSameErrorInOneLine) {
  JobVerdict verdict = verdict_on({failed(2, 1, 2500), failed(0, 1, 2503), failed(1, 1, 2503),
                                   failed(3, 1, 2504), failed(5, 9, 2504)});
  verdict.same = ranks({0, 1, 3});
  const std::string text = failure_report(verdict, 1);
  EXPECT_TRUE(has(text,
                  "  same      rank 0-1,3 have the same error\n"
                  "  also      rank 5: exit code 9, 4 ms later; log log/workerlog.5\n"))
      << text;
  EXPECT_FALSE(has(text, "also      rank 0")) << text;
  verdict.same = ranks({3});
  EXPECT_TRUE(has(failure_report(verdict, 1), "  same      rank 3 has the same error\n"));
}

TEST(FailureReport, SaysOfWhomWeStoppedThatItHadAnErrorBefore) {
  JobVerdict verdict = verdict_on({failed(3, 1, 2500), failed(5, 143, 2504)});
  verdict.failures[1].exit.was_told_to_stop = true;
  EXPECT_TRUE(has(failure_report(verdict, 1),
                  "  also      rank 5: an error of its own, before it was stopped; log "
                  "log/workerlog.5\n"));
}

TEST(FailureReport, EndsWithTheRankThatProbablyBeganIt) {
  JobVerdict verdict = verdict_on({failed(3, 1, 2500)});
  verdict.failures.front().log_excerpt = "lost\n";
  verdict.hint = RootCauseHint{Role::Trainer, 2, "node18", "log/workerlog.2", "broken"};
  const std::string text = failure_report(verdict, 1);
  EXPECT_TRUE(
      has(text, "probably  rank 2 began it, with an error of its own; log log/workerlog.2"));
  EXPECT_LT(text.find("lost\n"), text.find("broken\n  ---"));
  EXPECT_TRUE(has(failure_report(verdict, 2), "probably  rank 2 on node18 began it"));
}

TEST(FailureReport, CallsServersAndHeterWorkersByTheirNames) {
  JobVerdict verdict = verdict_on({failed(0, 7, 2500), failed(2, 9, 2512)});
  verdict.failures[0].role = Role::Server;
  verdict.failures[1].role = Role::HeterWorker;
  verdict.stopped = {{Role::Trainer, 0}, {Role::Trainer, 1}, {Role::Server, 1}};
  verdict.hint = RootCauseHint{Role::Server, 3, "node18", "log/serverlog.3", "broken"};
  const std::string text = failure_report(verdict, 1);
  EXPECT_EQ(text.rfind("  server    0 (CPU)\n  node      node17\n", 0), 0U) << text;
  EXPECT_TRUE(has(text, "  also      heter worker 2: exit code 9"));
  EXPECT_TRUE(has(text, "  stopped   because of it: rank 0-1; server 1\n"));
  EXPECT_TRUE(has(text, "  probably  server 3 began it"));
  verdict.failures[0].role = Role::HeterWorker;
  EXPECT_EQ(failure_report(verdict, 1).rfind("  heter     0 (CPU)\n", 0), 0U);
}

TEST(FailureReport, NamesEveryRoleThatWasLostWithANode) {
  const JobVerdict verdict{.first = {.kind = Kind::PodLost, .text = "node n3 was lost: reset"},
                           .aborted = {{Role::Trainer, 2}, {Role::Server, 2}},
                           .failures = {failed(2, 1, 7)}};
  EXPECT_TRUE(has(failure_report(verdict, 3), "  lost      server 2 (it was running there"));
}

TEST(FailureReport, SaysWhenThereIsNoLog) {
  JobVerdict verdict = verdict_on({failed(0, 1, 1)});
  EXPECT_TRUE(has(failure_report(verdict, 1), "log/workerlog.0 (nothing was written to it)"));
  verdict.failures.front().log_readable = false;
  EXPECT_TRUE(has(failure_report(verdict, 1), "log/workerlog.0 (cannot be read)"));
}

TEST(FailureReport, ComparesTimesOnlyWithinANode) {
  const std::string text = failure_report(
      verdict_on({failed(3, 7, 2500), failed(2, 9, 2512), failed(5, 1, 99'000, "node18")}), 2);
  EXPECT_TRUE(has(text, "also      rank 2 on node17: exit code 9, 12 ms later; log")) << text;
  EXPECT_TRUE(has(text, "also      rank 5 on node18: exit code 1; log")) << text;
}

TEST(FailureReport, SurvivesTimesThatCannotBe) {
  JobVerdict verdict = verdict_on({failed(3, 7, 5), failed(2, 9, 2)});
  EXPECT_TRUE(has(failure_report(verdict, 1), "exit code 9, 3 ms earlier"));
  verdict.failures.front().exit.started = SteadyTime::max();
  verdict.failures.front().exit.ended = SteadyTime::min();
  EXPECT_TRUE(has(failure_report(verdict, 1), "rank      3"));
}

TEST(FailureReport, SumsUpWhenAThousandFailed) {
  std::vector<FailureRecord> failures;
  for (int rank = 0; rank < 1000; ++rank) {
    failures.push_back(failed(0, 1, 1));
    failures.back().rank = rank;
  }
  const std::string text = failure_report(verdict_on(failures), 1);
  EXPECT_TRUE(has(text, "also      rank 32: exit code 1"));
  EXPECT_TRUE(has(text, "also      rank 33-999\n"));
}

TEST(FailureReport, SaysWhyTheFirstIsNotCertain) {
  JobVerdict verdict = verdict_on({failed(3, 7, 5)});
  verdict.doubt = "rank 5 on 10.0.0.2 failed within 0.4 ms of it";
  EXPECT_TRUE(has(failure_report(verdict, 2),
                  "  first?    rank 5 on 10.0.0.2 failed within 0.4 ms of it\n"));
}

TEST(FailureReport, NamesWhoDidNotTellHowItEnded) {
  JobVerdict verdict = verdict_on({failed(3, 7, 5)});
  verdict.silent = {"10.0.0.3"};
  EXPECT_TRUE(has(failure_report(verdict, 2), "  silent    10.0.0.3 did not tell how it ended\n"));
  verdict.silent = {"10.0.0.3", "10.0.0.4"};
  EXPECT_TRUE(has(failure_report(verdict, 3),
                  "  silent    10.0.0.3, 10.0.0.4 did not tell how they ended\n"));
}

TEST(FailureReport, TellsOfALostNodeThatItsRanksDidNotFail) {
  const JobVerdict verdict{.first = {.kind = Kind::PodLost,
                                     .status = 75,
                                     .text = "node 192.168.0.3 was lost: no answer for 8 s"},
                           .aborted = ranks({4, 5}),
                           .stopped = ranks({0, 1, 2, 3})};
  EXPECT_EQ(failure_report(verdict, 3),
            "  what      node 192.168.0.3 was lost: no answer for 8 s\n"
            "  lost      rank 4-5 (they were running there; they did not fail by themselves)\n"
            "  stopped   because of it: rank 0-3\n");
}

TEST(FailureReport, ListsTheFailuresBesidesALostNode) {
  const JobVerdict verdict{
      .first = {.kind = Kind::PodLost, .text = "node 10.0.0.3 was lost: reset"},
      .aborted = ranks({2, 4}),
      .failures = {failed(2, 1, 7)},
      .silent = {"10.0.0.30"}};
  EXPECT_EQ(failure_report(verdict, 3),
            "  what      node 10.0.0.3 was lost: reset\n"
            "  lost      rank 4 (it was running there; it did not fail by itself)\n"
            "  also      rank 2 on node17: exit code 1; log log/workerlog.2\n"
            "  silent    10.0.0.30 did not tell how it ended\n");
}

TEST(FailureReport, KeepsToTheCauseWhenItsNodeDidNotTellMore) {
  JobVerdict verdict = verdict_on({});
  EXPECT_EQ(failure_report(verdict, 2),
            "  what      rank 3 failed: exit code 7\n"
            "  log       on its node, which did not tell more\n");
  verdict.first = {.kind = Kind::Interrupted, .text = "the launcher on n1 was stopped by SIGINT"};
  EXPECT_EQ(failure_report(verdict, 2), "  what      the launcher on n1 was stopped by SIGINT\n");
}

TEST(FailureReport, LetsNoOtherMachineForgeLinesOrColours) {
  FailureRecord record = failed(3, 7, 5, "evil\n  pid       1\x1b[2J");
  record.cards = record.when = record.log_path = "a\nb\x07";
  record.log_excerpt = "tab\there\x1b[2J";
  JobVerdict verdict = verdict_on({record, record});
  verdict.doubt = "d\n\x1b";
  verdict.silent = {"s\n\x1b"};
  verdict.hint = RootCauseHint{Role::Trainer, 2, "n\n\x1b", "p\n\x1b", "e\x1b\n"};
  const std::string text = failure_report(verdict, 2);
  EXPECT_EQ(text.find_first_of("\x1b\x07"), std::string::npos);
  EXPECT_FALSE(has(text, "\n  pid       1\\x1b"));
  EXPECT_TRUE(has(text, "\ntab\there\\x1b[2J\n"));
}

TEST(FailureReport, WithoutALogSaysWhereItsOutputWent) {
  JobVerdict verdict;
  verdict.first = {.kind = Kind::WorkerFailed, .status = 7, .text = "rank 2 failed: exit code 7"};
  verdict.failures = {failed(2, 7, 1000), failed(3, 1, 1200)};
  for (FailureRecord& failure : verdict.failures) failure.log_path.clear();
  const std::string text = failure_report(verdict, 1);
  EXPECT_NE(text.find("  log       none: it wrote straight to the console"), std::string::npos);
  EXPECT_NE(text.find("rank 3: exit code 1, 200 ms later\n"), std::string::npos) << text;
}

}  // namespace
}  // namespace paddle_launch
