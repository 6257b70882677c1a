// SPDX-License-Identifier: Apache-2.0
#include "launcher/run/conductor.h"

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "launcher/os/event_loop.h"
#include "tests/unit/channel/fake_session.h"

namespace paddle_launch {
namespace {

using std::chrono::milliseconds;
using Lines = std::vector<std::string>;

// Keeps what is told, in words.
class ListeningSession final : public FakeSession {
 public:
  ListeningSession(bool hub, Lines& heard) : hub_(hub), heard_(heard) {}
  void tell(const Message& message) override {
    if (const auto* listen = std::get_if<ServersListenMessage>(&message)) {
      std::string text = "tell listen";
      for (const int server : listen->servers) text += " " + std::to_string(server);
      heard_.push_back(text + (listen->are_silent ? " in vain" : ""));
    }
    if (std::holds_alternative<StartWorkersMessage>(message)) heard_.emplace_back("tell start");
    if (std::holds_alternative<WorkersDoneMessage>(message)) heard_.emplace_back("tell done");
    if (std::holds_alternative<StopServersMessage>(message)) heard_.emplace_back("tell stop");
  }
  void work_is_done() override { heard_.emplace_back("work is done"); }
  bool is_hub() const override { return hub_; }

 private:
  bool hub_;
  Lines& heard_;
};

class Conducting : public testing::Test, public Conductor::Observer {
 protected:
  void make(bool hub, ConductorSettings settings) {
    session_.emplace(hub, heard_);
    conductor_.emplace(loop_, *session_, std::move(settings), *this,
                       [this](const std::vector<int>&) {
                         ++looks_;
                         return listening_;
                       });
  }
  void start_workers() override { heard_.emplace_back("start"); }
  void stop_servers() override { heard_.emplace_back("stop"); }
  void on_progress(const std::string& line) override { heard_.push_back("say " + line); }
  // Two servers here, a third elsewhere; workers in pods 0 and 1.
  static ConductorSettings two_of_three() {
    return {.own_servers = {0, 1},
            .own_ports = {6170, 6171},
            .all_servers = {"10.0.0.1:6170", "10.0.0.1:6171", "10.0.0.2:6170"},
            .pods_with_workers = {0, 1}};
  }
  void wait(milliseconds time) {
    run_until(loop_, time, [] { return false; });
  }
  Lines heard() { return std::exchange(heard_, {}); }

