// SPDX-License-Identifier: Apache-2.0
#include "launcher/rendezvous/agreement.h"

#include <gtest/gtest.h>

#include "launcher/rendezvous/hub_search.h"

namespace paddle_launch {
namespace {

OfferMessage pod(const std::string& host, const std::string& machine, int trainers = 2) {
  JobTerms terms;
  terms.version = "0.1.0";
  terms.machine = machine;
  terms.ips = {"10.0.0.1", "10.0.0.2"};
  terms.nodes = 2;
  terms.command = "train.py";
  PodOffer offer;
  offer.host = host;
  offer.trainers.resize(static_cast<std::size_t>(trainers));
  return offer_message(terms, offer);
}

void expect_names(const std::optional<std::string>& text, const std::vector<std::string>& parts) {
  ASSERT_TRUE(text);
  for (const std::string& part : parts) {
    EXPECT_NE(text->find(part), std::string::npos) << part << " in: " << *text;
  }
}

TEST(Agreement, PodsThatWereToldTheSameAgree) {
  EXPECT_FALSE(disagreement(pod("10.0.0.1", "n1"), pod("10.0.0.2", "n2")));
  EXPECT_TRUE(oddities(pod("10.0.0.1", "n1"), {{1, pod("10.0.0.2", "n2")}}).empty());
}

TEST(Agreement, DifferentListsAreShownBoth) {
  JobTerms terms = pod("10.0.0.2", "n2").terms;
  terms.ips = {"10.0.0.2", "10.0.0.1"};
  const OfferMessage other = offer_message(terms, pod("10.0.0.2", "n2").offer);
  expect_names(disagreement(pod("10.0.0.1", "n1"), other),
               {"10.0.0.1 (n1)", "--ips=10.0.0.1,10.0.0.2", "10.0.0.2 (n2)",
                "--ips=10.0.0.2,10.0.0.1", "same order"});
}

TEST(Agreement, DifferentNumbersOfCardsAreShownBoth) {
  expect_names(disagreement(pod("10.0.0.1", "n1", 2), pod("10.0.0.2", "n2", 4)),
               {"10.0.0.1 (n1) starts 2", "10.0.0.2 (n2) starts 4", "--master"});
}

TEST(Agreement, AtAMasterTheNumbersOfCardsMayDiffer) {
  OfferMessage one = pod("10.0.0.1", "n1", 2);
  OfferMessage other = pod("10.0.0.2", "n2", 4);
  for (OfferMessage* message : {&one, &other}) {
    message->terms.ips.clear();
    message->ips_digest.clear();
  }
  EXPECT_FALSE(disagreement(one, other));
}

TEST(Agreement, DifferentVersionsKindsAndOptionsAreShownBoth) {
  OfferMessage other = pod("10.0.0.2", "n2");
  other.terms.version = "0.2.0";
  expect_names(disagreement(pod("10.0.0.1", "n1"), other), {"0.1.0", "0.2.0", "n1", "n2"});
  other = pod("10.0.0.2", "n2");
  other.offer.card_kind = CardKind::Gpu;
  expect_names(disagreement(pod("10.0.0.1", "n1"), other), {"CPUs", "gpus"});
  other = pod("10.0.0.2", "n2");
  other.terms.check = true;
  expect_names(disagreement(pod("10.0.0.1", "n1"), other),
               {"--check was given on 10.0.0.2 (n2) and not on 10.0.0.1 (n1)"});
}

// The job runs, and one line says so.
void expect_only_odd(const OfferMessage& other, const std::vector<std::string>& parts) {
  EXPECT_FALSE(disagreement(pod("10.0.0.1", "n1"), other));
  const auto odd = oddities(pod("10.0.0.1", "n1"), {{1, other}});
  ASSERT_EQ(odd.size(), 1U);
  expect_names(odd.front(), parts);
}

TEST(Agreement, DifferentCommandsAreOnlyOdd) {
  OfferMessage other = pod("10.0.0.2", "n2");
  other.terms.command = "train.py --lr 2";
  expect_only_odd(other, {"`train.py`", "`train.py --lr 2`"});
}

TEST(Agreement, AnotherScriptIsOnlyOdd) {
  OfferMessage other = pod("10.0.0.2", "n2");
  other.terms.script_digest = "ff";
  expect_only_odd(other, {"(n1)", "(n2)", "differs"});
}

TEST(Agreement, TwoLaunchersOfOneNodeAreToldOfTheJobId) {
  expect_names(both_claim(pod("10.0.0.2", "n2"), pod("10.0.0.2", "n2")), {"10.0.0.2", "--job_id"});
}

OfferMessage ps_pod(const std::string& host, const std::string& layout) {
  OfferMessage message = pod(host, "n", 0);
  message.terms.layout = layout;
  return message;
}

TEST(Agreement, DifferentJobsAreShownBoth) {
  expect_names(disagreement(pod("10.0.0.1", "n1"), ps_pod("10.0.0.2", "--server_num 2")),
               {"the jobs differ", "10.0.0.1 (n1) was given a collective job",
                "10.0.0.2 (n) was given --server_num 2"});
  expect_names(
      disagreement(ps_pod("10.0.0.1", "--server_num 1"), ps_pod("10.0.0.2", "--server_num 2")),
      {"the jobs differ", "--server_num 1", "--server_num 2"});
}

TEST(Agreement, AJobWithServersIsShownInPlaceOfTheList) {
  const OfferMessage one = ps_pod("10.0.0.1", "--servers a:1 --workers b:1");
  OfferMessage other = ps_pod("10.0.0.2", "--servers a:1 --workers b:1");
  other.terms.nodes = 3;
  const auto text = disagreement(one, other);
  expect_names(text, {"the lists of nodes differ", "--servers a:1 --workers b:1"});
  EXPECT_EQ(text->find("--ips"), std::string::npos);
}

TEST(Agreement, WithServersTheNodesMayHaveWhatTheyNeed) {
  const OfferMessage one = ps_pod("10.0.0.1", "--heter_worker_num 2");
  OfferMessage other = ps_pod("10.0.0.2", "--heter_worker_num 2");
  other.offer.card_kind = CardKind::Gpu;
  other.offer.roles.resize(2);
  EXPECT_FALSE(disagreement(one, other));
}

TEST(Agreement, RpcIsComparedAsACollectiveJob) {
  const auto rpc_pod = [](const std::string& host, int trainers) {
    OfferMessage message = pod(host, "n", trainers);
    message.terms.layout = kRpcLayout;
    return message;
  };
  expect_names(disagreement(rpc_pod("10.0.0.1", 2), rpc_pod("10.0.0.2", 3)),
               {"the numbers of cards differ"});
  expect_names(disagreement(rpc_pod("10.0.0.1", 2), pod("10.0.0.2", "n2")),
               {"--run_mode=rpc", "a collective job"});
  OfferMessage other = rpc_pod("10.0.0.2", 2);
  other.terms.ips = {"10.0.0.2"};
  other.ips_digest = "another";
  expect_names(disagreement(rpc_pod("10.0.0.1", 2), other), {"--ips=10.0.0.2"});
}

TEST(Agreement, TwoLaunchersOfOneNameAreToldOfIt) {
  OfferMessage one = ps_pod("10.0.0.1", "PADDLE_PSERVER_IPS a,b");
  one.terms.name = "PADDLE_TRAINER_ID=3";
  EXPECT_EQ(both_claim(one, one).rfind("two launchers claim PADDLE_TRAINER_ID=3: process", 0), 0U);
}

TEST(Agreement, ALongLayoutIsComparedByItsDigest) {
  JobTerms terms = pod("10.0.0.1", "n1").terms;
  terms.layout = "--servers " + std::string(100'000, 'x');
  const OfferMessage one = offer_message(terms, {});
  EXPECT_LT(one.terms.layout.size(), 1024U);
  EXPECT_EQ(one.terms.layout.rfind("--servers xxx", 0), 0U);
  EXPECT_EQ(one.terms.layout.substr(one.terms.layout.size() - 1), ")");
  EXPECT_FALSE(disagreement(one, offer_message(terms, {})));
  terms.layout.back() = 'y';
  EXPECT_TRUE(disagreement(one, offer_message(terms, {})));
}

TEST(Agreement, ALongListTravelsAsItsDigest) {
  JobTerms terms;
  for (int i = 0; i < 500; ++i) terms.ips.push_back("10.0.1." + std::to_string(i));
  EXPECT_TRUE(offer_message(terms, {}).terms.ips.empty());
  EXPECT_FALSE(offer_message(terms, {}).ips_digest.empty());
}

TEST(OtherLaunchers, AnotherJobAndAnotherTokenAreToldApart) {
  OtherLaunchers others({.tag = "ab"});
  others.met({"0.1.0", "bob", "train.py", "n9", 77, "xy"}, "10.0.0.9");
  others.met({"0.1.0", "ann", "train.py", "n8", 78, "ab"}, "10.0.0.8");
  WaitingFacts facts;
  others.tell(facts);
  EXPECT_EQ(facts.other_jobs,
            std::vector<std::string>{"train.py of user bob (process 77) at 10.0.0.9"});
  ASSERT_EQ(facts.odd.size(), 1U);
  EXPECT_NE(facts.odd.front().find("PADDLE_LAUNCH_TOKEN"), std::string::npos);
  others.forget();
  others.tell(facts);
  EXPECT_TRUE(facts.other_jobs.empty() && facts.odd.empty());
}

}  // namespace
}  // namespace paddle_launch
