// SPDX-License-Identifier: Apache-2.0
// Rounds with real processes, and others who are played: each row of the table in round.cc.
#include "launcher/run/round.h"

#include <sys/prctl.h>
#include <sys/wait.h>

#include <csignal>
#include <filesystem>
#include <functional>
#include <stdexcept>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "launcher/channel/judge.h"
#include "launcher/job/errors.h"
#include "launcher/os/sockets.h"
#include "launcher/text/ipv4.h"
#include "tests/unit/channel/fake_session.h"
#include "tests/unit/run/small_pod.h"

namespace paddle_launch {
namespace {

using std::chrono::milliseconds;
using Kind = StopCause::Kind;

using Lines = std::vector<std::string>;

// Keeps what is told, in words, and lets a test say what the others say.
class PlayedSession final : public FakeSession {
 public:
  void attend(RoundEvents& who, const RoundTerms& terms) override {
    FakeSession::attend(who, terms);
    if (attended) std::exchange(attended, {})();
  }
  void tell_stop(const StopCause& own) override {
    heard.push_back("stop " + std::to_string(own.status));
    stops.push_back(own);
  }
  void tell_kill() override { heard.emplace_back("kill"); }
  void tell_ending(const PodEnding& mine) override {
    heard.push_back("end " + std::to_string(mine.own.status));
    endings.push_back(mine);
    if (ended) return ended();
    decide();
  }
  void decide_now() override {
    heard.emplace_back("decide");
    decide();
  }
  void close() override { heard.emplace_back("close"); }

  // The verdict, of what this pod told at its end and of another pod's cause.
  void decide() {
    PodAccount mine{.host = "here"};
    if (!endings.empty()) mine.ending = endings.back();
    PodAccount other{.host = "there", .ending = PodEnding{.own = cause_elsewhere}};
    events().on_verdict(with_next_round(judge({mine, other}), false));
  }
  // Somebody else's user is impatient.
  void kill_elsewhere() { events().on_kill(); }
  // Another pod gives the reason to stop.
  void stop_elsewhere(int status) {
    cause_elsewhere = {.kind = StopCause::Kind::WorkerFailed,
                       .node = 1,
                       .status = status,
                       .text = "rank 1 failed",
                       .at = std::chrono::steady_clock::now()};
    events().on_stop(cause_elsewhere);
  }

  std::function<void()> attended{};  // the round listens
  std::function<void()> ended{};     // this pod has told its end; none: the verdict comes at once
  Lines heard{};
  std::vector<StopCause> stops{};
  std::vector<PodEnding> endings{};
  StopCause cause_elsewhere{};
};

// What an elastic job minds, played.
class PlayedWatch final : public RoundWatch {
 public:
  pid_t keeper() const override { return 0; }
  std::optional<RefusalMessage> on_newcomer(const OfferMessage& /*offer*/) override {
    return std::nullopt;
  }
  void begin(const Session& /*session*/, int nodes, Listener& listener) override {
    heard.push_back("begins with " + std::to_string(nodes));
    round = &listener;
  }
  void work_ends() override { heard.emplace_back("work ends"); }
  void end() override { heard.emplace_back("ends"); }

  Listener* round = nullptr;
  Lines heard{};
};

class ARound : public testing::Test {
 protected:
  ARound() {
    sigemptyset(&inherited_.mask);
    job_.grace = std::chrono::seconds(5);
    job_.elastic = ElasticSpec{};
  }
  ~ARound() override {
    while (signals_.next()) {
    }
    // A launcher inherits what its processes leave behind, and ends without it.
    prctl(PR_SET_CHILD_SUBREAPER, 0);
    while (waitpid(-1, nullptr, 0) > 0) {
    }
  }

