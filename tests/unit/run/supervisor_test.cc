// SPDX-License-Identifier: Apache-2.0
// A pod of a job with servers, from its first process to its last.
#include "launcher/run/supervisor.h"

#include <functional>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "tests/unit/run/small_pod.h"

namespace paddle_launch {
namespace {

class PodWithServers : public testing::Test, public Supervisor::Observer {
 protected:
  // Runs the pod. When its workers are done, the job is complete.
  RoundResult run(bool completes_job = true) {
    completes_job_ = completes_job;
    Guard guard(pod_.plan(), pod_.settings());
    Console console({}, {});
    SignalWatch signals({SIGTERM});
    const Terminal terminal(false);
    supervisor_.emplace(loop_, guard, console, signals, terminal, StopPolicy(crew_of(pod_.plan())),
                        *this);
    RoundResult result = supervisor_->run(patience_);
    supervisor_.reset();
    console.finish(signals);
    guard.wait_for_end();
    return result;
  }
  void on_watching() override {
    supervisor_->start_rest();
    if (begin_) begin_();
  }
  void on_outcome(const Outcome& outcome, int others) override {
    said_.push_back(std::to_string(exit_status(outcome)) + " " + std::to_string(others));
  }
  void on_workers_done() override {
    said_.emplace_back("done");
    if (completes_job_) supervisor_->job_completed();
  }
  void on_good_exit(int process) override {
    if (throws_) throw std::logic_error("a bug");
    ended_well_.push_back(process);
  }

  void wait_for_verdict() {
    if (!said_.empty()) throw std::runtime_error("too late");
    loop_.after(std::chrono::milliseconds(1), [this] { wait_for_verdict(); });
  }

  SmallPod pod_;
  EventLoop loop_;
  std::optional<Supervisor> supervisor_;
  bool completes_job_ = true;
  std::vector<std::string> said_;
  std::vector<int> ended_well_;
  bool throws_ = false;  // when a process has ended well
  std::function<void()> begin_;
  std::chrono::milliseconds patience_ = std::chrono::seconds(30);
};

using Said = std::vector<std::string>;

TEST_F(PodWithServers, IsCompleteWhenItsWorkersAre) {
  pod_.add(Role::Server, "exec sleep 60").add(Role::Trainer, "true").add(Role::Trainer, "sleep .1");
  pod_.hold_back(2);
  const RoundResult result = run();
  EXPECT_EQ(result.outcome, Outcome(Completed{}));
  EXPECT_EQ(said_, (Said{"done", "0 1"}));
  EXPECT_EQ(ended_well_, (std::vector<int>{1, 2}));
  ASSERT_EQ(result.exits.size(), 3U);
  for (const ProcessExit& exit : result.exits) EXPECT_FALSE(exit.failed_by_itself());
}

TEST_F(PodWithServers, OfWorkersAloneStopsNobody) {
  pod_.add(Role::Trainer, "true").hold_back(1);
  EXPECT_EQ(run().outcome, Outcome(Completed{}));
  EXPECT_EQ(said_, Said{"done"});
}

TEST_F(PodWithServers, LeavesBeforeTheJobIsComplete) {
  pod_.add(Role::Server, "true").add(Role::Trainer, "true").hold_back(1);
  EXPECT_EQ(run(false).outcome, Outcome(Completed{}));
  EXPECT_EQ(said_, Said{"done"});
}

TEST_F(PodWithServers, FailsWithItsWorkers) {
  pod_.add(Role::Server, "exec sleep 60").add(Role::Trainer, "exit 7").hold_back(1);
  EXPECT_EQ(exit_status(run().outcome), 7);
  EXPECT_EQ(said_, Said{"7 1"});
}

TEST_F(PodWithServers, FailsWithItsServers) {
  pod_.add(Role::Server, "sleep .1; exit 9").add(Role::Trainer, "exec sleep 60").hold_back(1);
  EXPECT_EQ(exit_status(run().outcome), 9);
  EXPECT_EQ(said_, Said{"9 1"});
}

TEST_F(PodWithServers, WithoutProcessesHasNothingToSay) {
  EXPECT_EQ(run().outcome, Outcome(Completed{}));
  EXPECT_TRUE(said_.empty());
}

TEST_F(PodWithServers, ABugOfTheLaunchersOwnStopsAllAndLosesNoExit) {
  throws_ = true;
  pod_.add(Role::Server, "exec sleep 60").add(Role::Trainer, "true").add(Role::Trainer, "true");
  pod_.hold_back(2);
  const RoundResult result = run();
  ASSERT_TRUE(std::holds_alternative<LauncherFailed>(result.outcome));
  EXPECT_NE(result.launcher_failure.find("run/supervisor.cc:"), std::string::npos);
  EXPECT_NE(result.launcher_failure.find("a bug"), std::string::npos);
  EXPECT_EQ(result.exits.size(), 3U);
  EXPECT_EQ(said_.size(), 1U);
}

TEST_F(PodWithServers, WhatFailsWhenItBeginsGetsPastNoProcess) {
  begin_ = [] { throw std::runtime_error("no memory"); };
  pod_.add(Role::Trainer, "exec sleep 60");
  const RoundResult result = run();
  EXPECT_EQ(result.outcome, Outcome(LauncherFailed{"no memory"}));
  // Where the guard was told to stop before it had started it, there is none.
  for (const ProcessExit& exit : result.exits) EXPECT_TRUE(exit.was_told_to_stop);
}

TEST_F(PodWithServers, AFailureAfterTheVerdictChangesNothingButThatTheLauncherEnds) {
  pod_.add(Role::Trainer, "[ -e saves ] || sleep .1; [ -e saves ] || sleep 1; exit 7");
  pod_.add(Role::Trainer, "trap 'sleep 1; exit 0' TERM; touch saves; while :; do sleep .1; done");
  begin_ = [this] { loop_.after(std::chrono::milliseconds(0), [this] { wait_for_verdict(); }); };
  const RoundResult result = run();
  EXPECT_EQ(exit_status(result.outcome), 7);
  EXPECT_NE(result.launcher_failure.find("too late"), std::string::npos);
}

TEST_F(PodWithServers, AGuardThatDoesNotDrainInTimeIsKilled) {
  patience_ = std::chrono::milliseconds(100);
  begin_ = [] { throw std::runtime_error("a bug"); };
  pod_.add(Role::Trainer, "trap '' TERM; while :; do sleep .1; done").grace(std::chrono::hours(1));
  const RoundResult result = run();
  EXPECT_EQ(result.outcome, Outcome(LauncherFailed{"a bug"}));
  EXPECT_TRUE(result.survivors.empty());
}

TEST_F(PodWithServers, ACollectivePodNeverSaysThatItsWorkersAreDone) {
  pod_.add(Role::Trainer, "true").add(Role::Trainer, "true");
  EXPECT_EQ(run().outcome, Outcome(Completed{}));
  EXPECT_TRUE(said_.empty());
}

}  // namespace
}  // namespace paddle_launch
