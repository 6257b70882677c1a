// SPDX-License-Identifier: Apache-2.0
#include "launcher/tell/words.h"

#include <cerrno>
#include <chrono>
#include <csignal>

#include <gtest/gtest.h>

namespace paddle_launch {
namespace {

ProcessPlan four_processes() {
  ProcessPlan plan;
  plan.program = "/usr/bin/python3";
  for (int rank = 0; rank < 4; ++rank) {
    plan.processes.push_back({.rank = rank, .log_path = "log/workerlog." + std::to_string(rank)});
  }
  return plan;
}

TEST(NameOf, SaysWhatItIs) {
  EXPECT_EQ(name_of({Role::Trainer, 3}), "rank 3");
  EXPECT_EQ(name_of({Role::Server, 1}), "server 1");
  EXPECT_EQ(name_of({Role::HeterWorker, 0}), "heter worker 0");
}

TEST(NamesInWords, GoRoleByRole) {
  EXPECT_EQ(names_in_words({}), "");
  EXPECT_EQ(names_in_words({{Role::Trainer, 1}, {Role::Trainer, 0}}), "rank 0-1");
  EXPECT_EQ(names_in_words({{Role::Server, 0},
                            {Role::Trainer, 0},
                            {Role::Trainer, 1},
                            {Role::HeterWorker, 4},
                            {Role::Trainer, 2},
                            {Role::Trainer, 5}}),
            "rank 0-2,5; server 0; heter worker 4");
}

TEST(DescribeOutcome, NamesAServer) {
  ProcessPlan plan = four_processes();
  plan.processes[3] = {.role = Role::Server, .rank = 1};
  EXPECT_EQ(describe(Outcome(Failed{{.worker = 3, .code = 7}}), plan),
            "server 1 failed: exit code 7");
  EXPECT_EQ(
      describe(Outcome(NotStarted{.worker = 3, .error = EAGAIN, .step = NotStarted::Step::Fork}),
               plan)
          .rfind("server 1 could not be started", 0),
      0U);
}

TEST(DescribeExit, SaysCodeSignalAndCore) {
  EXPECT_EQ(describe(ProcessExit{.code = 7}), "exit code 7");
  EXPECT_EQ(describe(ProcessExit{.signal = SIGSEGV, .core_dumped = true}),
            "killed by SIGSEGV (core dumped)");
  EXPECT_EQ(describe(ProcessExit{.signal = SIGTERM}), "killed by SIGTERM");
}

TEST(DescribeExit, SuspectsTheOomKiller) {
  EXPECT_EQ(describe(ProcessExit{.code = 137}), "exit code 137: probably killed by the OOM killer");
  EXPECT_EQ(describe(ProcessExit{.signal = SIGKILL}),
            "killed by SIGKILL: probably killed by the OOM killer");
  EXPECT_EQ(describe(ProcessExit{.signal = SIGKILL}, 0),
            "killed by SIGKILL (not by the kernel's OOM killer)");
  EXPECT_NE(describe(ProcessExit{.signal = SIGKILL}, 1).find("the kernel counted one"),
            std::string::npos);
  EXPECT_EQ(describe(ProcessExit{.signal = SIGKILL, .was_told_to_stop = true}),
            "killed by SIGKILL");
}

TEST(DescribeOutcome, NamesTheRank) {
  EXPECT_EQ(describe(Outcome(Failed{{.worker = 3, .code = 7}}), four_processes()),
            "rank 3 failed: exit code 7");
  EXPECT_EQ(describe(Outcome(Interrupted{SIGTERM}), four_processes()),
            "the launcher was stopped by SIGTERM");
}

ProcessPlan second_of_two_nodes() {
  ProcessPlan plan = four_processes();
  plan.host = "192.168.0.2";
  plan.nodes = 2;
  return plan;
}

TEST(DescribeOutcome, NamesTheNodeWhenThereAreSeveral) {
  const ProcessPlan plan = second_of_two_nodes();
  EXPECT_EQ(describe(Outcome(Failed{{.worker = 3, .code = 7}}), plan),
            "rank 3 on 192.168.0.2 failed: exit code 7");
  EXPECT_EQ(describe(Outcome(Interrupted{SIGINT}), plan),
            "the launcher on 192.168.0.2 was stopped by SIGINT");
  EXPECT_EQ(
      describe(Outcome(GuardLost{}), plan).find("the guard process (pl-guard) on 192.168.0.2"), 0U);
  EXPECT_EQ(
      describe(Outcome(NotStarted{.worker = 2, .error = EAGAIN, .step = NotStarted::Step::Fork}),
               plan)
          .find("rank 2 on 192.168.0.2 could not be started: fork"),
      0U);
}

TEST(DescribeOutcome, RepeatsAnotherPodsCauseFitForATerminal) {
  EXPECT_EQ(describe(Outcome(JobStopped{{.text = "rank 5\x1b[2J\nfailed"}}), four_processes()),
            "rank 5\\x1b[2J failed");
}

TEST(VerdictLine, CountsWhoIsStopped) {
  const Outcome failed = Failed{{.worker = 3, .code = 7}};
  EXPECT_EQ(verdict_line(failed, four_processes(), 0), "rank 3 failed: exit code 7");
  EXPECT_EQ(verdict_line(failed, four_processes(), 1),
            "rank 3 failed: exit code 7; stopping 1 other");
  EXPECT_EQ(verdict_line(failed, four_processes(), 3),
            "rank 3 failed: exit code 7; stopping 3 others");
  EXPECT_EQ(verdict_line(failed, second_of_two_nodes(), 3),
            "rank 3 on 192.168.0.2 failed: exit code 7; stopping 3 others here");
}

TEST(VerdictLine, SaysHereWhenTheCauseIsElsewhere) {
  const Outcome stopped = JobStopped{{.text = "rank 5 on 192.168.0.2 failed: exit code 7"}};
  EXPECT_EQ(verdict_line(stopped, four_processes(), 4),
            "rank 5 on 192.168.0.2 failed: exit code 7; stopping 4 here");
  EXPECT_EQ(verdict_line(stopped, four_processes(), 0),
            "rank 5 on 192.168.0.2 failed: exit code 7");
}

TEST(MakeStopCause, CarriesKindStatusAndText) {
  const SteadyTime at = SteadyTime{} + std::chrono::seconds(5);
  const ProcessPlan plan = second_of_two_nodes();
  EXPECT_EQ(stop_cause(Failed{{.worker = 1, .code = 7}}, plan, 1, at),
            (StopCause{.kind = StopCause::Kind::WorkerFailed,
                       .node = 1,
                       .status = 7,
                       .text = "rank 1 on 192.168.0.2 failed: exit code 7",
                       .at = at}));
  EXPECT_EQ(stop_cause(Interrupted{SIGTERM}, plan, 1, at).kind, StopCause::Kind::Interrupted);
  EXPECT_EQ(stop_cause(Interrupted{SIGTERM}, plan, 1, at).status, 143);
  EXPECT_EQ(stop_cause(GuardLost{}, plan, 1, at).kind, StopCause::Kind::GuardLost);
  EXPECT_EQ(
      stop_cause(NotStarted{.error = ENOENT, .step = NotStarted::Step::Execute}, plan, 1, at).kind,
      StopCause::Kind::NotStarted);
  EXPECT_EQ(stop_cause(NotStarted{.error = ENOENT, .step = NotStarted::Step::Execute}, plan, 1, at)
                .status,
            127);
  EXPECT_EQ(stop_cause(Completed{}, plan, 1, at).kind, StopCause::Kind::Completed);
  EXPECT_NE(stop_cause(Failed{{.signal = SIGKILL}}, plan, 1, at, 1).text.find("the kernel counted"),
            std::string::npos);
}

TEST(MakeStopCause, PassesAnotherPodsCauseOnUnchanged) {
  const StopCause theirs{
      .kind = StopCause::Kind::PodLost, .node = 3, .status = 75, .text = "10.0.0.3 was lost"};
  EXPECT_EQ(stop_cause(JobStopped{theirs}, second_of_two_nodes(), 1, SteadyTime::max()), theirs);
}

TEST(DescribeNotStarted, NamesRankStepReasonAndRemedy) {
  const ProcessPlan plan = four_processes();
  const std::string fork =
      describe(NotStarted{.worker = 2, .error = EAGAIN, .step = NotStarted::Step::Fork}, plan);
  EXPECT_EQ(fork.find("rank 2 could not be started: fork: Resource temporarily unavailable"), 0U);
  EXPECT_NE(fork.find("RLIMIT_NPROC"), std::string::npos);
  EXPECT_NE(
      describe(NotStarted{.worker = 0, .error = ENOENT, .step = NotStarted::Step::Execute}, plan)
          .find("execute /usr/bin/python3: No such file"),
      std::string::npos);
}

TEST(HowLong, HasTwoUnitsAtMost) {
  EXPECT_EQ(how_long(std::chrono::seconds(12)), "12 s");
  EXPECT_EQ(how_long(std::chrono::seconds(125)), "2 min 5 s");
  EXPECT_EQ(how_long(std::chrono::seconds(3780)), "1 h 3 min");
}

TEST(SomeOf, CountsWhomItDoesNotName) {
  EXPECT_EQ(some_of({"a", "b"}, 2, 6), "a, b");
  EXPECT_EQ(some_of({"a", "b", "c"}, 3, 2), "a, b, … 1 more");
  EXPECT_EQ(some_of({"a"}, 18, 6), "a, … 17 more");
  EXPECT_EQ(some_of({}, 0, 6), "");
}

}  // namespace
}  // namespace paddle_launch