  RoundEnd run() {
    PodPlan plan;
    plan.processes = pod_.plan();
    plan.processes.nodes = 2;
    plan.store_relay = store_relay_;
    return Round({.loop = loop_,
                  .signals = signals_,
                  .inherited = inherited_,
                  .job = job_,
                  .env = env_,
                  .host_name = "here",
                  .speaks = false,
                  .watch = is_watched_ ? &watch_ : nullptr},
                 session_, 0, plan, history_)
        .run({});
  }
  // As soon as a trainer has made this file.
  void when(const std::string& file, const std::function<void()>& act) {
    if (pod_.has(file)) return act();
    loop_.after(milliseconds(5), [this, file, act] { when(file, act); });
  }
  void after(milliseconds delay, const std::function<void()>& act) { loop_.after(delay, act); }

  // It runs until it is told to stop, and saves then.
  static std::string saves() {
    return "trap 'touch saved; exit 0' TERM; touch runs; while :; do sleep .01; done";
  }
  // It does not stop when it is told to.
  static std::string goes_on() {
    return "trap 'touch told' TERM; touch runs; while :; do sleep .01; done";
  }

  SmallPod pod_;
  EventLoop loop_;
  SignalWatch signals_{SIGINT, SIGTERM};
  Inherited inherited_{};
  JobSpec job_{};
  Environment env_{};
  History history_{};
  PlayedWatch watch_;
  bool is_watched_ = false;
  std::optional<StoreRelayPlace> store_relay_{};
  PlayedSession session_;
};

TEST_F(ARound, OfTrainersThatEndWellIsTold) {
  pod_.add(Role::Trainer, "true").add(Role::Trainer, "sleep .05");
  const RoundEnd end = run();
  EXPECT_EQ(end.status, 0);
  EXPECT_FALSE(end.next);
  EXPECT_EQ(end.verdict.first.kind, Kind::Completed);
  EXPECT_EQ(session_.heard, (Lines{"end 0", "close"}));
  EXPECT_EQ(history_.told.size(), 1U);
}

TEST_F(ARound, MakesItsCauseOnce) {
  pod_.add(Role::Trainer, "while [ ! -e runs ]; do sleep .01; done; exit 7");
  pod_.add(Role::Trainer, "trap 'sleep .3; exit 0' TERM; touch runs; while :; do sleep .01; done");
  const RoundEnd end = run();
  EXPECT_EQ(end.status, 7);
  EXPECT_EQ(session_.heard, (Lines{"stop 7", "end 7", "close"}));
  EXPECT_EQ(session_.stops.at(0), session_.endings.at(0).own) << "with its moment";
}

TEST_F(ARound, IsStoppedByAnotherPodBeforeItsProcessesRun) {
  session_.attended = [this] { session_.stop_elsewhere(9); };
  pod_.add(Role::Trainer, "exec sleep 60");
  const RoundEnd end = run();
  EXPECT_EQ(end.status, 9);
  EXPECT_EQ(end.verdict.first.node, 1);
  EXPECT_EQ(session_.heard, (Lines{"end 0", "close"})) << "it has no cause of its own";
}

TEST_F(ARound, IsStoppedByAnotherPodWhileItsProcessesRun) {
  when("runs", [this] { session_.stop_elsewhere(9); });
  pod_.add(Role::Trainer, saves());
  EXPECT_EQ(run().status, 9);
  EXPECT_TRUE(pod_.has("saved"));
  EXPECT_EQ(session_.heard, (Lines{"end 0", "close"}));
}

TEST_F(ARound, KeepsItsFirstCauseWhenAnotherPodStopsToo) {
  when("runs", [this] { session_.stop_elsewhere(9); });
  pod_.add(Role::Trainer, "trap 'sleep .2; exit 0' TERM; touch stops; while :; do sleep .01; done");
  pod_.add(Role::Trainer, "while [ ! -e stops ]; do sleep .01; done; exit 7");
  pod_.add(Role::Trainer, "trap 'touch runs; exit 0' TERM; while :; do sleep .01; done");
  EXPECT_EQ(run().status, 7);
  EXPECT_EQ(session_.heard, (Lines{"stop 7", "end 7", "close"}));
}

TEST_F(ARound, HearsOfAStopWhenItsProcessesAreGone) {
  session_.ended = [this] {
    after(milliseconds(10), [this] {
      session_.stop_elsewhere(9);
      session_.decide();
    });
  };
  pod_.add(Role::Trainer, "true");
  EXPECT_EQ(run().status, 9);
  EXPECT_EQ(session_.heard, (Lines{"end 0", "close"}));
}

TEST_F(ARound, IsKilledByAnotherPodsUserInsteadOfTheGrace) {
  job_.grace = std::chrono::hours(1);
  when("runs", [this] { session_.stop_elsewhere(9); });
  when("told", [this] { session_.kill_elsewhere(); });
  pod_.add(Role::Trainer, goes_on());
  EXPECT_EQ(run().status, 9);
}

TEST_F(ARound, DoesNothingForAKillWhenItsProcessesAreGone) {
  session_.ended = [this] {
    after(milliseconds(10), [this] {
      session_.kill_elsewhere();
      session_.decide();
    });
  };
  pod_.add(Role::Trainer, "true");
  EXPECT_EQ(run().status, 0);
  EXPECT_EQ(session_.heard, (Lines{"end 0", "close"}));
}

TEST_F(ARound, IsInterruptedWhileItsProcessesRun) {
  when("runs", [] { raise(SIGTERM); });
  pod_.add(Role::Trainer, saves());
  EXPECT_EQ(run().status, 128 + SIGTERM);
  EXPECT_TRUE(pod_.has("saved"));
  EXPECT_EQ(session_.heard, (Lines{"stop 143", "end 143", "close"}));
  EXPECT_TRUE(session_.endings.at(0).asked_to_end);
}

TEST_F(ARound, IsInterruptedBeforeItsProcessesRun) {
  session_.attended = [] { raise(SIGTERM); };
  pod_.add(Role::Trainer, "exec sleep 60");
  EXPECT_EQ(run().status, 128 + SIGTERM);
  EXPECT_EQ(session_.heard, (Lines{"stop 143", "end 143", "close"}));
}

TEST_F(ARound, KillsAtASecondInterrupt) {
  job_.grace = std::chrono::hours(1);
  when("runs", [] { raise(SIGINT); });
  when("told", [this] { after(milliseconds(600), [] { raise(SIGINT); }); });
  pod_.add(Role::Trainer, goes_on());
  EXPECT_EQ(run().status, 128 + SIGINT);
  EXPECT_EQ(session_.heard, (Lines{"stop 130", "kill", "end 130", "close"}));
}

TEST_F(ARound, InterruptedWhileItWaitsForOthersTellsThem) {
  session_.ended = [this] {
    raise(SIGTERM);
    after(milliseconds(50), [this] { session_.decide(); });
  };
  pod_.add(Role::Trainer, "true");
  EXPECT_EQ(run().status, 0) << "by the verdict that came meanwhile";
  EXPECT_EQ(session_.heard, (Lines{"end 0", "stop 143", "close"}));
}

TEST_F(ARound, InterruptedAgainAndAgainWaitsForNobody) {
  session_.ended = [this] {
    raise(SIGINT);
    after(milliseconds(600), [] { raise(SIGINT); });
    after(milliseconds(700), [] { raise(SIGINT); });
  };
  pod_.add(Role::Trainer, "true");
  run();
  EXPECT_EQ(session_.heard, (Lines{"end 0", "stop 130", "kill", "decide", "close"}));
}

TEST_F(ARound, InterruptedDuringTheHookIsWithdrawn) {
  job_.elastic->pre_hook = "sleep 60";
  after(milliseconds(50), [] { raise(SIGTERM); });
  pod_.add(Role::Trainer, "touch runs");
  EXPECT_THROW(run(), StoppedBySignal);
  EXPECT_FALSE(pod_.has("runs"));
  EXPECT_EQ(session_.heard, (Lines{"stop 143", "end 143", "decide", "close"}));
  EXPECT_EQ(session_.stops.at(0).kind, Kind::Interrupted);
}

TEST_F(ARound, ThatCannotStartIsWithdrawn) {
  const UniqueFd taken = listen_on(kLoopback, 0, 1);
  store_relay_ =
      StoreRelayPlace{.host = "127.0.0.1", .port = local_port(taken.get()), .store_port = 1};
  pod_.add(Role::Trainer, "touch runs");
  EXPECT_THROW(run(), LaunchError);
  EXPECT_FALSE(pod_.has("runs"));
  EXPECT_EQ(session_.heard, (Lines{"stop 1", "end 1", "decide", "close"}));
  EXPECT_EQ(session_.stops.at(0).kind, Kind::NotStarted);
}

TEST_F(ARound, WhoseLogsAreRefusedIsWithdrawnAsWrongUse) {
  pod_.add(Role::Trainer, "touch runs");
  std::filesystem::create_directory(pod_.path("log.0"));
  EXPECT_THROW(run(), UsageError);
  EXPECT_EQ(session_.heard, (Lines{"stop 2", "end 2", "decide", "close"}));
  EXPECT_EQ(session_.stops.at(0).kind, Kind::NotStarted);
}

TEST_F(ARound, StopsItsProcessesWhenTheLauncherFails) {
  when("runs", [] { throw std::logic_error("a bug"); });
  pod_.add(Role::Trainer, saves());
  const RoundEnd end = run();
  EXPECT_EQ(end.status, 1);
  EXPECT_TRUE(pod_.has("saved"));
  EXPECT_EQ(end.verdict.first.kind, Kind::LauncherFailed);
  EXPECT_EQ(session_.heard, (Lines{"stop 1", "end 1", "close"}));
}

TEST_F(ARound, DecidesAloneWhenTheLauncherFailsWhileItWaits) {
  session_.ended = [this] {
    after(milliseconds(10), [] { throw std::logic_error("a bug"); });
    session_.ended = [] {};
  };
  pod_.add(Role::Trainer, "true");
  const RoundEnd end = run();
  EXPECT_EQ(end.status, 1);
  EXPECT_EQ(end.verdict.first.kind, Kind::LauncherFailed);
  EXPECT_EQ(session_.heard, (Lines{"end 0", "stop 1", "end 1", "decide", "close"}));
}

TEST_F(ARound, TakesAVerdictThatDidNotWaitForItsProcesses) {
  when("runs", [this] {
    session_.stop_elsewhere(9);
    session_.decide();
  });
  pod_.add(Role::Trainer, saves());
  EXPECT_EQ(run().status, 9);
  EXPECT_TRUE(pod_.has("saved"));
  EXPECT_EQ(session_.heard, Lines{"close"}) << "nobody waits for its end";
}

TEST_F(ARound, IsFollowedByAnotherOne) {
  history_ = {.rules = {.spec = {.most = 1}}, .may_be_several = true};
  pod_.add(Role::Trainer, "exit 7");
  const RoundEnd end = run();
  ASSERT_TRUE(end.next);
  EXPECT_EQ(end.next->state, (RoundState{.number = 1, .restarts = 1, .quick_failures = 1}));
  EXPECT_EQ(session_.heard, (Lines{"stop 7", "end 7"})) << "the tie stays";
}

TEST_F(ARound, IsStoppedByTheWatchOfAnElasticJob) {
  is_watched_ = true;
  when("runs", [this] {
    session_.cause_elsewhere = {.kind = Kind::NodesChange, .status = 1, .text = "node 3 joined"};
    watch_.round->on_reason_to_stop(session_.cause_elsewhere);
  });
  pod_.add(Role::Trainer, saves());
  EXPECT_EQ(run().verdict.first.kind, Kind::NodesChange);
  EXPECT_EQ(watch_.heard, (Lines{"begins with 2", "work ends", "ends"}));
  EXPECT_EQ(session_.heard, (Lines{"stop 1", "end 0", "close"}));
}

TEST_F(ARound, EndsTheWatchWhateverHappens) {
  is_watched_ = true;
  pod_.add(Role::Trainer, "true");
  std::filesystem::create_directory(pod_.path("log.0"));
  EXPECT_THROW(run(), UsageError);
  EXPECT_EQ(watch_.heard.back(), "ends");
}

}  // namespace
}  // namespace paddle_launch
