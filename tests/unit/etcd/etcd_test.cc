// SPDX-License-Identifier: Apache-2.0
// The door to etcd with a real server that answers: what is put and what is seen.
#include "launcher/etcd/etcd.h"

#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <stdexcept>

#include <gtest/gtest.h>

#include "launcher/os/files.h"
#include "tests/unit/etcd/observer.h"
#include "tests/unit/etcd/shared_server.h"

namespace paddle_launch {
namespace {

using std::chrono::seconds;

class EtcdTest : public WithSharedServer {};

TEST_F(EtcdTest, TheFirstPictureIsEmptyAndTheServerAnswers) {
  Observer one(spec(), prefix());
  EXPECT_TRUE(one.misses("a"));
  EXPECT_EQ(one.problems, std::vector<std::string>{""});
  EXPECT_EQ(one.pictures, 1);
}

TEST_F(EtcdTest, WhatIsPutIsSeenByAllUntilItIsDeleted) {
  Observer one(spec(), prefix());
  Observer other(spec(), prefix());
  const std::string odd("\0\xff\n\"", 4);
  EXPECT_TRUE(one.put("a", odd).done);
  ASSERT_TRUE(one.sees("a", odd));
  ASSERT_TRUE(other.sees("a", odd));
  EXPECT_EQ(one.entries, other.entries);
  EXPECT_NE(one.find("a")->lease, 0);
  EXPECT_EQ(one.find("a")->created, one.find("a")->modified);

  EXPECT_TRUE(other.put("a", "second", EtcdLease::None).done);
  ASSERT_TRUE(one.sees("a", "second"));
  EXPECT_EQ(one.find("a")->lease, 0);
  EXPECT_LT(one.find("a")->created, one.find("a")->modified);

  EtcdChange change;
  change.deletes.emplace_back("a");
  EXPECT_TRUE(other.change(change).done);
  EXPECT_TRUE(one.misses("a"));
}

TEST_F(EtcdTest, AChangeIsMadeWholeOrNotAtAll) {
  Observer one(spec(), prefix());
  EXPECT_TRUE(one.put("a", "1").done);
  ASSERT_TRUE(one.sees("a", "1"));
  const EtcdEntry a = *one.find("a");

  using What = EtcdCompare::What;
  const auto try_with = [&](std::vector<EtcdCompare> only_if) {
    EtcdChange change;
    change.only_if = std::move(only_if);
    change.puts.push_back({"b", "1"});
    change.deletes.emplace_back("c");
    return one.change(change);
  };
  EXPECT_FALSE(try_with({{"a", What::Absent, 0}}).done);
  EXPECT_FALSE(try_with({{"b", What::Absent, 0}, {"a", What::Modified, a.modified + 1}}).done);
  EXPECT_FALSE(try_with({{"a", What::Created, a.created - 1}}).done);
  EXPECT_EQ(try_with({{"a", What::Absent, 0}}).problem, "");
  EXPECT_TRUE(try_with({{"b", What::Absent, 0},
                        {"a", What::Modified, a.modified},
                        {"a", What::Created, a.created}})
                  .done);
  EXPECT_TRUE(one.sees("b", "1"));
}

TEST_F(EtcdTest, AnswersComeInOrderAndNeverBeforeTheCallReturns) {
  Observer one(spec(), prefix());
  std::vector<int> order;
  EtcdChange good;
  good.puts.push_back({"a", "1"});
  EtcdChange bad;
  bad.only_if.push_back({"a", EtcdCompare::What::Absent, 0});
  for (int i = 0; i < 20; ++i) {
    one.etcd->change(i % 2 == 0 ? good : bad, [&, i](const EtcdAnswer& answer) {
      EXPECT_EQ(answer.done, i % 2 == 0) << answer.problem;
      order.push_back(i);
      if (i == 19) one.etcd->change(good, [&](const EtcdAnswer&) { order.push_back(20); });
    });
  }
  EXPECT_TRUE(order.empty());
  ASSERT_TRUE(one.wait_until([&] { return order.size() == 21; }));
  EXPECT_TRUE(std::is_sorted(order.begin(), order.end()));
}

TEST_F(EtcdTest, AMegabyteGoesThroughAndIsSeen) {
  Observer one(spec(), prefix());
  const std::string big(1'000'000, 'x');
  EXPECT_TRUE(one.put("big", big).done);
  EXPECT_TRUE(one.sees("big", big));
  Observer late(spec(), prefix());
  EXPECT_TRUE(late.sees("big", big));
}

TEST_F(EtcdTest, KeysOfOtherPrefixesAreNeitherSeenNorDeleted) {
  Observer one(spec(), prefix());
  Observer neighbour(spec(), prefix() + "more/");
  Observer other(spec(), "/other" + prefix());
  ASSERT_TRUE(other.put("a", "other").done);
  ASSERT_TRUE(neighbour.put("a", "1").done);
  ASSERT_TRUE(one.put("b", "1").done);
  ASSERT_TRUE(one.sees("more/a", "1"));
  EXPECT_EQ(one.find("a"), nullptr);
  EXPECT_TRUE(one.change({.delete_all = true}).done);
  EXPECT_TRUE(one.misses("b"));
  EXPECT_TRUE(neighbour.misses("a"));
  EXPECT_TRUE(other.sees("a", "other"));
}

TEST_F(EtcdTest, AChangeThatTheServerRefusesIsAProblemInItsOwnWords) {
  Observer one(spec(), prefix());
  EtcdChange twice;
  twice.puts = {{"a", "1"}, {"a", "2"}};
  const EtcdAnswer answer = one.change(twice);
  EXPECT_FALSE(answer.done);
  EXPECT_NE(answer.problem.find(server().address() + ": etcdserver: duplicate key"),
            std::string::npos)
      << answer.problem;
  EXPECT_TRUE(one.put("a", "1").done);
  EXPECT_EQ(one.problems, std::vector<std::string>{""});
}

struct EndsTheWaitWhenConnected final : EtcdEvents {
  explicit EndsTheWaitWhenConnected(EventLoop& of) : loop(of) {}
  void on_entries(const std::vector<EtcdEntry>&) override { ++pictures; }
  void on_connection(const EtcdProblem&) override {
    is_connected = true;
    loop.end_wait(std::make_exception_ptr(std::runtime_error("refused")));
  }

  EventLoop& loop;
  int pictures = 0;
  bool is_connected = false;
};

TEST_F(EtcdTest, ACallbackThatEndsTheWaitLosesNothingOfWhatCameWithIt) {
  EventLoop loop;
  EndsTheWaitWhenConnected events(loop);
  Etcd etcd(loop, spec(), prefix(), seconds(60), events);
  EXPECT_THROW(loop.run_until([] { return false; }), std::runtime_error);
  EXPECT_TRUE(events.is_connected);
  loop.run_until([&] { return events.pictures > 0; });
  EXPECT_EQ(events.pictures, 1);
}

TEST_F(EtcdTest, NeitherAProxyNorTheLaunchersDescriptorsReachTheKeeperNorLibcurlTheLauncher) {
  setenv("http_proxy", "http://127.0.0.1:9", 1);
  int ends[2];
  ASSERT_EQ(pipe(ends), 0);
  Observer one(spec(), prefix());
  unsetenv("http_proxy");
  EXPECT_TRUE(one.is_connected());
  EXPECT_EQ(read_file("/proc/self/maps").value_or("").find("libcurl"), std::string::npos);
  close(ends[1]);
  char byte = 0;
  EXPECT_EQ(read(ends[0], &byte, 1), 0);
  close(ends[0]);
}

}  // namespace
}  // namespace paddle_launch
