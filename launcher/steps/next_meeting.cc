// SPDX-License-Identifier: Apache-2.0
#include "launcher/steps/next_meeting.h"

#include <utility>

#include <fmt/format.h>

#include "launcher/job/errors.h"
#include "launcher/os/event_loop.h"
#include "launcher/rendezvous/agreement.h"
#include "launcher/rendezvous/gathering.h"
#include "launcher/rendezvous/joining.h"
#include "launcher/rendezvous/solo.h"
#include "launcher/run/announcer.h"
#include "launcher/tell/waiting.h"

namespace paddle_launch {
namespace {

// Who would have told it is gone.
struct HubLost : NodeMissing {
  using NodeMissing::NodeMissing;
};

bool is_first_on_node(const Roster& roster) {
  const std::size_t mine = roster.mine;
  return mine >= roster.node_of.size() || mine == 0 ||
         roster.node_of[mine] != roster.node_of[mine - 1];
}

std::vector<std::string> hosts_of(const Roster& roster) {
  std::vector<std::string> hosts;
  for (const PodOffer& pod : roster.pods) hosts.push_back(pod.host);
  return hosts;
}

Met gather(EventLoop& loop, const JobSpec& job, const Company& company, BetweenRounds between,
           OfferMessage mine, const PayloadMaker& payload, Announcer& announcer) {
  GatheringSettings settings{
      .round = between.next.state,
      .nodes = static_cast<int>(between.roster.pods.size()),
      .hosts = hosts_of(between.roster),
      .node_of = between.roster.node_of,
      .others_may_come = company.way() == Way::Tcp,
      .timeout = job.bootstrap_timeout,
      .waiting = [&announcer](const WaitingFacts& facts) { announcer.waiting(facts); },
      .never_came = never_came,
      .remark = [&announcer](const std::string& text) { announcer.remark(text); }};
  return *Gathering(loop, std::move(settings), std::move(between.connections), std::move(mine))
              .run(payload);
}

Met join(EventLoop& loop, const JobSpec& job, BetweenRounds between, OfferMessage mine,
         Announcer& announcer) {
  const std::string hub = fmt::format("node {}", between.roster.pods.front().host);
  if (!between.connections.link) {
    throw HubLost(fmt::format("{}, which holds the job together, was lost", hub));
  }
  Joining joining(
      loop,
      {.node_of = between.roster.node_of,
       .keep_alive = keep_alive_for(job.heartbeat),
       .timeout = job.bootstrap_timeout + kPatienceWithHub,
       .waiting = [&announcer](const WaitingFacts& facts) { announcer.waiting(facts); }},
      std::move(between.connections), std::move(mine));
  auto met = joining.run();
  if (met) return std::move(*met);
  throw HubLost(
      fmt::format("{}, which holds the job together, was lost before the next round began: {}", hub,
                  joining.lost()));
}

}  // namespace

void tell_the_others(EventLoop& loop, Connections& connections, int status,
                     const std::string& why) {
  const RefusalMessage message{.status = status, .node = -1, .text = why};
  if (connections.hub) connections.hub->send_all(message);
  if (connections.link) connections.link->send(message);
  const auto is_told = [&connections] {
    const bool is_hub_alone = !connections.hub || !connections.hub->has_members();
    const bool has_hub_ended = !connections.link || connections.link->fd() < 0;
    return is_hub_alone && (has_hub_ended || connections.news->refusal() != nullptr);
  };
  // Closing at once could throw away what is still on its way.
  run_until(loop, kLastWord, is_told);
}

void pause_between_rounds(EventLoop& loop, const BetweenRounds& between, bool others_may_come) {
  const BetweenNews& news = *between.connections.news;
  // Also where there is no pause: a signal may have come while the last round was being ended.
  run_until(loop, between.next.pause, [&] {
    return news.refusal() != nullptr || !news.hub_is_gone.empty() ||
           (!others_may_come && !news.gone.empty());
  });
}

Met meet_again(EventLoop& loop, const JobSpec& job, const Company& company, BetweenRounds between,
               JobTerms terms, PodOffer offer, const PayloadMaker& payload) {
  const RoundState state = between.next.state;
  const PodOffer& before = between.roster.pods.at(between.roster.mine);
  offer.name = before.name;
  offer.host = before.host;
  terms.place = static_cast<int>(between.roster.mine);
  if (company.way() == Way::Solo) {
    Met met = Solo().meet(terms, offer, payload);
    met.round = state;
    return met;
  }
  Announcer announcer(job, company.speaks());
  const bool speaks_for_hub = is_first_on_node(between.roster) || between.roster.mine == 1;
  OfferMessage mine = offer_message(terms, offer);
  try {
    if (between.connections.hub) {
      return gather(loop, job, company, std::move(between), std::move(mine), payload, announcer);
    }
    return join(loop, job, std::move(between), std::move(mine), announcer);
  } catch (const HubLost&) {
    if (!company.speaks() && !speaks_for_hub) throw AlreadyTold{kNodeMissingStatus};
    throw;
  } catch (const NodeMissing&) {
    if (!company.speaks()) throw AlreadyTold{kNodeMissingStatus};
    throw;
  } catch (const LaunchError&) {
    if (!company.speaks()) throw AlreadyTold{};
    throw;
  }
}

}  // namespace paddle_launch
