// SPDX-License-Identifier: Apache-2.0
// --check over the loopback interface: every pod is a thread with a loop of its own.
#include "launcher/rendezvous/link_checker.h"

#include <algorithm>
#include <functional>
#include <future>

#include <gtest/gtest.h>

#include "launcher/text/ipv4.h"
#include "tests/unit/rendezvous/together.h"

namespace paddle_launch {
namespace {

constexpr int kPort = 16160;  // of addresses that nobody else uses
constexpr int kLimitOfPatience = 20;

using AfterMeeting = std::function<LinkCheck(EventLoop& loop, Together& pods)>;

LinkCheck meet_as(int place, const std::vector<std::string>& ips, const PodOffer& offer,
                  const AfterMeeting& then) {
  JobTerms terms;
  terms.version = "0.1.0";
  terms.ips = ips;
  terms.nodes = static_cast<int>(ips.size());
  terms.place = place;
  terms.layout = "--server_num 2";
  TcpSettings settings;
  settings.identity = {.secret = job_secret("token", "check.py"),
                       .greeting = {"0.1.0", "ann", "check.py", offer.host},
                       .keep_alive = keep_alive_for(std::chrono::seconds(10))};
  settings.hub_host = ips.front();
  settings.ports = {kPort};
  settings.is_hub = place == 0;
  settings.listen_on = parse_ipv4(offer.host);
  settings.from = parse_ipv4(offer.host);
  settings.timeout = std::chrono::seconds(kLimitOfPatience);
  EventLoop loop;
  Together pods(loop, settings, terms, offer);
  return then(loop, pods);
}

LinkCheck check_as(int place, const std::vector<std::string>& ips, const PodOffer& offer) {
  return meet_as(place, ips, offer, [&offer](EventLoop& loop, Together& pods) {
    LinkCheck check = LinkChecker(loop, pods.session(), pods.met.roster, offer.host).run();
    pods.session().close();
    return check;
  });
}

// Meets, and is gone before anything was tried.
void vanish_as(int place, const std::vector<std::string>& ips, const PodOffer& offer) {
  meet_as(place, ips, offer, [](EventLoop&, Together&) { return LinkCheck(); });
}

std::vector<PodOffer> offers_of(const std::vector<std::string>& ips) {
  std::vector<PodOffer> offers(ips.size());
  for (std::size_t i = 0; i < ips.size(); ++i) offers[i].host = ips[i];
  return offers;
}

TEST(LinkChecker, TriesThePortsOfServersAndWorkers) {
  const std::vector<std::string> ips = {"127.20.30.1", "127.20.30.2"};
  std::vector<PodOffer> offers = offers_of(ips);
  offers[0].roles = {{.role = Role::Server, .stage = 1, .index = -1, .port = 20'530}};
  offers[1].roles = {{.role = Role::Server, .stage = 1, .index = -1, .port = 20'531},
                     {.role = Role::Trainer, .stage = 1, .index = -1, .port = 20'532},
                     {.role = Role::Trainer, .stage = 1, .index = -1, .port = 0}};
  auto other = std::async(std::launch::async, [&] { return check_as(1, ips, offers[1]); });
  const LinkCheck check = check_as(0, ips, offers[0]);
  EXPECT_EQ(other.get(), check);
  ASSERT_EQ(check.nodes.size(), 2U);
  EXPECT_EQ(check.nodes[0].processes, 1);
  EXPECT_EQ(check.nodes[1].processes, 3);
  ASSERT_EQ(check.tries.size(), 2U);
  for (const LinkTry& link : check.tries) {
    EXPECT_EQ(link.problem, "");
    EXPECT_TRUE(link.to == 0 ? link.port == 20'530 : link.port == 20'531 || link.port == 20'532);
  }
}

TEST(LinkChecker, ANodeThatIsLostMeanwhileIsSilentAndHoldsNobodyUp) {
  const std::vector<std::string> ips = {"127.20.30.3", "127.20.30.4"};
  const std::vector<PodOffer> offers = offers_of(ips);
  auto other = std::async(std::launch::async, [&] { vanish_as(1, ips, offers[1]); });
  const LinkCheck check = check_as(0, ips, offers[0]);
  other.get();
  EXPECT_EQ(check.silent, std::vector<int>{1});
}

TEST(LinkChecker, TheOthersHaveATableWithoutTheLostOne) {
  const std::vector<std::string> ips = {"127.20.30.7", "127.20.30.8", "127.20.30.9"};
  std::vector<PodOffer> offers = offers_of(ips);
  offers[1].roles = {{.role = Role::Trainer, .stage = 1, .index = -1, .port = 20'534}};
  auto other = std::async(std::launch::async, [&] { return check_as(1, ips, offers[1]); });
  auto lost = std::async(std::launch::async, [&] { vanish_as(2, ips, offers[2]); });
  const LinkCheck check = check_as(0, ips, offers[0]);
  lost.get();
  EXPECT_EQ(other.get(), check);
  EXPECT_EQ(check.silent, std::vector<int>{2});
  const auto tried = std::count_if(check.tries.begin(), check.tries.end(), [](const auto& link) {
    return link.from == 0 && link.to == 1 && link.port == 20'534 && link.problem.empty();
  });
  EXPECT_EQ(tried, 1);
}

TEST(LinkChecker, ShowsItsOwnRowWithoutItsHub) {
  const std::vector<std::string> ips = {"127.20.30.5", "127.20.30.6"};
  std::vector<PodOffer> offers = offers_of(ips);
  offers[0].roles = {{.role = Role::Trainer, .stage = 1, .index = -1, .port = 20'533}};
  auto hub = std::async(std::launch::async, [&] { vanish_as(0, ips, offers[0]); });
  const LinkCheck check = check_as(1, ips, offers[1]);
  hub.get();
  EXPECT_EQ(check.seen_by, 1);
  EXPECT_EQ(check.silent, std::vector<int>{0});
  ASSERT_EQ(check.tries.size(), 1U);
  EXPECT_EQ(check.tries[0].problem, "connection refused");
}

}  // namespace
}  // namespace paddle_launch
