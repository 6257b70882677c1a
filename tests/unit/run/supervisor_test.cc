// SPDX-License-Identifier: Apache-2.0
// A pod of a job with servers, from its first process to its last.
#include "launcher/run/supervisor.h"

#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "tests/unit/run/small_pod.h"

namespace paddle_launch {
namespace {

class PodWithServers : public testing::Test {
 protected:
  // Runs the pod. When its workers are done, the job is complete.
  RoundResult run(bool completes_job = true) {
    Guard guard(pod_.plan(), pod_.settings());
    Console console({}, {});
    SignalWatch signals({SIGTERM});
    const Terminal terminal(false);
    Supervisor supervisor(
        loop_, guard, console, signals, terminal, StopPolicy(crew_of(pod_.plan())),
        {.verdict =
             [this](const Outcome& verdict, int others) {
               said_.push_back(std::to_string(exit_status(verdict)) + " " + std::to_string(others));
             },
         .second_interrupt = [] {},
         .workers_done =
             [&] {
               said_.emplace_back("done");
               if (completes_job) supervisor.job_completed();
             },
         .ended_well = [this](int process) { ended_well_.push_back(process); }});
    supervisor.start_rest();
    RoundResult result = supervisor.run();
    console.finish(signals);
    guard.wait_for_end();
    return result;
  }

  SmallPod pod_;
  EventLoop loop_;
  std::vector<std::string> said_;
  std::vector<int> ended_well_;
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

TEST_F(PodWithServers, ACollectivePodNeverSaysThatItsWorkersAreDone) {
  pod_.add(Role::Trainer, "true").add(Role::Trainer, "true");
  EXPECT_EQ(run().outcome, Outcome(Completed{}));
  EXPECT_TRUE(said_.empty());
}

}  // namespace
}  // namespace paddle_launch
