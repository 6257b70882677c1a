// SPDX-License-Identifier: Apache-2.0
// Whole meetings over the loopback interface: every pod is a thread with a loop of its own.
#include "launcher/rendezvous/star.h"

#include <future>
#include <thread>

#include <gtest/gtest.h>

#include "launcher/channel/hub_session.h"
#include "launcher/channel/packed_pods.h"
#include "launcher/job/errors.h"
#include "launcher/os/event_loop.h"
#include "launcher/os/sockets.h"
#include "launcher/text/ipv4.h"
#include "tests/unit/channel/heard.h"
#include "tests/unit/rendezvous/together.h"

namespace paddle_launch {
namespace {

constexpr int kPort = 16060;  // of addresses that nobody else uses

struct Pod {
  std::string host;
  JobTerms terms;
  int trainers = 2;
  std::chrono::milliseconds late{0};
  std::chrono::milliseconds timeout{30'000};
  std::string job = "train.py";
};

TcpSettings settings_of(const Pod& pod) {
  TcpSettings settings;
  settings.identity = {.secret = job_secret("token", pod.job),
                       .greeting = {"0.1.0", "ann", pod.job, pod.host},
                       .keep_alive = keep_alive_for(std::chrono::seconds(10))};
  settings.hub_host = pod.terms.ips.front();
  for (int i = 0; i < 10; ++i) settings.ports.push_back(kPort + i);
  settings.is_hub = pod.terms.place == 0;
  settings.listen_on = parse_ipv4(pod.host);
  settings.from = parse_ipv4(pod.host);
  settings.timeout = pod.timeout;
  settings.names = pod.terms.ips;
  settings.is_list_typed = true;
  return settings;
}

PodOffer offer_of(const Pod& pod) {
  PodOffer offer;
  offer.host = pod.host;
  offer.master_port = 30000;
  for (int i = 0; i < pod.trainers; ++i) offer.trainers.push_back({{}, 20000 + i});
  return offer;
}

// What a pod got: the roster, or the text of the refusal.
struct Result {
  std::optional<Roster> roster{};
  std::string refusal{};
  bool missing = false;
};

Result meet(const Pod& pod) {
  std::this_thread::sleep_for(pod.late);
  EventLoop loop;
  try {
    Together pods(loop, settings_of(pod), pod.terms, offer_of(pod));
    pods.session().close();
    return {.roster = pods.met.roster};
  } catch (const NodeMissing& error) {
    return {.refusal = error.what(), .missing = true};
  } catch (const LaunchError& error) {
    return {.refusal = error.what()};
  }
}

std::vector<Result> meet_all(const std::vector<Pod>& pods) {
  std::vector<std::future<Result>> futures;
  for (const Pod& pod : pods) {
    futures.push_back(std::async(std::launch::async, [pod] { return meet(pod); }));
  }
  std::vector<Result> results;
  for (auto& future : futures) results.push_back(future.get());
  return results;
}

std::vector<std::string> endpoints(const Roster& roster) {
  std::vector<std::string> all = {std::to_string(roster.pods.front().master_port)};
  for (const PodOffer& pod : roster.pods) {
    for (const TrainerOffer& trainer : pod.trainers) {
      all.push_back(pod.host + ":" + std::to_string(trainer.port));
    }
  }
  return all;
}

std::vector<Pod> pods(const std::string& net, int count) {
  std::vector<std::string> ips;
  for (int i = 1; i <= count; ++i) ips.push_back(net + std::to_string(i));
  std::vector<Pod> all;
  for (int i = 0; i < count; ++i) {
    Pod pod{.host = ips[static_cast<std::size_t>(i)], .terms = {}};
    pod.terms.version = "0.1.0";
    pod.terms.ips = ips;
    pod.terms.nodes = count;
    pod.terms.place = i;
    all.push_back(pod);
  }
  return all;
}

TEST(Star, EveryPodGetsTheSameRosterWhateverTheOrderOfComing) {
  std::vector<Pod> all = pods("127.20.1.", 5);
  all[0].late = std::chrono::milliseconds(150);
  all[3].late = std::chrono::milliseconds(300);
  const std::vector<Result> results = meet_all(all);
  for (std::size_t i = 0; i < results.size(); ++i) {
    ASSERT_TRUE(results[i].roster) << results[i].refusal;
    EXPECT_EQ(results[i].roster->mine, i);
    EXPECT_EQ(endpoints(*results[i].roster), endpoints(*results[0].roster));
    EXPECT_EQ(results[i].roster->pods.at(i).host, all[i].host);
  }
}

TEST(Star, WhatTheHubSaysInOneBreathWithTheRosterIsNotLost) {
  const Pod pod = pods("127.20.9.", 2)[1];
  std::promise<void> listening;
  auto hub_side = std::async(std::launch::async, [&] {
    EventLoop loop;
    Hub hub(loop, listen_on(*parse_ipv4("127.20.9.1"), kPort, 8), settings_of(pod).identity);
    class : public Hub::Listener {
     public:
      void on_message(int member, const Message& /*message*/) override {
        const std::vector<PodOffer> both = {offer_of(*pod), offer_of(*pod)};
        // Sent while a message is being taken, both go out in one segment.
        hub->send(
            member,
            RosterMessage{.mine = 1, .hub = 0, .packed_pods = pack_pods(both, {}), .warnings = {}});
        hub->send(member, StopMessage{pod_lost(0, "127.20.9.1", "a test")});
      }
      void on_gone(int /*member*/, const std::string& /*why*/) override { is_alone = true; }

      Hub* hub = nullptr;
      const Pod* pod = nullptr;
      bool is_alone = false;
    } listener;
    listener.hub = &hub;
    listener.pod = &pod;
    hub.listen(listener);
    listening.set_value();
    loop.run_until([&] { return listener.is_alone; });
  });
  listening.get_future().wait();
  EventLoop loop;
  Heard heard;
  {
    Together both(loop, settings_of(pod), pod.terms, offer_of(pod));
    both.session().attend(heard, {});
  }
  hub_side.get();
  ASSERT_TRUE(heard.stop);
  EXPECT_NE(heard.stop->text.find("a test"), std::string::npos);
}

// A member whose trainers are quick may be done before the hub has started its own.
TEST(Star, WhatAMemberSaysBeforeTheHubListensIsNotLost) {
  const std::vector<Pod> both = pods("127.20.12.", 2);
  auto member_side = std::async(std::launch::async, [&] {
    EventLoop loop;
    Together second(loop, settings_of(both[1]), both[1].terms, offer_of(both[1]));
    Heard heard;
    second.session().attend(heard, {});
    second.session().tell_ending({});
    loop.run_until([&] { return heard.verdict.has_value(); });
  });
  EventLoop loop;
  Together first(loop, settings_of(both[0]), both[0].terms, offer_of(both[0]));
  run_until(loop, std::chrono::milliseconds(200), [] { return false; });
  Heard heard;
  first.session().attend(heard, {});
  first.session().tell_ending({});
  EXPECT_TRUE(heard.verdict);
  first.session().decide_now();  // so that the member ends in any case
  first.session().close();
  member_side.get();
}

TEST(Star, APayloadOfTheHubReachesEveryPodUnchanged) {
  const std::vector<Pod> all = pods("127.20.13.", 3);
  std::vector<std::future<std::string>> futures;
  for (const Pod& pod : all) {
    futures.push_back(std::async(std::launch::async, [pod] {
      EventLoop loop;
      const PayloadMaker payload = [](int trainers, std::uint32_t own_address) {
        return std::to_string(trainers) + " at " + format_ipv4(own_address);
      };
      Together pods(loop, settings_of(pod), pod.terms, offer_of(pod), payload);
      pods.session().close();
      return pods.met.payload;
    }));
  }
  for (auto& future : futures) EXPECT_EQ(future.get(), "6 at 127.20.13.1");
}

TEST(Star, AProblemOfOnePodEndsAllWithItsWords) {
  std::vector<Pod> all = pods("127.20.2.", 3);
  all[2].terms.problem = "no card 9 here";
  for (const Result& result : meet_all(all)) {
    EXPECT_NE(result.refusal.find("no card 9 here"), std::string::npos) << result.refusal;
  }
}

TEST(Star, AProblemOfTheHubEndsAllWithItsWords) {
  std::vector<Pod> all = pods("127.20.3.", 3);
  all[0].terms.problem = "no card 9 here";
  for (const Result& result : meet_all(all)) {
    EXPECT_NE(result.refusal.find("no card 9 here"), std::string::npos) << result.refusal;
  }
}

TEST(Star, UnequalCardsEndAllWithBothValues) {
  std::vector<Pod> all = pods("127.20.4.", 3);
  all[1].trainers = 3;
  for (const Result& result : meet_all(all)) {
    EXPECT_NE(result.refusal.find("starts 2"), std::string::npos) << result.refusal;
    EXPECT_NE(result.refusal.find("starts 3"), std::string::npos) << result.refusal;
  }
}

TEST(Star, TwoHubsWithListsInAnotherOrderFindEachOther) {
  std::vector<Pod> all = pods("127.20.5.", 2);
  std::swap(all[1].terms.ips[0], all[1].terms.ips[1]);
  all[1].terms.place = 0;
  for (const Result& result : meet_all(all)) {
    EXPECT_NE(result.refusal.find("127.20.5.1,127.20.5.2"), std::string::npos) << result.refusal;
    EXPECT_NE(result.refusal.find("127.20.5.2,127.20.5.1"), std::string::npos) << result.refusal;
  }
}

TEST(Star, WhoNeverCameIsNamedToAll) {
  std::vector<Pod> all = pods("127.20.6.", 3);
  all.pop_back();
  for (Pod& pod : all) pod.timeout = std::chrono::milliseconds(1500);
  all[1].timeout = std::chrono::milliseconds(20'000);
  for (const Result& result : meet_all(all)) {
    EXPECT_TRUE(result.missing);
    EXPECT_NE(result.refusal.find("127.20.6.3"), std::string::npos) << result.refusal;
  }
}

TEST(Star, TheHubLeavesThePortsOfItsOwnProcessesAlone) {
  auto two = pods("127.20.14.", 2);
  EventLoop loop;
  TcpSettings settings = settings_of(two[0]);
  PodOffer mine = offer_of(two[0]);
  mine.trainers.front().port = kPort;
  mine.roles.push_back({.role = Role::Server, .port = kPort + 1});
  mine.master_port = kPort + 2;
  const int listens_at = kPort + 3;
  settings.ports = {kPort, kPort + 1, kPort + 2, listens_at};
  auto hub = std::async(std::launch::async,
                        [&] { return Together(loop, settings, two[0].terms, mine).met.roster; });
  EventLoop of_member;
  TcpSettings of_second = settings_of(two[1]);
  of_second.ports = {listens_at};
  Together member(of_member, of_second, two[1].terms, offer_of(two[1]));
  EXPECT_EQ(member.met.roster.pods.front().roles.front().port, kPort + 1);
  member.session().close();
  hub.get();
}

TEST(Star, TwoJobsShareTheHosts) {
  std::vector<Pod> all = pods("127.20.7.", 3);
  for (const Pod& pod : pods("127.20.7.", 3)) {
    all.push_back(pod);
    all.back().job = "other.py";
  }
  for (const Result& result : meet_all(all)) EXPECT_TRUE(result.roster) << result.refusal;
}

TEST(Star, TwoLaunchersOfOneNodeEndAll) {
  std::vector<Pod> all = pods("127.20.8.", 3);
  all[2] = all[1];
  for (const Result& result : meet_all(all)) {
    EXPECT_NE(result.refusal.find("two launchers claim node 127.20.8.2"), std::string::npos)
        << result.refusal;
  }
}

}  // namespace
}  // namespace paddle_launch
