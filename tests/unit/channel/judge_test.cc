// SPDX-License-Identifier: Apache-2.0
#include "launcher/channel/judge.h"

#include <gtest/gtest.h>

#include "tests/unit/channel/sample_messages.h"

namespace paddle_launch {
namespace {

using Kind = StopCause::Kind;
using std::chrono::microseconds;
using std::chrono::milliseconds;

const SteadyTime kStart{};

StopCause cause(Kind kind, int node, int status, int at_ms, const std::string& text) {
  return {kind, node, status, text, kStart + milliseconds(at_ms)};
}

PodEnding failed(int node, int rank, int status, int at_ms) {
  PodEnding ending;
  ending.own = cause(Kind::WorkerFailed, node, status, at_ms, "rank " + std::to_string(rank));
  FailureRecord record;
  record.rank = rank;
  ending.failures = {record};
  return ending;
}

std::vector<PodAccount> four_pods() {
  std::vector<PodAccount> pods;
  for (int node = 0; node < 4; ++node) {
    pods.push_back({.host = "10.0.0." + std::to_string(node + 1),
                    .names = names_of(Role::Trainer, {node * 2, node * 2 + 1}),
                    .ending = PodEnding{}});
  }
  return pods;
}

TEST(Judge, AllCompletedIsCompleted) {
  const JobVerdict verdict = judge(four_pods());
  EXPECT_EQ(verdict.first.kind, Kind::Completed);
  EXPECT_EQ(verdict.first.status, 0);
  EXPECT_TRUE(verdict.aborted.empty());
}

TEST(Judge, TheFirstFailureInTimeIsTheVerdictAndAllCulpritsAreNamed) {
  auto pods = four_pods();
  pods[1].ending = failed(1, 3, 9, 20);
  pods[2].ending = failed(2, 4, 7, 10);
  pods[0].ending->stopped = names_of(Role::Trainer, {0, 1});
  pods[2].ending->stopped = names_of(Role::Trainer, {5});
  const JobVerdict verdict = judge(pods);
  EXPECT_EQ(verdict.first.status, 7);
  EXPECT_EQ(verdict.first.node, 2);
  EXPECT_EQ(verdict.aborted, names_of(Role::Trainer, {3, 4}));
  EXPECT_EQ(verdict.stopped, names_of(Role::Trainer, {0, 1, 5}));
  ASSERT_EQ(verdict.failures.size(), 2U);
  EXPECT_EQ(verdict.failures.front().rank, 4);
  EXPECT_EQ(verdict.doubt, "");
}

TEST(Judge, NamesThoseWhoFailedLikeTheFirst) {
  auto pods = four_pods();
  pods[1].ending = failed(1, 3, 1, 20);
  pods[2].ending = failed(2, 4, 1, 10);
  pods[2].ending->failures.resize(2);
  pods[2].ending->failures[1].rank = 5;
  for (auto* pod : {&pods[1], &pods[2]}) {
    for (FailureRecord& record : pod->ending->failures) record.error = "RuntimeError: no memory";
  }
  pods[0].ending->failures = {FailureRecord{.rank = 1, .error = "ValueError"}};
  pods[2].ending->own_error = RootCauseHint{.rank = 5};  // it wrote the same a moment earlier
  const JobVerdict verdict = judge(pods);
  EXPECT_EQ(verdict.aborted, names_of(Role::Trainer, {1, 3, 4, 5}));
  EXPECT_EQ(verdict.same, names_of(Role::Trainer, {3, 5}));
  EXPECT_FALSE(verdict.hint);
}

TEST(Judge, SecondaryFailuresWereStoppedWhereSomebodyElseHasAReason) {
  auto pods = four_pods();
  pods[1].ending = failed(1, 2, 1, 10);
  pods[1].ending->failures.push_back(FailureRecord{.rank = 3});
  pods[1].ending->first_is_secondary = true;
  pods[1].ending->all_are_secondary = true;
  EXPECT_EQ(judge(pods).aborted, names_of(Role::Trainer, {2, 3})) << "all lost a neighbour";
  pods[2].ending->failures = {FailureRecord{.rank = 4}};  // it was stopped, and had an error before
  const JobVerdict verdict = judge(pods);
  EXPECT_EQ(verdict.first.node, 1);
  EXPECT_EQ(verdict.aborted, names_of(Role::Trainer, {2, 4}));
  EXPECT_EQ(verdict.stopped, names_of(Role::Trainer, {3}));
}

TEST(Judge, WhoSaysNothingIsNotAlike) {
  auto pods = four_pods();
  pods[1].ending = failed(1, 3, 1, 20);
  pods[2].ending = failed(2, 4, 1, 10);
  EXPECT_TRUE(judge(pods).same.empty());
}

TEST(Judge, SaysSoWhenTheClocksDoNotTellWhoWasFirst) {
  auto pods = four_pods();
  pods[1].ending = failed(1, 3, 9, 11);
  pods[1].error = microseconds(800);
  pods[2].ending = failed(2, 4, 7, 10);
  pods[2].error = microseconds(400);
  const JobVerdict verdict = judge(pods);
  EXPECT_EQ(verdict.first.status, 7);
  EXPECT_NE(verdict.doubt.find("rank 3"), std::string::npos) << verdict.doubt;
  EXPECT_NE(verdict.doubt.find("1.2 ms"), std::string::npos) << verdict.doubt;
  pods[1].error = microseconds(500);
  EXPECT_EQ(judge(pods).doubt, "");
}

TEST(Judge, ALostPodsRanksAreTheAbortedOnesAndWhoDiedOfItIsNot) {
  auto pods = four_pods();
  pods[3].ending.reset();
  pods[3].cause = cause(Kind::PodLost, 3, 75, 10, "node 10.0.0.4 was lost");
  pods[1].ending = failed(1, 2, 1, 15);
  const JobVerdict verdict = judge(pods);
  EXPECT_EQ(verdict.first.kind, Kind::PodLost);
  EXPECT_EQ(verdict.first.status, 75);
  EXPECT_EQ(verdict.aborted, names_of(Role::Trainer, {6, 7}));
  EXPECT_TRUE(verdict.failures.empty());
}

TEST(Judge, APodThatIsLostAfterwardsChangesNothing) {
  auto pods = four_pods();
  pods[1].ending = failed(1, 2, 5, 10);
  pods[3].ending.reset();
  pods[3].cause = cause(Kind::PodLost, 3, 75, 500, "node 10.0.0.4 was lost");
  const JobVerdict verdict = judge(pods);
  EXPECT_EQ(verdict.first.status, 5);
  EXPECT_EQ(verdict.aborted, names_of(Role::Trainer, {2}));
  EXPECT_EQ(verdict.silent, std::vector<std::string>{"10.0.0.4"});
}

TEST(Judge, NodesThatAreLostTogetherAreNamedTogether) {
  auto pods = four_pods();
  for (int node : {2, 3}) {
    auto& pod = pods[static_cast<std::size_t>(node)];
    pod.ending.reset();
    pod.cause = cause(Kind::PodLost, node, 75, 10 + node, "node " + pod.host + " was lost");
  }
  const JobVerdict verdict = judge(pods);
  EXPECT_EQ(verdict.first.text, "node 10.0.0.3 was lost; node 10.0.0.4 was lost");
  EXPECT_EQ(verdict.aborted, names_of(Role::Trainer, {4, 5, 6, 7}));
  EXPECT_TRUE(verdict.silent.empty());
}

TEST(Judge, AnInterruptAfterTheOwnEndCounts) {
  auto pods = four_pods();
  pods[2].cause = cause(Kind::Interrupted, 2, 130, 10, "interrupted");
  const JobVerdict verdict = judge(pods);
  EXPECT_EQ(verdict.first.status, 130);
  EXPECT_TRUE(verdict.aborted.empty());
}

TEST(Judge, CountsTheLaunchersThatWereAskedToEnd) {
  auto pods = four_pods();
  EXPECT_EQ(judge(pods).asked_to_end, 0);
  pods[0].ending->asked_to_end = true;
  EXPECT_EQ(judge(pods).asked_to_end, 1) << "after its processes had ended well";
  pods[1].ending = failed(1, 3, 9, 20);
  pods[1].ending->asked_to_end = true;
  EXPECT_EQ(judge(pods).asked_to_end, 2) << "after its trainer had failed";
  pods[2].ending->own = cause(Kind::Interrupted, 2, 143, 30, "interrupted");
  EXPECT_EQ(judge(pods).asked_to_end, 3) << "as it says in the end";
  pods[3].ending.reset();
  pods[3].cause = cause(Kind::Interrupted, 3, 130, 40, "interrupted");
  EXPECT_EQ(judge(pods).asked_to_end, 4) << "as it said before it went";
  EXPECT_EQ(judge(pods).first.kind, Kind::WorkerFailed);
}

TEST(Judge, ALauncherThatWasAskedToEndCountsOnce) {
  auto pods = four_pods();
  pods[2].ending->own = cause(Kind::Interrupted, 2, 143, 30, "interrupted");
  pods[2].ending->asked_to_end = true;
  pods[2].cause = pods[2].ending->own;
  EXPECT_EQ(judge(pods).asked_to_end, 1);
}

TEST(Judge, AnInterruptAfterAnEndOfItsOwnCountsAsWell) {
  auto pods = four_pods();
  pods[1].cause = cause(Kind::Interrupted, 1, 130, 10, "interrupted");
  EXPECT_EQ(judge(pods).asked_to_end, 1) << "its processes had ended well";
  pods[2].ending = failed(2, 4, 7, 20);
  pods[2].cause = cause(Kind::Interrupted, 2, 130, 30, "interrupted");
  EXPECT_EQ(judge(pods).asked_to_end, 2) << "its trainer had failed";
}

TEST(Judge, NobodyWasAskedToEndByALostNodeOrAFailure) {
  auto pods = four_pods();
  pods[1].ending = failed(1, 3, 9, 20);
  pods[1].cause = pods[1].ending->own;
  pods[3].ending.reset();
  pods[3].cause = cause(Kind::PodLost, 3, 75, 10, "node 10.0.0.4 was lost");
  EXPECT_EQ(judge(pods).asked_to_end, 0);
}

TEST(Judge, NamesWhoDidNotTellHowTheyEnded) {
  auto pods = four_pods();
  pods[1].ending = failed(1, 2, 5, 10);
  pods[3].ending.reset();
  EXPECT_EQ(judge(pods).silent, std::vector<std::string>{"10.0.0.4"});
}

TEST(Judge, ASecondaryFailurePointsToTheOwnErrorOfAnotherPod) {
  auto pods = four_pods();
  pods[0].ending = failed(0, 1, 1, 10);
  pods[0].ending->first_is_secondary = true;
  pods[2].ending->own_error =
      RootCauseHint{Role::Trainer, 5, "n3", "log/workerlog.5", "ValueError"};
  const JobVerdict verdict = judge(pods);
  ASSERT_TRUE(verdict.hint);
  EXPECT_EQ(verdict.hint->rank, 5);
  pods[0].ending->first_is_secondary = false;
  EXPECT_FALSE(judge(pods).hint);
}

TEST(Judge, TheRoleOfTheFirstFailureComesFirst) {
  auto pods = four_pods();
  pods[1].ending = failed(1, 1, 9, 10);
  pods[1].ending->failures.front().role = Role::Server;
  FailureRecord worker;
  worker.rank = 2;
  pods[1].ending->failures.push_back(worker);
  pods[2].ending = failed(2, 0, 7, 20);
  pods[2].ending->failures.front().role = Role::Server;
  const std::vector<ProcessName> servers_first = {
      {Role::Server, 0}, {Role::Server, 1}, {Role::Trainer, 2}};
  EXPECT_EQ(judge(pods).aborted, servers_first);
  std::swap(pods[1].ending->failures[0], pods[1].ending->failures[1]);
  const std::vector<ProcessName> workers_first = {
      {Role::Trainer, 2}, {Role::Server, 0}, {Role::Server, 1}};
  EXPECT_EQ(judge(pods).aborted, workers_first);
}

TEST(Judge, OfALostPodTheTrainersComeFirst) {
  auto pods = four_pods();
  pods[3].names = {
      {Role::HeterWorker, 0}, {Role::Server, 1}, {Role::Trainer, 4}, {Role::Server, 0}};
  pods[3].ending.reset();
  pods[3].cause = cause(Kind::PodLost, 3, 75, 10, "node 10.0.0.4 was lost");
  const std::vector<ProcessName> expected = {
      {Role::Trainer, 4}, {Role::Server, 0}, {Role::Server, 1}, {Role::HeterWorker, 0}};
  EXPECT_EQ(judge(pods).aborted, expected);
}

TEST(Judge, AServerIsNotSuspectedForTheRankOfTheSameNumber) {
  auto pods = four_pods();
  pods[0].ending = failed(0, 1, 1, 10);
  pods[0].ending->own_error =
      RootCauseHint{Role::Trainer, 1, "n1", "log/workerlog.1", "ValueError"};
  EXPECT_FALSE(judge(pods).hint) << "itself";
  pods[0].ending->own_error->role = Role::Server;
  ASSERT_TRUE(judge(pods).hint);
  EXPECT_EQ(judge(pods).hint->role, Role::Server);
}

TEST(Judge, WithoutCausesAllIsCompleted) {
  auto pods = four_pods();
  pods[1].ending = failed(1, 2, 1, 15);
  pods[1].ending->stopped = {{Role::Server, 1}};
  pods[2].cause = cause(Kind::Interrupted, 2, 130, 10, "interrupted");
  pods[3].ending.reset();
  pods[3].cause = cause(Kind::PodLost, 3, 75, 10, "node 10.0.0.4 was lost");
  const JobVerdict verdict = judge(without_causes(pods));
  EXPECT_EQ(verdict.first, StopCause{});
  EXPECT_TRUE(verdict.aborted.empty());
  EXPECT_TRUE(verdict.failures.empty());
  EXPECT_EQ(verdict.stopped, names_of(Role::Server, {1}));
}

}  // namespace
}  // namespace paddle_launch
