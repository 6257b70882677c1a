// SPDX-License-Identifier: Apache-2.0
// The entries of an elastic job in a real etcd.
#include "launcher/rendezvous/job_register.h"

#include <chrono>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "launcher/job/errors.h"
#include "tests/unit/rendezvous/with_register.h"

namespace paddle_launch {
namespace {

using std::chrono::seconds;

class JobRegisterTest : public WithRegister {
 protected:
  bool commits(JobRegister& pod, int number) {
    std::optional<bool> answer;
    pod.commit({.state = {.number = number}}, [&](bool is_done) { answer = is_done; });
    turn_until([&] { return answer.has_value(); });
    return *answer;
  }
  void both_see(const JobRegister& one, const JobRegister& other, std::size_t pods) {
    turn_until([&] { return one.book().pods.size() == pods && other.book().pods.size() == pods; });
  }
  static std::string why_not(const std::function<void()>& attempt) {
    try {
      attempt();
    } catch (const UsageError& error) {
      return error.what();
    }
    return "it was let in";
  }
};

TEST_F(JobRegisterTest, TheFirstBooksTheJobAndTheSecondFindsItsSecret) {
  const auto first = book(7001);
  const auto second = book(7002);
  EXPECT_FALSE(first->secret().empty());
  EXPECT_EQ(first->secret(), second->secret());
  both_see(*first, *second, 2);
  EXPECT_EQ(second->book().job->nodes, (NodeRange{1, 4}));
  EXPECT_EQ(second->book().pods.front().name, first->name());
  EXPECT_EQ(second->book().pods.back().port, 7002);
}

TEST_F(JobRegisterTest, AnotherNumberOfNodesIsWrongUseUnlessItIsForced) {
  const auto first = book(7001);
  RegisterSettings others = settings({2, 2});
  const std::string why = why_not([&] { book(7002, others); });
  EXPECT_NE(why.find("--np=2: the running job " + job_id() + " has 1:4 nodes"), std::string::npos)
      << why;
  EXPECT_EQ(first->nodes(), (NodeRange{1, 4}));
  others.spec.force = true;
  const auto forced = book(7003, others);
  turn_until([&] { return first->nodes() == NodeRange{2, 2}; });
  EXPECT_TRUE(first->is_booked());
}

TEST_F(JobRegisterTest, AJobWithATokenAndOneWithoutAreNotOne) {
  const auto first = book(7001);
  RegisterSettings others = settings();
  others.has_token = true;
  const std::string why = why_not([&] { book(7002, others); });
  EXPECT_NE(why.find("the running job has no token"), std::string::npos) << why;
}

TEST_F(JobRegisterTest, AnEntryThatVanishedComesBackWithItsNameAndSeniority) {
  const auto first = book(7001);
  const auto second = book(7002);
  const BookedPod before = *first->book().find_pod(first->name());
  erase(*visitor(), pod_key(first->name()));
  const auto& pods = second->book().pods;
  turn_until([&] { return pods.size() == 2 && pods.front().since == before.created; });
  EXPECT_EQ(pods.front().name, before.name);
  EXPECT_GT(pods.front().created, before.created);
  EXPECT_TRUE(second->leader() == &pods.front());
}

TEST_F(JobRegisterTest, WhoGathersAndIsStruckOutComesBackAsSomebodyElse) {
  const auto first = book(7001);
  const auto second = book(7002);
  const std::string name = first->name();
  first->keep_name(false);
  erase(*visitor(), pod_key(name));
  turn_until([&] { return first->name() != name && first->is_booked(); });
  both_see(*first, *second, 2);
  turn_until([&] { return second->leads(); });
}

TEST_F(JobRegisterTest, TheHubOfTheLastRoundLeadsAsLongAsItIsBooked) {
  const auto first = book(7001);
  auto second = book(7002);
  both_see(*first, *second, 2);
  EXPECT_TRUE(first->leads());
  EXPECT_TRUE(commits(*second, 0));
  turn_until([&] { return first->book().round && second->book().round; });
  EXPECT_FALSE(first->leads());
  EXPECT_TRUE(second->leads());
  EXPECT_EQ(first->leader()->name, second->name());
  second->leave(false);
  turn_until([&] { return first->leads(); });
}

TEST_F(JobRegisterTest, WhoWaitsForNodesSaysThatTheRoundIsOver) {
  const auto first = book(7001);
  first->commit({.state = {.number = 3}, .is_running = true}, [](bool) {});
  turn_until([&] { return first->book().round.has_value(); });
  EXPECT_TRUE(first->book().round->is_running);
  first->note_waiting();
  turn_until([&] { return !first->book().round->is_running; });
  EXPECT_EQ(first->book().round->state.number, 3);
}

TEST_F(JobRegisterTest, OfTwoWhoCommitOneRoundOneFails) {
  const auto first = book(7001);
  const auto second = book(7002);
  std::vector<bool> answers;
  const auto note = [&](bool is_done) { answers.push_back(is_done); };
  first->commit({}, note);
  second->commit({}, note);
  turn_until([&] { return answers.size() == 2; });
  EXPECT_NE(answers[0], answers[1]);
  turn_until([&] { return first->book().round && second->book().round; });
  EXPECT_TRUE(commits(*first, 1));
}

TEST_F(JobRegisterTest, WhoHasBeenStruckOutCommitsNothing) {
  const auto first = book(7001);
  // The loop of the pod stands still: it knows nothing of it yet.
  erase(*visitor(), pod_key(first->name()));
  EXPECT_FALSE(commits(*first, 0));
  turn_until([&] { return first->is_booked(); });
  EXPECT_FALSE(first->book().round);
  EXPECT_TRUE(commits(*first, 0));
}

TEST_F(JobRegisterTest, WhoIsExpelledAndLivesComesBackByItself) {
  const auto first = book(7001);
  const auto second = book(7002);
  both_see(*first, *second, 2);
  const BookedPod before = *first->book().find_pod(second->name());
  first->expel(second->name());
  turn_until([&] {
    const BookedPod* const now = first->book().find_pod(before.name);
    return now != nullptr && now->created > before.created;
  });
}

TEST_F(JobRegisterTest, WhoListenedAtItsAddressBeforeIsStruckOut) {
  const auto guest = visitor();
  const BookedJob job{.version = "0.1.0", .nodes = {1, 4}, .secret = "abcd", .created = 1};
  ASSERT_TRUE(guest->put(kJobKey, write_job(job), EtcdLease::Job).done);
  const BookedPod old{.host = "127.0.0.1", .port = 7001, .machine = "m1", .pid = 1};
  BookedPod elsewhere = old;
  elsewhere.machine = "m2";
  ASSERT_TRUE(guest->put(pod_key("oldold"), write_pod(old)).done);
  ASSERT_TRUE(guest->put(pod_key("others"), write_pod(elsewhere)).done);
  const auto pod = book(7001);
  turn_until([&] { return pod->book().find_pod("oldold") == nullptr; });
  EXPECT_NE(pod->book().find_pod("others"), nullptr);
  EXPECT_TRUE(pod->is_booked());
}

TEST_F(JobRegisterTest, WhatADeadJobHasLeftIsReplaced) {
  const auto guest = visitor();
  const BookedJob job{.version = "0.1.0", .nodes = {7, 9}, .secret = "dead", .created = 1};
  ASSERT_TRUE(guest->put(kJobKey, write_job(job), EtcdLease::None).done);
  ASSERT_TRUE(guest->put(kStopKey, write_stop("n9"), EtcdLease::None).done);
  ASSERT_TRUE(guest->put(kRoundKey, write_round({.hub = "nobody"}), EtcdLease::None).done);
  const auto pod = book(7001);
  EXPECT_EQ(pod->nodes(), (NodeRange{1, 4}));
  EXPECT_NE(pod->secret(), "dead");
  EXPECT_FALSE(pod->book().stop_from);
  EXPECT_FALSE(pod->book().round);
}

TEST_F(JobRegisterTest, SomebodyElsesKeyIsWrongUseThatNamesIt) {
  const auto guest = visitor();
  ASSERT_TRUE(guest->put(kJobKey, "mine!", EtcdLease::None).done);
  const std::string why = why_not([&] { book(7001); });
  EXPECT_NE(why.find("the key /paddle/" + job_id() + "/job in etcd was not written by"),
            std::string::npos)
      << why;
  EXPECT_TRUE(guest->sees(kJobKey, "mine!"));
}

TEST_F(JobRegisterTest, AKeyThatSomebodySpoiltIsWrittenAgainByWhoeverLeads) {
  const auto first = book(7001);
  const auto second = book(7002);
  std::vector<std::string> lines;
  second->on_warning([&](const std::string& line) { lines.push_back(line); });
  first->commit({.state = {.number = 3}}, [](bool) {});
  turn_until([&] { return first->book().round && second->book().round; });
  const std::string secret = first->secret();
  const auto guest = visitor();
  for (const char* const key : {kJobKey, kRoundKey, kJobKey}) {
    ASSERT_TRUE(guest->put(key, "mine!", EtcdLease::None).done);
    const auto is_mended = [&] {
      return guest->find(key) != nullptr && guest->find(key)->value != "mine!";
    };
    turn_until([&] { return guest->wait_until(is_mended, std::chrono::milliseconds(20)); });
  }
  erase(*guest, kJobKey);
  const auto third = book(7003);
  EXPECT_EQ(third->secret(), secret);
  turn_until([&] { return third->book().round.has_value(); });
  EXPECT_EQ(third->book().round->state.number, 3);
  EXPECT_EQ(lines.size(), 1);
}

TEST_F(JobRegisterTest, WhoComesWhileTheKeyOfAJobIsGoneWaitsForItsSecret) {
  const auto guest = visitor();
  const BookedPod there{.name = "there", .host = "127.0.0.1", .port = 7001};
  ASSERT_TRUE(guest->put(pod_key(there.name), write_pod(there), EtcdLease::None).done);
  loop_.after(std::chrono::milliseconds(200), [&] {
    const BookedJob job{.version = "0.1.0", .nodes = {1, 4}, .secret = "00ff"};
    EXPECT_TRUE(guest->put(kJobKey, write_job(job), EtcdLease::None).done);
  });
  EXPECT_EQ(book(7002)->secret(), "00ff");
}

TEST_F(JobRegisterTest, WhoIsBookedAnewAfterANumberWasForcedGoesOn) {
  const auto first = book(7001, settings({2, 2}));
  RegisterSettings others = settings({3, 3});
  others.spec.force = true;
  const auto second = book(7002, others);
  turn_until([&] { return first->nodes() == NodeRange{3, 3}; });
  const std::string name = first->name();
  first->book_anew("127.0.0.1", 7001);
  turn_until([&] { return first->name() != name && first->is_booked(); });
  EXPECT_EQ(second->nodes(), (NodeRange{3, 3}));
}

// Not after the ten seconds that a server has which does not answer.
TEST_F(JobRegisterTest, AWrongPasswordIsToldAtOnce) {
  const std::string body = R"({"error":"etcdserver: authentication failed, invalid user ID"})";
  const OddServer strict(
      fmt::format("HTTP/1.1 400 Bad Request\r\nContent-Type: application/json\r\n"
                  "Content-Length: {}\r\n\r\n{}",
                  body.size(), body));
  RegisterSettings others = settings();
  others.spec.etcd.endpoints = {strict.address()};
  others.spec.etcd.user = "joe";
  others.spec.etcd.password = "another-word";
  const auto began = std::chrono::steady_clock::now();
  try {
    book(7001, others);
    FAIL() << "it was let in";
  } catch (const NodeMissing& error) {
    EXPECT_EQ(error.what(), "--elastic_server: " + strict.address() +
                                ": user joe: authentication failed, wrong user or password; check "
                                "--etcd_user and the variable PADDLE_ETCD_PASSWORD");
  }
  EXPECT_LT(std::chrono::steady_clock::now() - began, seconds(8));
}

TEST_F(JobRegisterTest, WhoLeavesTakesItsEntryAndTheLastOneAll) {
  const auto guest = visitor();
  const auto first = book(7001);
  const auto second = book(7002);
  EXPECT_TRUE(commits(*first, 0));
  ASSERT_TRUE(guest->wait_until([&] { return guest->entries.size() == 4; }));
  second->leave(false);
  EXPECT_TRUE(guest->misses(pod_key(second->name())));
  EXPECT_NE(guest->find(kJobKey), nullptr);
  EXPECT_NE(guest->find(pod_key(first->name())), nullptr);
  turn_until([&] { return first->book().pods.size() == 1; });
  first->leave(false);
  EXPECT_TRUE(guest->wait_until([&] { return guest->entries.empty(); }));
}

TEST_F(JobRegisterTest, TheEndOfTheJobLeavesNothingWhoeverIsStillThere) {
  const auto guest = visitor();
  const auto first = book(7001);
  const auto second = book(7002);
  ASSERT_TRUE(guest->wait_until([&] { return guest->entries.size() == 3; }));
  first->leave(true);
  second->leave(true);
  EXPECT_TRUE(guest->wait_until([&] { return guest->entries.empty(); }));
}

TEST_F(JobRegisterTest, TheSilenceOfTheServerIsToldAndItsEndToo) {
  EtcdServer own;
  RegisterSettings quick = settings();
  quick.spec.etcd = own.spec();
  quick.spec.ttl = seconds(1);
  const auto pod = book(7001, quick);
  const std::string name = pod->name();
  const BookedPod dead{.host = "127.0.0.9", .port = 7009, .machine = "m9", .pid = 1};
  Observer(own.spec(), prefix_of(job_id())).put(pod_key("dead"), write_pod(dead), EtcdLease::None);
  turn_until([&] { return pod->book().pods.size() == 2; });
  std::vector<std::string> lines;
  pod->on_warning([&](const std::string& line) { lines.push_back(line); });
  own.stop();
  turn_until([&] { return !lines.empty(); });
  EXPECT_TRUE(lines[0].starts_with("etcd has not answered for 1 s (" + own.address())) << lines[0];
  EXPECT_FALSE(commits(*pod, 0));
  pod->expel("dead");
  own.start();
  turn_until([&] { return lines.size() == 2 && pod->book().find_pod("dead") == nullptr; });
  EXPECT_EQ(lines[1], "etcd answers again");
  turn_until([&] { return pod->is_booked(); });
  EXPECT_EQ(pod->name(), name);
}

}  // namespace
}  // namespace paddle_launch