  EventLoop loop_;
  Lines heard_;
  std::set<int> listening_;
  int looks_ = 0;
  std::optional<ListeningSession> session_;
  std::optional<Conductor> conductor_;
};

TEST_F(Conducting, AloneThePodStartsItsWorkersWhenItsServersListen) {
  make(true, {.own_servers = {0},
              .own_ports = {6170},
              .all_servers = {"10.0.0.1:6170"},
              .pods_with_workers = {0}});
  conductor_->begin();
  EXPECT_EQ(looks_, 1);
  EXPECT_EQ(heard(), Lines{});
  listening_ = {6170};
  wait(milliseconds(60));
  EXPECT_EQ(heard(), (Lines{"tell start", "start"}));
  const int looks = looks_;
  wait(milliseconds(300));
  EXPECT_EQ(looks_, looks) << "nobody looks any more";
  conductor_->workers_done();
  conductor_->workers_done();
  EXPECT_EQ(heard(), (Lines{"work is done", "tell stop", "stop"}));
}

TEST_F(Conducting, TheHubWaitsForTheServersAndWorkersOfAll) {
  make(true, two_of_three());
  listening_ = {6170, 6171};
  conductor_->begin();
  EXPECT_EQ(heard(), Lines{});
  conductor_->on_message(1, ServersListenMessage{{2}});
  conductor_->on_message(1, ServersListenMessage{{2}});
  EXPECT_EQ(heard(), (Lines{"tell start", "start"}));
  conductor_->workers_done();
  EXPECT_EQ(heard(), Lines{});
  conductor_->on_message(1, WorkersDoneMessage{});
  conductor_->on_message(1, WorkersDoneMessage{});
  EXPECT_EQ(heard(), (Lines{"work is done", "tell stop", "stop"}));
}

TEST_F(Conducting, WhatComesEarlyIsKept) {
  make(true, two_of_three());
  conductor_->on_message(1, WorkersDoneMessage{});
  conductor_->on_message(1, ServersListenMessage{{0, 1, 2, 77}});
  EXPECT_EQ(heard(), Lines{});
  conductor_->begin();
  EXPECT_EQ(heard(), (Lines{"tell start", "start"}));
  conductor_->workers_done();
  EXPECT_EQ(heard(), (Lines{"work is done", "tell stop", "stop"}));
}

TEST_F(Conducting, AMemberTellsTheHubAndObeysIt) {
  ConductorSettings settings = two_of_three();
  settings.pod = 1;
  make(false, settings);
  listening_ = {6171};
  conductor_->begin();
  EXPECT_EQ(heard(), Lines{"tell listen 1"});
  listening_ = {6170, 6171};
  wait(milliseconds(60));
  EXPECT_EQ(heard(), Lines{"tell listen 0"});
  conductor_->on_message(0, StartWorkersMessage{});
  conductor_->on_message(0, StartWorkersMessage{});
  EXPECT_EQ(heard(), Lines{"start"});
  conductor_->workers_done();
  EXPECT_EQ(heard(), Lines{"tell done"});
  conductor_->on_message(0, StopServersMessage{});
  conductor_->on_message(0, StopServersMessage{});
  EXPECT_EQ(heard(), (Lines{"work is done", "stop"}));
}

TEST_F(Conducting, AMemberWithoutServersHasNothingToTell) {
  make(false, {.all_servers = {"10.0.0.1:6170"}, .pods_with_workers = {0, 1}, .pod = 1});
  conductor_->on_message(0, StartWorkersMessage{});
  EXPECT_EQ(heard(), Lines{}) << "not before begin()";
  conductor_->begin();
  EXPECT_EQ(heard(), Lines{"start"});
  EXPECT_EQ(looks_, 0);
}

TEST_F(Conducting, AServerThatDoesNotListenIsWaitedForSoLong) {
  ConductorSettings settings = two_of_three();
  settings.server_wait = milliseconds(100);
  make(false, settings);
  listening_ = {6170};
  conductor_->begin();
  EXPECT_EQ(heard(), Lines{"tell listen 0"});
  wait(milliseconds(150));
  EXPECT_EQ(heard(), (Lines{"say server 1 (10.0.0.1:6171) does not listen after 0.1 s; the workers "
                            "start without it (--server_wait)",
                            "tell listen 1 in vain"}));
}

TEST_F(Conducting, TheHubTellsOfAllSilentServersWhenWorkersStart) {
  ConductorSettings settings = two_of_three();
  settings.server_wait = milliseconds(30);
  make(true, settings);
  listening_ = {6170};
  conductor_->begin();
  conductor_->on_message(1, ServersListenMessage{{2, 77}, true});
  EXPECT_EQ(heard(), Lines{});
  wait(milliseconds(60));
  EXPECT_EQ(heard(), (Lines{"say server 1 (10.0.0.1:6171), server 2 (10.0.0.2:6170) do not listen "
                            "after 0.03 s; the workers start without them (--server_wait)",
                            "tell start", "start"}));
}

TEST_F(Conducting, SeveralSilentServersAreNamedTogether) {
  ConductorSettings settings = two_of_three();
  settings.server_wait = milliseconds(0);
  make(false, settings);
  conductor_->begin();
  EXPECT_EQ(heard(), (Lines{"say server 0 (10.0.0.1:6170), server 1 (10.0.0.1:6171) do not listen "
                            "after 0 s; the workers start without them (--server_wait)",
                            "tell listen 0 1 in vain"}));
}

TEST_F(Conducting, NobodyLooksWhereServersCountAtOnce) {
  ConductorSettings settings = two_of_three();
  settings.start_at_once = true;
  make(false, settings);
  conductor_->begin();
  EXPECT_EQ(heard(), Lines{"tell listen 0 1"});
  EXPECT_EQ(looks_, 0);
}

TEST_F(Conducting, AServerThatHasEndedWellIsNotWaitedFor) {
  make(false, two_of_three());
  conductor_->begin();
  conductor_->ended_well(1);
  conductor_->ended_well(1);
  conductor_->ended_well(5);
  EXPECT_EQ(heard(), Lines{"tell listen 1"});
  conductor_->pod_ended();
  EXPECT_EQ(heard(), Lines{"tell listen 0"});
}

TEST_F(Conducting, WhenItsOwnProcessesAreGoneTheHubStillTellsTheOthers) {
  make(true, two_of_three());
  conductor_->begin();
  conductor_->pod_ended();
  conductor_->on_message(1, ServersListenMessage{{2}});
  EXPECT_EQ(heard(), Lines{"tell start"});
  conductor_->on_message(0, WorkersDoneMessage{});
  conductor_->on_message(1, WorkersDoneMessage{});
  EXPECT_EQ(heard(), (Lines{"work is done", "tell stop"}));
}

TEST_F(Conducting, NothingBeginsOnceTheJobStops) {
  ConductorSettings settings = two_of_three();
  settings.server_wait = milliseconds(30);
  make(true, settings);
  conductor_->begin();
  conductor_->job_stops();
  conductor_->on_message(1, ServersListenMessage{{0, 1, 2}});
  conductor_->workers_done();
  conductor_->on_message(1, WorkersDoneMessage{});
  wait(milliseconds(60));
  EXPECT_EQ(heard(), Lines{});
}

TEST_F(Conducting, AJobWithoutWorkersEndsWhenItsServersDo) {
  make(true, {.own_servers = {0}, .own_ports = {6170}, .all_servers = {"10.0.0.1:6170"}});
  listening_ = {6170};
  conductor_->begin();
  EXPECT_EQ(heard(), (Lines{"tell start", "start"}));
}

TEST_F(Conducting, TheHubNamesTheFirstFewWhoDoNotListenYet) {
  ConductorSettings settings{.pods_with_workers = {0}};
  for (int i = 0; i < 9; ++i) settings.all_servers.push_back("n" + std::to_string(i) + ":1");
  make(true, settings);
  conductor_->begin();
  conductor_->on_message(1, ServersListenMessage{{0}});
  wait(milliseconds(2100));
  EXPECT_EQ(heard(), Lines{"say waiting for servers to listen: server 1 (n1:1), server 2 (n2:1), "
                           "server 3 (n3:1), server 4 (n4:1), server 5 (n5:1), server 6 (n6:1), "
                           "… 2 more"});
}

}  // namespace
}  // namespace paddle_launch
