// SPDX-License-Identifier: Apache-2.0
#include "launcher/run/stop_policy.h"

#include <csignal>

#include <gtest/gtest.h>

namespace paddle_launch {
namespace {

using Order = StopPolicy::Order;
using std::chrono::milliseconds;

const SteadyTime kStart{};

TEST(StopPolicy, AnEarlyExitWithZeroIsFine) {
  StopPolicy policy(2);
  EXPECT_EQ(policy.worker_exited({.worker = 0}), Order::Nothing);
  EXPECT_EQ(policy.worker_exited({.worker = 1}), Order::Nothing);
  EXPECT_EQ(policy.outcome(), Outcome(Completed{}));
  EXPECT_EQ(policy.alive(), 0);
}

TEST(StopPolicy, FirstFailureIsTheVerdict) {
  StopPolicy policy(3);
  EXPECT_EQ(policy.worker_exited({.worker = 2, .code = 7}), Order::Stop);
  EXPECT_EQ(policy.worker_exited({.worker = 0, .signal = SIGTERM, .was_told_to_stop = true}),
            Order::Nothing);
  EXPECT_EQ(policy.outcome(), Outcome(Failed{{.worker = 2, .code = 7}}));
}

TEST(StopPolicy, AnInterruptAfterAFailureDoesNotChangeTheVerdict) {
  StopPolicy policy(2);
  policy.worker_exited({.worker = 1, .code = 7});
  EXPECT_EQ(policy.interrupted(SIGINT, kStart), Order::Nothing);
  EXPECT_EQ(exit_status(policy.outcome()), 7);
}

TEST(StopPolicy, ASecondInterruptKillsWhenItComesLateEnough) {
  StopPolicy policy(1);
  EXPECT_EQ(policy.interrupted(SIGINT, kStart), Order::Stop);
  EXPECT_EQ(policy.interrupted(SIGINT, kStart + milliseconds(499)), Order::Nothing);
  EXPECT_EQ(policy.interrupted(SIGQUIT, kStart + milliseconds(500)), Order::Kill);
  EXPECT_EQ(policy.outcome(), Outcome(Interrupted{SIGINT}));
}

TEST(StopPolicy, RepeatedTermAndHangupChangeNothing) {
  for (const int signal : {SIGTERM, SIGHUP}) {
    StopPolicy policy(1);
    EXPECT_EQ(policy.interrupted(signal, kStart), Order::Stop);
    EXPECT_EQ(policy.interrupted(signal, kStart + milliseconds(6)), Order::Nothing);
    EXPECT_EQ(policy.interrupted(signal, kStart + milliseconds(60'000)), Order::Nothing);
  }
}

TEST(StopPolicy, AnInterruptAfterTermIsTheFirstOfItsKind) {
  StopPolicy policy(1);
  EXPECT_EQ(policy.interrupted(SIGTERM, kStart), Order::Stop);
  EXPECT_EQ(policy.interrupted(SIGINT, kStart + milliseconds(1000)), Order::Nothing);
  EXPECT_EQ(policy.interrupted(SIGINT, kStart + milliseconds(2000)), Order::Kill);
}

TEST(StopPolicy, AProcessThatCannotBeStartedStopsTheOthers) {
  StopPolicy policy(2);
  EXPECT_EQ(policy.not_started({.worker = 1, .error = EAGAIN, .step = NotStarted::Step::Fork}),
            Order::Stop);
  EXPECT_EQ(exit_status(policy.outcome()), 1);
  EXPECT_EQ(policy.alive(), 1) << "only the one before it was started";
}

TEST(StopPolicy, ControlCAtTheTrainersTerminalIsTheUsersWishNotAFailure) {
  StopPolicy policy(1, 0);
  EXPECT_EQ(policy.worker_exited({.worker = 0, .signal = SIGINT}), Order::Stop);
  EXPECT_EQ(policy.outcome(), Outcome(Interrupted{SIGINT}));
  StopPolicy without_terminal(1);
  without_terminal.worker_exited({.worker = 0, .signal = SIGINT});
  EXPECT_TRUE(std::holds_alternative<Failed>(without_terminal.outcome()));
}

TEST(StopPolicy, AWorkerThatTheSchedulerSignalledIsNotBlamed) {
  StopPolicy policy(2, {}, true);
  EXPECT_EQ(policy.worker_exited({.worker = 1, .signal = SIGTERM}), Order::WaitForSignal);
  EXPECT_TRUE(policy.is_waiting());
  EXPECT_EQ(policy.interrupted(SIGTERM, kStart), Order::Stop);
  EXPECT_EQ(policy.outcome(), Outcome(Interrupted{SIGTERM}));
  EXPECT_EQ(policy.worker_exited({.worker = 0, .code = 128 + SIGTERM}), Order::Nothing);
  for (const ProcessExit& exit : policy.exits()) EXPECT_FALSE(exit.failed_by_itself());
}

TEST(StopPolicy, NorWhenAnotherNodeHeardOfTheSignalFirst) {
  StopPolicy policy(1, {}, true);
  policy.worker_exited({.worker = 0, .signal = SIGTERM});
  const StopCause cause{.kind = StopCause::Kind::Interrupted, .status = 128 + SIGTERM};
  EXPECT_EQ(policy.job_stopped(cause), Order::Stop);
  EXPECT_FALSE(policy.exits().front().failed_by_itself());
}

TEST(StopPolicy, ASignalForOneWorkerAloneIsItsFailure) {
  StopPolicy policy(2, {}, true);
  policy.worker_exited({.worker = 1, .signal = SIGTERM});
  EXPECT_EQ(policy.nothing_came(), Order::Stop);
  EXPECT_EQ(policy.outcome(), Outcome(Failed{{.worker = 1, .signal = SIGTERM}}));
  EXPECT_EQ(policy.nothing_came(), Order::Nothing);
}

TEST(StopPolicy, WhoIsSecondaryIsNotTheCauseWhenTheOneThatItLostEndsAfterIt) {
  StopPolicy policy(3);
  EXPECT_EQ(policy.worker_exited({.worker = 0, .signal = SIGABRT}, true), Order::WaitForCause);
  EXPECT_TRUE(policy.is_waiting());
  EXPECT_EQ(policy.worker_exited({.worker = 2, .code = 1}), Order::Stop);
  EXPECT_EQ(policy.outcome(), Outcome(Failed{{.worker = 2, .code = 1}}));
  EXPECT_FALSE(policy.exits()[0].failed_by_itself());
  EXPECT_TRUE(policy.exits()[1].failed_by_itself());
}

TEST(StopPolicy, NorWhenTheCauseIsOnAnotherNode) {
  StopPolicy policy(1);
  policy.worker_exited({.worker = 0, .code = 1}, true);
  const StopCause cause{.kind = StopCause::Kind::WorkerFailed, .node = 1, .status = 7};
  EXPECT_EQ(policy.job_stopped(cause), Order::Stop);
  EXPECT_EQ(policy.outcome(), Outcome(JobStopped{cause}));
  EXPECT_FALSE(policy.exits().front().failed_by_itself());
}

TEST(StopPolicy, WhoLostANeighbourFirstIsTheCauseWhenNobodyElseIs) {
  StopPolicy policy(2);
  policy.worker_exited({.worker = 1, .code = 1}, true);
  EXPECT_EQ(policy.worker_exited({.worker = 0, .code = 1}, true), Order::WaitForCause);
  EXPECT_EQ(policy.nothing_came(), Order::Stop);
  EXPECT_EQ(policy.outcome(), Outcome(Failed{{.worker = 1, .code = 1}}));
  for (const ProcessExit& exit : policy.exits()) EXPECT_TRUE(exit.failed_by_itself());
}

TEST(StopPolicy, ASecondaryFailureAfterTheVerdictChangesNothing) {
  StopPolicy policy(2);
  policy.worker_exited({.worker = 1, .code = 7});
  EXPECT_EQ(policy.worker_exited({.worker = 0, .code = 1}, true), Order::Nothing);
  EXPECT_EQ(policy.outcome(), Outcome(Failed{{.worker = 1, .code = 7}}));
}

TEST(StopPolicy, OnlyASchedulerGivesReasonToDoubt) {
  StopPolicy policy(1);
  EXPECT_EQ(policy.worker_exited({.worker = 0, .signal = SIGTERM}), Order::Stop);
}

}  // namespace
}  // namespace paddle_launch
