// SPDX-License-Identifier: Apache-2.0
#include "launcher/plan/pod_plan.h"

#include <algorithm>

#include <gtest/gtest.h>

namespace paddle_launch {
namespace {

TEST(LogPath, SaysTheRoleAndTheRank) {
  EXPECT_EQ(log_path("/logs", {Role::Trainer, 3}), "/logs/workerlog.3");
  EXPECT_EQ(log_path("/logs", {Role::Server, 0}), "/logs/serverlog.0");
  EXPECT_EQ(log_path("/logs", {Role::HeterWorker, 1}), "/logs/heterlog.1");
}

TEST(LogPath, WithoutADirectoryThereIsNone) { EXPECT_EQ(log_path("", {Role::Trainer, 3}), ""); }

class PlanPod : public testing::Test {
 protected:
  PlanPod() { means_.program = {"/bin/true", {"/bin/true"}}; }

  static Roster roster_of(int pods, int trainers) {
    Roster roster;
    for (int i = 0; i < pods; ++i) {
      PodOffer& pod = roster.pods.emplace_back();
      pod.host = "10.0.0." + std::to_string(i + 1);
      pod.master_port = 6000;
      for (int k = 0; k < trainers; ++k) pod.trainers.push_back({.cards = {}, .port = 7000 + k});
    }
    return roster;
  }
  bool gives_input(const Roster& roster) const {
    return plan_pod(job_, {}, means_, roster, {}).processes.processes.at(0).has_stdin;
  }

  JobSpec job_{};
  PodMeans means_{};
};

TEST_F(PlanPod, OnlyALoneTrainerReadsTheInput) {
  EXPECT_TRUE(gives_input(roster_of(1, 1)));
  EXPECT_FALSE(gives_input(roster_of(1, 2)));
  EXPECT_FALSE(gives_input(roster_of(2, 1)));
  job_.stdin_to_rank_zero = true;
  EXPECT_TRUE(gives_input(roster_of(2, 2)));
}

TEST_F(PlanPod, TellsOnceOfInputThatNobodyReads) {
  const auto notices = [this](int trainers, const RoundFacts& facts) {
    return plan_pod(job_, {}, means_, roster_of(1, trainers), facts).notices.size();
  };
  EXPECT_EQ(notices(2, {.has_unread_input = true}), 1U);
  EXPECT_EQ(notices(2, {.round = {.number = 1}, .has_unread_input = true}), 0U);
  EXPECT_EQ(notices(2, {}), 0U);
  EXPECT_EQ(notices(1, {.has_unread_input = true}), 0U);
  job_.stdin_to_rank_zero = true;
  EXPECT_EQ(notices(2, {.has_unread_input = true}), 0U);
}

TEST_F(PlanPod, ARelayStandsBeforeTheStoreOfRankZeroWhereAPortWasLeft) {
  Roster roster = roster_of(2, 1);
  EXPECT_FALSE(plan_pod(job_, {}, means_, roster, {}).store_relay);
  means_.store_port = 6001;
  const PodPlan first = plan_pod(job_, {}, means_, roster, {});
  ASSERT_TRUE(first.store_relay);
  EXPECT_EQ(first.store_relay->host, "10.0.0.1");
  EXPECT_EQ(first.store_relay->port, 6000);
  EXPECT_EQ(first.store_relay->store_port, 6001);
  roster.mine = 1;
  EXPECT_FALSE(plan_pod(job_, {}, means_, roster, {}).store_relay);
}

TEST_F(PlanPod, KnowsItsRoundAndItsHost) {
  Roster roster = roster_of(2, 1);
  roster.mine = 1;
  const PodPlan plan = plan_pod(job_, {}, means_, roster, {.round = {.number = 4}});
  EXPECT_EQ(plan.processes.round, 4);
  EXPECT_EQ(plan.processes.host, "10.0.0.2");
}

TEST_F(PlanPod, LogsAreNamedByTheRankOrByThePlaceOnTheNode) {
  means_.log_dir = "/logs";
  const auto last_log = [this](int pods) {
    Roster roster = roster_of(pods, 2);
    roster.mine = roster.pods.size() - 1;
    return plan_pod(job_, {}, means_, roster, {}).processes.processes.back().log_path;
  };
  EXPECT_EQ(last_log(2), "/logs/workerlog.3");
  job_.local_log_names = true;
  EXPECT_EQ(last_log(2), "/logs/10.0.0.2/workerlog.1") << "nodes may share the disk";
  EXPECT_EQ(last_log(1), "/logs/workerlog.1");
  means_.log_dir.clear();
  EXPECT_EQ(last_log(2), "");
}

TEST_F(PlanPod, TrainersLearnTheIdsThatTheFirstPodMade) {
  const RoundFacts facts{.nccl = {.ids = {std::string(kNcclIdBytes, 'x')}, .version = 22809}};
  const PodPlan plan = plan_pod(job_, {}, means_, roster_of(1, 2), facts);
  const auto is_id = [](const EnvVar& one) { return one.first == "PADDLE_LAUNCH_NCCL_ID"; };
  const auto& env = plan.processes.common_env;
  EXPECT_EQ(std::count_if(env.begin(), env.end(), is_id), 1);
}

}  // namespace
}  // namespace paddle_launch
