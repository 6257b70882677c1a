// SPDX-License-Identifier: Apache-2.0
#include "launcher/rendezvous/elastic.h"

#include <algorithm>
#include <csignal>
#include <utility>

#include <fmt/format.h>

#include "launcher/job/errors.h"
#include "launcher/rendezvous/agreement.h"
#include "launcher/rendezvous/joining.h"
#include "launcher/text/bytes_as_text.h"
#include "launcher/text/utf8.h"

namespace paddle_launch {
namespace {

BookedRound booked(const Roster& roster, const RoundState& state) {
  BookedRound round{.state = state, .is_running = true};
  int rank = 0;
  for (const PodOffer& pod : roster.pods) {
    const int trainers = static_cast<int>(pod.trainers.size());
    round.pods.push_back(
        {.name = pod.name, .host = pod.host, .first_rank = rank, .trainers = trainers});
    rank += trainers;
  }
  return round;
}

}  // namespace

std::string stopped_text(const JobBook& book) {
  return fmt::format("the job was stopped by --stop from {}",
                     one_line(book.stop_from.value_or("somewhere")));
}

Elastic::Elastic(EventLoop& loop, ElasticSettings settings)
    : loop_(loop),
      settings_(std::move(settings)),
      host_(settings_.host.empty() ? address_towards_etcd() : settings_.host),
      register_(std::make_unique<JobRegister>(loop, settings_.job)) {}

void Elastic::open() {
  listen_idly();
  register_->open(host_, listener_->port());
  if (const auto secret = key_of(from_hex(register_->secret()).value_or(""))) {
    settings_.identity.secret = *secret;
  }
}

void Elastic::throw_if_stopped() const {
  if (register_->book().stop_from) {
    throw StoppedBySignal(SIGTERM, stopped_text(register_->book()));
  }
}

Met Elastic::meet(Connections connections, JobTerms terms, PodOffer offer, const NextRound& next,
                  int before, const PayloadMaker& payload) {
  began_ = EventLoop::Clock::now();
  offer.host = host_;
  terms.round = next.state.number - 1;
  const bool hub_is_lost = before > 0 && !connections.hub && !connections.link;
  if (hub_is_lost && register_->book().round) lost_hub_ = register_->book().round->hub;
  for (const std::string& name : connections.lost) register_->expel(name);
  for (;;) {
    throw_if_stopped();
    if (!connections.hub && !connections.link) connections = find_hub();
    offer.name = register_->name();
    const OfferMessage mine = offer_message(terms, offer);
    const bool leads = connections.hub != nullptr;
    auto met = leads ? gather(std::exchange(connections, {}), mine, next, before, payload)
                     : join(std::exchange(connections, {}), mine);
    register_->on_change({});
    register_->keep_name(true);
    if (met) return std::move(*met);
  }
}

ElasticRule Elastic::rule(int before, bool has_settled, RoundState round) {
  return {.nodes = [this] { return register_->nodes(); },
          .settle = settings_.job.spec.settle,
          .before = before,
          .has_settled = has_settled,
          .expected =
              [this](const std::set<std::string>& here) {
                const auto& pods = register_->book().pods;
                return static_cast<int>(std::count_if(
                    pods.begin(), pods.end(),
                    [&here](const BookedPod& pod) { return !here.contains(pod.name); }));
              },
          .patience = settings_.patience,
          .lost = [this](const std::string& name) { register_->expel(name); },
          .commit =
              [this, round](const Roster& roster, bool as_before,
                            const std::function<void(bool)>& answered) {
                // Those who were together before need nobody's leave to go on.
                if (as_before && is_held_up()) return answered(true);
                register_->commit(booked(roster, round), answered);
              },
          .is_held_up = [this] { return is_held_up(); }};
}

GatheringSettings Elastic::gathering_settings(const RoundState& round, ElasticRule rule) {
  return {.round = round,
          .elastic = std::move(rule),
          .timeout = settings_.job.spec.timeout,
          .waiting =
              [this](const WaitingFacts& facts) {
                register_->note_waiting();
                if (settings_.waiting) settings_.waiting(facts);
              },
          .never_came = [this](const WaitingFacts& facts) { return too_few(facts); },
          .remark = settings_.remark};
}

std::optional<Met> Elastic::gather(Connections connections, OfferMessage mine,
                                   const NextRound& next, int before, const PayloadMaker& payload) {
  RoundState round = next.state;
  if (const auto& last = register_->book().round) {
    round.number = std::max(round.number, last->state.number + 1);
    round.restarts = std::max(round.restarts, last->state.restarts);
  }
  // Its own place is from a round that others have left behind.
  if (mine.terms.round + 1 != round.number) mine.terms.place.reset();
  register_->keep_name(false);
  Gathering gathering(loop_, gathering_settings(round, rule(before, next.has_settled, round)),
                      std::move(connections), std::move(mine));
  const std::string name = register_->name();
  register_->on_change([this, &gathering, name] {
    if (register_->book().stop_from) {
      return gathering.refuse(
          {.status = kSignalBase + SIGTERM, .node = -1, .text = stopped_text(register_->book())});
    }
    const bool is_deposed = register_->name() != name || !register_->leads();
    if (is_deposed && !is_held_up()) return gathering.give_up();
    gathering.look_again();
  });
  std::optional<Met> met;
  try {
    met = gathering.run(payload);
  } catch (...) {
    if (gathering.is_refused()) register_->leave(true);
    throw;
  }
  if (met) return met;
  if (settings_.remark) {
    settings_.remark("another node holds the job together now; looking for it");
  }
  listen_idly();
  register_->book_anew(host_, listener_->port());
  return std::nullopt;
}

std::string Elastic::too_few(const WaitingFacts& facts) const {
  const NodeRange range = register_->nodes();
  const auto waited =
      std::chrono::duration_cast<std::chrono::seconds>(settings_.job.spec.timeout).count();
  if (facts.missing == 0) {
    return fmt::format(
        "job {}: the nodes have changed, and etcd did not answer within --elastic_timeout ({} s): "
        "{}; see that it runs, and start the job again",
        settings_.job.job_id, waited, register_->problem());
  }
  return fmt::format(
      "job {}: {} of at least {} node{} came within --elastic_timeout ({} s){}; start the job "
      "again with more nodes, or with a lower --np",
      settings_.job.job_id, facts.nodes - facts.missing, range.min, range.min == 1 ? "" : "s",
      waited,
      register_->problem().empty() ? "" : "; etcd does not answer: " + register_->problem());
}

std::optional<Met> Elastic::join(Connections connections, OfferMessage mine) {
  Joining joining(loop_,
                  {.keep_alive = settings_.identity.keep_alive,
                   .timeout = settings_.job.spec.timeout + kPatienceWithHub,
                   .waiting = settings_.waiting,
                   .spare =
                       [this] {
                         if (!settings_.remark) return;
                         settings_.remark("the job is running; this node waits for a place in it");
                       }},
                  std::move(connections), std::move(mine));
  const BookedPod* const leader = register_->leader();
  const std::string hub = leader == nullptr ? "" : leader->name;
  auto met = joining.run();
  if (!met) {
    lost_hub_ = hub;
    began_ = EventLoop::Clock::now();
  }
  return met;
}

}  // namespace paddle_launch
