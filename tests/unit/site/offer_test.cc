// SPDX-License-Identifier: Apache-2.0
#include "launcher/site/offer.h"

#include <gtest/gtest.h>

#include "launcher/job/errors.h"
#include "tests/unit/temp_folder.h"

namespace paddle_launch {
namespace {

class MakeOffer : public testing::Test {
 protected:
  MakeOffer() {
    job_.script.name = "/bin/true";
    job_.ips = {"127.0.0.1"};
    job_.backend = "gloo";
    job_.nproc_per_node = 2;
    job_.log_dir = temp_.path() / "some/../log/";
  }

  OfferRequest request() const { return {.job = job_, .env = env_, .here = here_}; }
  // With other pods, which a scheduler started.
  OfferRequest request_of_task(std::size_t place) const {
    return {.job = job_, .env = env_, .here = here_, .place = place, .has_others = true};
  }

  TempFolder temp_;
  JobSpec job_{};
  Environment env_{};
  Machine here_{.host_name = "n1", .addresses = {"10.0.0.1"}, .cpus = {0, 1, 2, 3}};
};

TEST_F(MakeOffer, HasAPortForEachTrainerAndOneForTheirMeeting) {
  const Offer offer = make_offer(request());
  EXPECT_FALSE(offer.problem);
  ASSERT_EQ(offer.pod.trainers.size(), 2U);
  EXPECT_NE(offer.pod.trainers[0].port, offer.pod.trainers[1].port);
  EXPECT_GT(offer.pod.master_port, 0);
  EXPECT_EQ(offer.pod.host, "127.0.0.1");
  EXPECT_EQ(offer.pod.name.size(), kPodNameLetters);
  EXPECT_EQ(offer.means.program.path, "/bin/true");
  EXPECT_EQ(offer.means.log_dir, temp_.path() / "log");
}

TEST_F(MakeOffer, AnotherRoundHasOtherPortsAndAnotherName) {
  Offer offer = make_offer(request());
  const PodOffer before = offer.pod;
  renew_offer(request(), offer);
  ASSERT_EQ(offer.pod.trainers.size(), before.trainers.size());
  EXPECT_NE(offer.pod.trainers, before.trainers);
  EXPECT_NE(offer.pod.name, before.name);
  EXPECT_EQ(offer.pod.host, before.host);
}

TEST_F(MakeOffer, WhatIsWrongIsThrownWhereNobodyWaits) {
  job_.script.name = "/no/such/script";
  EXPECT_THROW(make_offer(request()), UsageError);
}

TEST_F(MakeOffer, WhatIsWrongIsToldWhereOthersWait) {
  job_.script.name = "/no/such/script";
  const Offer offer = make_offer(request_of_task(3));
  EXPECT_TRUE(offer.problem);
  EXPECT_NE(offer.problem_text.find("/no/such/script"), std::string::npos) << offer.problem_text;
  EXPECT_EQ(offer.me.place, 3U);
  EXPECT_TRUE(offer.pod.trainers.empty());
}

TEST_F(MakeOffer, ALogDirectoryIsTriedBeforeOthersWaitForThisPod) {
  job_.log_dir = "/dev/null/log";
  EXPECT_FALSE(make_offer(request()).problem) << "alone, the guard finds it out";
  const Offer offer = make_offer(request_of_task(0));
  EXPECT_TRUE(offer.problem);
  EXPECT_NE(offer.problem_text.find("--log_dir"), std::string::npos) << offer.problem_text;
}

TEST_F(MakeOffer, TooFewCpusAreToldOnceARound) {
  here_.cpus = {0};
  Offer offer = make_offer(request());
  ASSERT_EQ(offer.warnings.size(), 1U);
  EXPECT_EQ(offer.warnings[0].rfind("2 trainers share 1 CPU:", 0), 0U) << offer.warnings[0];
  renew_offer(request(), offer);
  EXPECT_EQ(offer.warnings.size(), 1U);
}

TEST_F(MakeOffer, AProcessHasOneThreadUnlessTheUserSaysSomethingElse) {
  EXPECT_EQ(make_offer(request()).means.omp_threads, (std::vector<int>{1, 1}));
  env_["OMP_NUM_THREADS"] = "";
  EXPECT_EQ(make_offer(request()).means.omp_threads, (std::vector<int>{1, 1}));
  env_["OMP_NUM_THREADS"] = "8";
  EXPECT_TRUE(make_offer(request()).means.omp_threads.empty());
  job_.omp_threads = 3;
  EXPECT_EQ(make_offer(request()).means.omp_threads, (std::vector<int>{3, 3}));
  job_.omp_threads = 0;
  env_.clear();
  EXPECT_TRUE(make_offer(request()).means.omp_threads.empty());
}

TEST_F(MakeOffer, AProcessWithCpusOfItsOwnHasAThreadForEachCore) {
  // No machine has CPUs with these numbers, so each is a core of its own.
  here_.cpus = {90000, 90001, 90002, 90003, 90004};
  job_.bind = Binding::Numa;
  EXPECT_EQ(make_offer(request()).means.omp_threads, (std::vector<int>{2, 3}));
  job_.bind = Binding::None;
  env_["SLURM_CPUS_PER_TASK"] = "4";
  EXPECT_EQ(make_offer(request()).means.omp_threads, (std::vector<int>{2, 2}));
  env_["SLURM_CPUS_PER_TASK"] = "2";
  EXPECT_EQ(make_offer(request()).means.omp_threads, (std::vector<int>{1, 1}))
      << "Slurm does not confine every task";
  env_["SLURM_CPUS_PER_TASK"] = "1";
  EXPECT_EQ(make_offer(request()).means.omp_threads, (std::vector<int>{1, 1}));
}

TEST_F(MakeOffer, ServersAndWorkersHaveThreadsToo) {
  job_.nproc_per_node.reset();
  job_.servers = ServerSpec{.server_num = 1, .worker_num = 2};
  EXPECT_EQ(make_offer(request()).means.omp_threads, (std::vector<int>{1, 1, 1}));
  job_.servers = ServerSpec{.as_it_is = ProcessName{}};
  EXPECT_TRUE(make_offer(request()).means.omp_threads.empty());
}

TEST_F(MakeOffer, AMissingProgramEndsTheJobBetweenRounds) {
  Offer offer = make_offer(request());
  job_.script.name = "/no/such/script";
  EXPECT_THROW(renew_offer(request(), offer), UsageError);
}

}  // namespace
}  // namespace paddle_launch
