// SPDX-License-Identifier: Apache-2.0
#include "launcher/plan/collective.h"

#include <map>

#include <gtest/gtest.h>

#include "tests/unit/plan/collective_job.h"

namespace paddle_launch {
namespace {

const PodMeans kMeans{.program = {"/bin/true", {"/bin/true"}}, .cpus = {{0}, {1}}};

TEST(PlanCollective, UnderASchedulerNobodyInheritsItsVariables) {
  const Environment user{{"PMIX_RANK", "3"}, {"HOME", "/root"}, {"SLURM_JOB_ID", "42"}};
  PaddleEnvSettings settings = kSettings;
  settings.under_scheduler = true;
  const PodPlan plan = plan_collective(world_of(1, 0), settings, kMeans, user, false);
  EXPECT_EQ(plan.processes.inherited,
            (std::vector<EnvVar>{{"HOME", "/root"}, {"SLURM_JOB_ID", "42"}}));
}

TEST(PlanCollective, AnOuterJobsRoundIsNotInherited) {
  const Environment user{
      {"HOME", "/root"}, {"PADDLE_LAUNCH_ROUND", "8"}, {"PADDLE_RESTART_COUNT", "8"}};
  PaddleEnvSettings settings = kSettings;
  settings.round = {.number = 3, .restarts = 1};
  const PodPlan plan = plan_collective(world_of(1, 0), settings, kMeans, user, false);
  EXPECT_EQ(plan.processes.inherited, (std::vector<EnvVar>{{"HOME", "/root"}}));
  const std::map<std::string, std::string> told(plan.processes.common_env.begin(),
                                                plan.processes.common_env.end());
  EXPECT_EQ(told.at("PADDLE_LAUNCH_ROUND"), "3");
  EXPECT_EQ(told.at("PADDLE_RESTART_COUNT"), "1");
}

TEST(PlanCollective, GivesEachTrainerItsNumberOfThreadsInPlaceOfTheUsers) {
  PodMeans means = kMeans;
  means.omp_threads = {2, 3};
  const Environment user{{"OMP_NUM_THREADS", "8"}};
  const PodPlan plan = plan_collective(world_of(2, 0), kSettings, means, user, false);
  EXPECT_EQ(plan.processes.processes[0].env.back(), EnvVar("OMP_NUM_THREADS", "2"));
  EXPECT_EQ(plan.processes.processes[1].env.back(), EnvVar("OMP_NUM_THREADS", "3"));
  EXPECT_TRUE(plan.processes.inherited.empty());
  const PodPlan kept = plan_collective(world_of(2, 0), kSettings, kMeans, user, false);
  EXPECT_EQ(kept.processes.inherited, (std::vector<EnvVar>{{"OMP_NUM_THREADS", "8"}}));
}

TEST(PlanCollective, TellsWhichOfSeveralCardsARankComputesOn) {
  const auto notices = [](int trainers, int cards_each, int round) {
    PaddleEnvSettings settings = kSettings;
    settings.round.number = round;
    return plan_collective(world_of(trainers, cards_each), settings, kMeans, {}, false).notices;
  };
  EXPECT_EQ(
      notices(2, 2, 0),
      (std::vector<std::string>{
          "each trainer has several cards and computes on its first: rank 0 on 0 of 0,1, rank "
          "1 on 2 of 2,3; name as many cards as trainers (--gpus=0,1) to leave the others "
          "free"}));
  EXPECT_TRUE(notices(2, 1, 0).empty());
  EXPECT_TRUE(notices(1, 4, 0).empty()) << "as in Paddle";
  EXPECT_TRUE(notices(2, 0, 0).empty());
  EXPECT_TRUE(notices(2, 2, 1).empty()) << "told once";
}

TEST(PlanCollective, GivesEachTrainerItsLogItsCpusAndRankZeroTheInput) {
  const PodPlan plan = plan_collective(world_of(2, 0), kSettings, kMeans, {}, true);
  ASSERT_EQ(plan.processes.processes.size(), 2U);
  EXPECT_EQ(plan.processes.processes[1].log_path, "/logs/workerlog.1");
  EXPECT_EQ(plan.processes.processes[1].cpus, std::vector<int>{1});
  EXPECT_TRUE(plan.processes.processes[0].has_stdin);
  EXPECT_FALSE(plan.processes.processes[1].has_stdin);
}

}  // namespace
}  // namespace paddle_launch
