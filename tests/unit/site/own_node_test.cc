// SPDX-License-Identifier: Apache-2.0
#include "launcher/site/own_node.h"

#include <map>
#include <vector>

#include <gtest/gtest.h>

#include "launcher/job/errors.h"
#include "launcher/text/ipv4.h"

namespace paddle_launch {
namespace {

const Machine kHere{"n1", {"10.0.0.7", "127.0.0.1", "192.168.3.7"}, {0, 1}};

using Names = std::map<std::string, std::vector<std::string>>;

// A name server that knows these names and counts the questions.
struct FakeNames {
  Names known;
  std::vector<std::string> asked{};

  Resolver resolver() {
    return [this](const std::vector<std::string>& names) {
      std::vector<NameAnswer> answers;
      for (const auto& name : names) {
        asked.push_back(name);
        answers.emplace_back();
        for (const auto& text : known[name]) {
          answers.back().addresses.push_back(parse_ipv4(text).value());
        }
        if (known[name].empty()) answers.back().problem = "Name or service not known";
      }
      return answers;
    };
  }
};

JobSpec job_of(std::vector<std::string> ips) {
  JobSpec job;
  job.ips = std::move(ips);
  job.ips_given = true;
  return job;
}

JobSpec with_host(JobSpec job, const std::string& host, const std::string& source = "--host") {
  job.host = host;
  job.host_source = source;
  return job;
}

OwnNode found(const JobSpec& job, const Names& names = {}) {
  FakeNames server{names};
  return find_own_node(job, kHere, server.resolver());
}

std::string refusal(const JobSpec& job, const Names& names = {}) {
  try {
    return "no refusal: " + found(job, names).host;
  } catch (const UsageError& error) {
    return error.what();
  }
}

bool says(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos && !text.starts_with("no refusal");
}

OwnNode node(const std::string& host, std::size_t place, const std::string& address = "") {
  return {.host = host,
          .place = place,
          .address = address.empty() ? std::nullopt : parse_ipv4(address)};
}

OwnNode meeting_point(OwnNode node) {
  node.is_meeting_point = true;
  return node;
}

TEST(FindOwnNode, OneNodeIsNamedByTheListOrByHost) {
  EXPECT_EQ(found({}), node("127.0.0.1", 0));
  EXPECT_EQ(found(with_host({}, "10.0.0.7")), node("10.0.0.7", 0));
  EXPECT_EQ(found(job_of({"n1"})), node("n1", 0));
  EXPECT_EQ(found(with_host(job_of({"10.0.0.7"}), "10.9.9.9", "POD_IP")), node("10.0.0.7", 0));
}

TEST(FindOwnNode, OneNodeElsewhereIsWrongUse) {
  EXPECT_EQ(
      refusal(job_of({"10.0.0.9"})),
      "--ips: 10.0.0.9 is not an address of this machine (n1), which has 10.0.0.7, 127.0.0.1, "
      "192.168.3.7; name one of them");
  EXPECT_EQ(
      refusal(with_host(job_of({"10.0.0.7"}), "192.168.3.7")),
      "--host=192.168.3.7 is not in --ips (10.0.0.7); name the same node in both, or leave one "
      "out");
  EXPECT_TRUE(says(refusal(with_host({}, "10.9.9.9", "POD_IP")), "POD_IP: 10.9.9.9 is not an"));
}

TEST(FindOwnNode, TheOneEntryWithAnOwnAddressIsThisNode) {
  EXPECT_EQ(found(job_of({"10.0.0.8", "10.0.0.7", "10.0.0.9"})), node("10.0.0.7", 1, "10.0.0.7"));
  EXPECT_EQ(found(job_of({"127.0.0.5", "10.0.0.9"})), node("127.0.0.5", 0, "127.0.0.5"));
}

TEST(FindOwnNode, NamesAreNotLookedUpWhereALiteralOrTheHostNameFits) {
  FakeNames server{{{"n1", {"10.0.0.7"}}}};
  std::vector<std::string> ips{"10.0.0.7"};
  for (int i = 2; i <= 4096; ++i) ips.push_back("other" + std::to_string(i));
  EXPECT_EQ(find_own_node(job_of(ips), kHere, server.resolver()), node("10.0.0.7", 0, "10.0.0.7"));
  EXPECT_TRUE(server.asked.empty());
  ips.front() = "n1";
  EXPECT_EQ(find_own_node(job_of(ips), kHere, server.resolver()), node("n1", 0, "10.0.0.7"));
  EXPECT_EQ(server.asked, std::vector<std::string>{"n1"});
}

TEST(FindOwnNode, ANameThatBeginsAsTheHostIsAskedFirstAndThenNoOther) {
  FakeNames server{{{"N1.example.com", {"10.0.0.7"}}}};
  std::vector<std::string> ips;
  for (int i = 2; i <= 1000; ++i) ips.push_back("n" + std::to_string(i) + ".example.com");
  ips.emplace_back("N1.example.com");
  EXPECT_EQ(find_own_node(job_of(ips), kHere, server.resolver()),
            node("N1.example.com", 999, "10.0.0.7"));
  EXPECT_EQ(server.asked, std::vector<std::string>{"N1.example.com"});
}

TEST(FindOwnNode, ANameThatOnlyBeginsAsTheHostIsNotTakenForIt) {
  FakeNames server{{{"n1.elsewhere", {"10.0.0.9"}}, {"node40", {"10.0.0.7"}}}};
  std::vector<std::string> ips{"n1.elsewhere"};
  for (int i = 1; i <= 1000; ++i) ips.push_back("node" + std::to_string(i));
  EXPECT_EQ(find_own_node(job_of(ips), kHere, server.resolver()), node("node40", 40, "10.0.0.7"));
  EXPECT_LE(server.asked.size(), 65U) << "it went on after it had found itself";
}

TEST(FindOwnNode, ANameIsThisNodeThroughItsAddress) {
  EXPECT_EQ(found(job_of({"a", "b", "10.0.0.9"}), {{"a", {"10.0.0.8"}}, {"b", {"10.0.0.7"}}}),
            node("b", 1, "10.0.0.7"));
}

TEST(FindOwnNode, ANameOnLoopbackOrWithSeveralAddressesListensEverywhere) {
  EXPECT_EQ(found(job_of({"n1", "n2"}), {{"n1", {"127.0.1.1"}}}), node("n1", 0));
  EXPECT_EQ(found(job_of({"n1", "n2"}), {{"n1", {"127.0.1.1", "10.0.0.7"}}}), node("n1", 0));
  EXPECT_EQ(found(job_of({"n1", "n2"}), {{"n1", {"10.0.0.7", "192.168.3.7"}}}), node("n1", 0));
  EXPECT_EQ(found(job_of({"n1", "n2"}), {{"n1", {"10.0.0.7", "10.0.0.99"}}}),
            node("n1", 0, "10.0.0.7"));
  EXPECT_EQ(found(job_of({"n1", "n2"})), node("n1", 0)) << "its name is not known to anybody";
}

TEST(FindOwnNode, NoOwnEntryIsToldWithBothSides) {
  const auto text = refusal(job_of({"10.0.0.8", "n7"}));
  EXPECT_TRUE(says(text,
                   "no entry of --ips (10.0.0.8, n7) is this machine (n1, which has 10.0.0.7, "
                   "127.0.0.1, 192.168.3.7)"))
      << text;
  EXPECT_TRUE(says(text, "n7: Name or service not known")) << text;
  JobSpec variable = job_of({"10.0.0.8", "10.0.0.9"});
  variable.ips_source = "PADDLE_TRAINERS";
  EXPECT_TRUE(says(refusal(variable), "no entry of PADDLE_TRAINERS"));
}

TEST(FindOwnNode, LongListsAreCutInMessages) {
  std::vector<std::string> ips;
  for (int i = 0; i < 100; ++i) ips.push_back("10.1.0." + std::to_string(i));
  const auto text = refusal(job_of(ips));
  EXPECT_TRUE(says(text, "10.1.0.7 and 92 more")) << text;
}

TEST(FindOwnNode, SeveralOwnEntriesNeedHost) {
  const auto text = refusal(job_of({"127.0.0.1", "127.0.0.2", "10.0.0.9"}));
  EXPECT_TRUE(says(text, "several entries of --ips are this machine (n1, which has")) << text;
  EXPECT_TRUE(says(text, "127.0.0.1 (place 0), 127.0.0.2 (place 1); say with --host")) << text;
  EXPECT_TRUE(says(refusal(job_of({"n1", "10.0.0.7"})), "several entries"));
  EXPECT_TRUE(says(refusal(job_of({"10.0.0.7", "10.0.0.7"})), "several entries"));
  EXPECT_TRUE(says(refusal(job_of({"a", "b"}), {{"a", {"10.0.0.7"}}, {"b", {"192.168.3.7"}}}),
                   "several entries"));
}

TEST(FindOwnNode, HostSaysWhichOfSeveralPodsOfAMachineThisIs) {
  const auto job = job_of({"127.0.0.1", "127.0.0.2"});
  EXPECT_EQ(found(with_host(job, "127.0.0.2")), node("127.0.0.2", 1, "127.0.0.2"));
  EXPECT_EQ(found(with_host(job, "127.0.0.1", "POD_IP")), node("127.0.0.1", 0, "127.0.0.1"));
}

TEST(FindOwnNode, HostMayNameAnEntryInOtherWords) {
  EXPECT_EQ(found(with_host(job_of({"10.0.0.8", "10.0.0.7"}), "me"), {{"me", {"10.0.0.7"}}}),
            node("10.0.0.7", 1, "10.0.0.7"));
  EXPECT_EQ(found(with_host(job_of({"a", "b"}), "10.0.0.7"), {{"b", {"10.0.0.7"}}}),
            node("b", 1, "10.0.0.7"));
  EXPECT_TRUE(says(refusal(with_host(job_of({"a", "b"}), "10.0.0.7"),
                           {{"a", {"10.0.0.7"}}, {"b", {"10.0.0.7"}}}),
                   "--host=10.0.0.7 fits several entries of --ips: a (place 0), b (place 1)"));
}

TEST(FindOwnNode, AHostOutsideTheListIsRefusedWithItsRemedy) {
  const auto job = job_of({"10.0.0.7", "10.0.0.8"});
  EXPECT_EQ(refusal(with_host(job, "192.168.3.7")),
            "--host=192.168.3.7 is not in --ips (10.0.0.7, 10.0.0.8); name this node as it stands "
            "there, or leave out --host");
  EXPECT_EQ(
      refusal(with_host(job, "172.17.0.2", "POD_IP")),
      "POD_IP=172.17.0.2 is not in --ips (10.0.0.7, 10.0.0.8); unset POD_IP, or correct --ips");
  EXPECT_TRUE(says(refusal(with_host(job, "typo")), "typo: Name or service not known"));
}

TEST(FindOwnNode, AHostOfAnotherMachineIsRefused) {
  const auto text = refusal(with_host(job_of({"10.0.0.7", "10.0.0.8"}), "10.0.0.8"));
  EXPECT_TRUE(says(text, "--host: 10.0.0.8 is not an address of this machine (n1), which has"))
      << text;
}

TEST(FindOwnNode, ARankMustBeThePlaceInTheList) {
  JobSpec job = job_of({"10.0.0.8", "10.0.0.7"});
  job.node_rank = 1;
  EXPECT_EQ(found(job).place, 1U);
  job.node_rank = 0;
  const auto text = refusal(job);
  EXPECT_TRUE(says(text, "this node is 10.0.0.7 at place 1 of --ips")) << text;
  EXPECT_TRUE(says(text, "its rank is given as 0")) << text;
}

TEST(FindOwnNode, AskingForEachNameOnceIsEnough) {
  FakeNames server{{{"me", {"10.0.0.7"}}}};
  find_own_node(with_host(job_of({"me", "n2"}), "me"), kHere, server.resolver());
  EXPECT_EQ(server.asked, std::vector<std::string>{"me"});
}

JobSpec job_at(const std::string& master) {
  JobSpec job;
  job.master = MeetingPoint{master, 6060};
  job.nnodes = 2;
  return job;
}

TEST(FindOwnNode, WithAMasterTheChannelTellsTheHost) {
  EXPECT_EQ(found(job_at("10.0.0.9")), node("", 0));
  JobSpec job = with_host(job_at("10.0.0.9"), "192.168.3.7");
  job.node_rank = 3;
  EXPECT_EQ(found(job), node("192.168.3.7", 3));
  EXPECT_TRUE(
      says(refusal(with_host(job_at("10.0.0.9"), "10.0.0.8")), "--host: 10.0.0.8 is not an"));
}

TEST(FindOwnNode, TheMeetingPointListensWhereTheOthersCome) {
  EXPECT_EQ(found(with_host(job_at("10.0.0.7"), "192.168.3.7")),
            meeting_point(node("192.168.3.7", 0, "10.0.0.7")));
  EXPECT_EQ(found(job_at("n1"), {{"n1", {"127.0.1.1"}}}), meeting_point(node("", 0)));
}

TEST(FindOwnNode, SaysWhetherTheMasterIsThisMachineAndAsksForItsNameOnce) {
  const Names names{{"boss", {"10.0.0.7"}}, {"other", {"10.0.0.8"}}};
  for (const char* mine : {"10.0.0.7", "127.0.0.1", "n1", "localhost", "boss"}) {
    EXPECT_TRUE(found(job_at(mine), names).is_meeting_point) << mine;
  }
  for (const char* foreign : {"10.0.0.8", "other", "unknown"}) {
    EXPECT_FALSE(found(job_at(foreign), names).is_meeting_point) << foreign;
  }
  EXPECT_FALSE(found({}).is_meeting_point);
  FakeNames server{names};
  find_own_node(with_host(job_at("boss"), "boss"), kHere, server.resolver());
  EXPECT_EQ(server.asked, std::vector<std::string>{"boss"});
}

}  // namespace
}  // namespace paddle_launch
