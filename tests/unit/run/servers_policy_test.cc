// SPDX-License-Identifier: Apache-2.0
// The rule of stopping in a job with servers.
#include <csignal>

#include <gtest/gtest.h>

#include "launcher/run/stop_policy.h"

namespace paddle_launch {
namespace {

using Order = StopPolicy::Order;
using std::chrono::milliseconds;

const SteadyTime kStart{};

ProcessPlan plan_of(std::vector<Role> roles, int held_back) {
  ProcessPlan plan;
  for (const Role role : roles) plan.processes.push_back({.role = role});
  plan.held_back = held_back;
  return plan;
}

// One server, two workers.
StopPolicy policy_with_server(bool scheduler = false) {
  return StopPolicy(crew_of(plan_of({Role::Server, Role::Trainer, Role::Trainer}, 2)), {},
                    scheduler);
}

TEST(CrewOf, CountsTrainersAsWorkersOnlyInAJobWithServers) {
  EXPECT_TRUE(crew_of(plan_of({Role::Trainer, Role::Trainer}, 0)).workers.empty());
  EXPECT_EQ(crew_of(plan_of({Role::Trainer, Role::Trainer}, 2)).workers, (std::set<int>{0, 1}));
  const auto mixed = crew_of(plan_of({Role::Server, Role::Trainer, Role::HeterWorker}, 2));
  EXPECT_EQ(mixed.workers, std::set<int>{1});
  EXPECT_EQ(mixed.held_back, 2);
  ProcessPlan elsewhere = plan_of({Role::Trainer}, 0);
  elsewhere.servers = 1;
  EXPECT_EQ(crew_of(elsewhere).workers, std::set<int>{0});
}

TEST(ServersPolicy, OnlyWhatWasStartedIsAlive) {
  StopPolicy policy = policy_with_server();
  EXPECT_EQ(policy.alive(), 1);
  EXPECT_TRUE(policy.rest_may_start());
  policy.rest_started();
  policy.rest_started();
  EXPECT_EQ(policy.alive(), 3);
  EXPECT_FALSE(policy.rest_may_start());
}

TEST(ServersPolicy, NothingIsStartedAfterAVerdict) {
  StopPolicy policy = policy_with_server();
  policy.interrupted(SIGTERM, kStart);
  EXPECT_FALSE(policy.rest_may_start());
  policy.rest_started();
  EXPECT_EQ(policy.alive(), 1);
}

TEST(ServersPolicy, AWorkerThatCannotBeStartedLeavesThoseBeforeIt) {
  StopPolicy policy = policy_with_server();
  policy.rest_started();
  EXPECT_EQ(policy.not_started({.worker = 2, .error = EAGAIN, .step = NotStarted::Step::Fork}),
            Order::Stop);
  EXPECT_EQ(policy.alive(), 2);
  StopPolicy first_wave = policy_with_server();
  first_wave.not_started({.worker = 0, .error = EAGAIN, .step = NotStarted::Step::Fork});
  EXPECT_EQ(first_wave.alive(), 0);
}

TEST(ServersPolicy, WorkersAreDoneWhenEachHasExitedWithZero) {
  StopPolicy policy = policy_with_server();
  EXPECT_FALSE(policy.workers_are_done());
  policy.rest_started();
  policy.worker_exited({.worker = 1});
  EXPECT_FALSE(policy.workers_are_done());
  policy.worker_exited({.worker = 2});
  EXPECT_TRUE(policy.workers_are_done());
}

TEST(ServersPolicy, APodWithoutWorkersIsNeverDone) {
  StopPolicy policy(crew_of(plan_of({Role::Server, Role::HeterWorker}, 1)));
  policy.rest_started();
  policy.worker_exited({.worker = 1});
  EXPECT_EQ(policy.worker_exited({.worker = 0}), Order::Nothing);
  EXPECT_FALSE(policy.workers_are_done());
}

TEST(ServersPolicy, AServerThatExitsWithZeroIsNothing) {
  StopPolicy policy = policy_with_server();
  EXPECT_EQ(policy.worker_exited({.worker = 0}), Order::Nothing);
  EXPECT_FALSE(policy.has_verdict());
  EXPECT_FALSE(policy.workers_are_done());
}

TEST(ServersPolicy, AServerThatFailsIsTheVerdict) {
  StopPolicy policy = policy_with_server();
  EXPECT_EQ(policy.worker_exited({.worker = 0, .code = 9}), Order::Stop);
  EXPECT_EQ(policy.job_completed(), Order::Nothing);
  EXPECT_EQ(exit_status(policy.outcome()), 9);
}

TEST(ServersPolicy, NothingThatHappensAfterTheJobIsCompleteIsAFailure) {
  StopPolicy policy = policy_with_server();
  policy.rest_started();
  policy.worker_exited({.worker = 1});
  policy.worker_exited({.worker = 2});
  EXPECT_EQ(policy.job_completed(), Order::Stop);
  EXPECT_EQ(policy.alive(), 1);
  EXPECT_EQ(policy.job_completed(), Order::Nothing);
  EXPECT_EQ(policy.job_stopped({.kind = StopCause::Kind::PodLost, .status = 75}), Order::Nothing);
  EXPECT_EQ(policy.worker_exited({.worker = 0, .signal = SIGSEGV}), Order::Nothing);
  EXPECT_EQ(policy.outcome(), Outcome(Completed{}));
  for (const ProcessExit& exit : policy.exits()) EXPECT_FALSE(exit.failed_by_itself());
}

TEST(ServersPolicy, AnInterruptAfterTheJobIsCompleteOnlyHurries) {
  StopPolicy policy = policy_with_server();
  policy.job_completed();
  EXPECT_EQ(policy.interrupted(SIGINT, kStart), Order::Nothing);
  EXPECT_EQ(policy.interrupted(SIGINT, kStart + milliseconds(1000)), Order::Kill);
  EXPECT_EQ(policy.outcome(), Outcome(Completed{}));
}

TEST(ServersPolicy, AServerInDoubtIsNotBlamedOnceTheJobIsComplete) {
  StopPolicy policy = policy_with_server(true);
  EXPECT_EQ(policy.worker_exited({.worker = 0, .signal = SIGTERM}), Order::WaitForSignal);
  EXPECT_EQ(policy.job_completed(), Order::Stop);
  EXPECT_EQ(policy.nothing_came(), Order::Nothing);
  EXPECT_FALSE(policy.is_waiting());
  EXPECT_FALSE(policy.exits().front().failed_by_itself());
}

}  // namespace
}  // namespace paddle_launch
