// SPDX-License-Identifier: Apache-2.0
// What the hub of an elastic job minds while a round runs: orders in a real etcd, and newcomers of
// a session that the test plays.
#include "launcher/rendezvous/elastic_watch.h"

#include <csignal>

#include <gtest/gtest.h>

#include "tests/unit/channel/fake_session.h"
#include "tests/unit/rendezvous/gathering_hub.h"
#include "tests/unit/rendezvous/with_register.h"

namespace paddle_launch {
namespace {

using Kind = StopCause::Kind;
using std::chrono::milliseconds;

class ElasticWatchTest : public WithRegister, private RoundWatch::Listener {
 protected:
  void begin(const NodeRange& range, int nodes) {
    register_ = book(7001, settings(range));
    watch_.emplace(loop_, *register_, kSettle, offer("n1"));
    watch_->begin(session_, nodes, *this);
  }
  void begin_again(int nodes) { watch_->begin(session_, nodes, *this); }
  void on_reason_to_stop(const StopCause& cause) override { stops_.push_back(cause); }
  void on_warning(const std::string& /*line*/) override {}
  void order(const std::string& key, const std::string& value) {
    EXPECT_TRUE(visitor()->put(key, value, EtcdLease::None).done);
  }
  void come(const std::string& host) {
    session_.waiting.push_back(offer(host));
    EXPECT_EQ(watch_->on_newcomer(offer(host)), std::nullopt);
  }
  // Long enough for what is expected not to happen.
  void let_settle() {
    const auto until = EventLoop::Clock::now() + 2 * kSettle;
    turn_until([&] { return EventLoop::Clock::now() >= until; });
  }

  static constexpr milliseconds kSettle{60};
  FakeSession session_;
  std::unique_ptr<JobRegister> register_;
  std::optional<ElasticWatch> watch_;
  std::vector<StopCause> stops_;
};

TEST_F(ElasticWatchTest, AnOrderToStopStopsTheRoundEvenWhenWorkHasEnded) {
  begin({1, 4}, 1);
  watch_->work_ends();
  order(kStopKey, write_stop("n9"));
  turn_until([&] { return !stops_.empty(); });
  EXPECT_EQ(stops_[0].kind, Kind::StoppedFromOutside);
  EXPECT_EQ(stops_[0].status, 128 + SIGTERM);
  EXPECT_EQ(stops_[0].text, "the job was stopped by --stop from n9");
}

TEST_F(ElasticWatchTest, FewerNodesThanNowChangeTheRoundOnce) {
  begin({1, 4}, 3);
  order(kScaleKey, write_scale(2, "n9"));
  turn_until([&] { return !stops_.empty(); });
  EXPECT_EQ(stops_[0].kind, Kind::NodesChange);
  EXPECT_EQ(stops_[0].status, 0);
  EXPECT_EQ(stops_[0].text, "scaled in from 3 to 2 nodes by --scale from n9");
  order(kStopKey, write_stop("n9"));
  turn_until([&] { return register_->book().stop_from.has_value(); });
  EXPECT_EQ(stops_.size(), 1U);
}

TEST_F(ElasticWatchTest, AnOrderThatStoodThereBeforeTheRoundCounts) {
  begin({1, 4}, 1);
  watch_->end();
  order(kScaleKey, write_scale(2, "n9"));
  turn_until([&] { return register_->book().scale.has_value(); });
  begin_again(3);
  ASSERT_EQ(stops_.size(), 1U);
  EXPECT_EQ(stops_[0].kind, Kind::NodesChange);
}

TEST_F(ElasticWatchTest, NewcomersChangeTheRoundTogetherWhenTheyHaveSettled) {
  begin({1, 4}, 1);
  const auto start = EventLoop::Clock::now();
  come("n2");
  come("n3");
  turn_until([&] { return !stops_.empty(); });
  EXPECT_GE(EventLoop::Clock::now() - start, kSettle);
  EXPECT_EQ(stops_[0].kind, Kind::NodesChange);
  EXPECT_EQ(stops_[0].text, "n2, n3 joined: going from 1 to 3 nodes");
}

TEST_F(ElasticWatchTest, ANewcomerWaitsUntilThereIsRoomForIt) {
  begin({1, 1}, 1);
  come("n2");
  let_settle();
  EXPECT_TRUE(stops_.empty());
  order(kScaleKey, write_scale(2, "n9"));
  turn_until([&] { return !stops_.empty(); });
  EXPECT_EQ(stops_[0].text, "n2 joined: going from 1 to 2 nodes");
}

TEST_F(ElasticWatchTest, NothingIsBegunAnewOnceWorkHasEnded) {
  begin({1, 4}, 3);
  watch_->work_ends();
  come("n4");
  order(kScaleKey, write_scale(2, "n9"));
  turn_until([&] { return register_->book().scale.has_value(); });
  let_settle();
  EXPECT_TRUE(stops_.empty());
}

TEST_F(ElasticWatchTest, NothingIsBegunAnewOnceAPodHasEnded) {
  begin({1, 4}, 3);
  come("n4");
  session_.some_ended = true;
  order(kScaleKey, write_scale(2, "n9"));
  turn_until([&] { return register_->book().scale.has_value(); });
  let_settle();
  EXPECT_TRUE(stops_.empty());
}

TEST_F(ElasticWatchTest, ANewcomerThatDoesNotFitIsRefusedAndNothingChanges) {
  begin({1, 4}, 1);
  OfferMessage old = offer("n2");
  old.terms.version = "0.0.9";
  const auto refusal = watch_->on_newcomer(old);
  ASSERT_TRUE(refusal);
  EXPECT_EQ(refusal->status, 1);
  OfferMessage troubled = offer("n3");
  troubled.terms.problem = "no card 9 here";
  EXPECT_EQ(watch_->on_newcomer(troubled).value().text, "n3: no card 9 here");
  let_settle();
  EXPECT_TRUE(stops_.empty());
}

}  // namespace
}  // namespace paddle_launch
