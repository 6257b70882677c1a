// SPDX-License-Identifier: Apache-2.0
// All pods but the hub. Each does what HubSearch and Joining do, and tries again in the same way
// when it is turned away; those own their loop, and 4 095 loops would measure the scheduler.
#include <linux/tcp.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <algorithm>
#include <memory>
#include <stdexcept>
#include <vector>

#include "benchmarks/process_facts.h"
#include "benchmarks/simulated_pods.h"
#include "launcher/channel/dialer.h"
#include "launcher/channel/message.h"
#include "launcher/channel/packed_pods.h"
#include "launcher/os/check.h"
#include "launcher/rendezvous/agreement.h"
#include "launcher/text/ipv4.h"

namespace paddle_launch {
namespace {

using Clock = EventLoop::Clock;

constexpr std::chrono::milliseconds kFirstPause{50};
constexpr std::chrono::milliseconds kLongestPause{1000};

double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

class Member {
 public:
  using Done = std::function<void(RosterMessage)>;

  Member(EventLoop& loop, const TcpSettings& settings, OfferMessage offer, Done done)
      : loop_(loop),
        settings_(settings),
        offer_(std::move(offer)),
        done_(std::move(done)),
        retry_(loop) {}

  void dial() {
    std::vector<DialTarget> targets;
    for (const int port : settings_.ports) targets.push_back({*settings_.listen_on, port});
    dialer_ = std::make_unique<Dialer>(
        loop_, settings_.identity, targets, settings_.from,
        Dialer::Events{.found = [this](std::unique_ptr<Link> link) { joined(std::move(link)); },
                       .failed =
                           [this](const DialFailure&) {
                             dialer_.reset();
                             try_again();
                           }});
  }

  int place() const { return *offer_.terms.place; }
  int retries() const { return retries_; }
  int fd() const { return link_->fd(); }

 private:
  void joined(std::unique_ptr<Link> link) {
    link_ = std::move(link);
    dialer_.reset();
    pause_ = kFirstPause;
    link_->listen([this](Message message) { take(std::move(message)); },
                  [this](const LinkEnd&) {
                    link_.reset();
                    try_again();
                  });
    link_->send(clocks_now());
    link_->send(offer_);
  }

  void take(Message message) {
    if (const auto* refusal = std::get_if<RefusalMessage>(&message)) {
      throw std::runtime_error(refusal->text);
    }
    if (auto* roster = std::get_if<RosterMessage>(&message)) done_(std::move(*roster));
  }

  void try_again() {
    ++retries_;
    retry_.set(pause_, [this] { dial(); });
    pause_ = std::min(pause_ * 2, kLongestPause);
  }

  EventLoop& loop_;
  const TcpSettings& settings_;
  OfferMessage offer_;
  Done done_;
  std::unique_ptr<Dialer> dialer_;
  std::unique_ptr<Link> link_;
  Alarm retry_;
  std::chrono::milliseconds pause_ = kFirstPause;
  int retries_ = 0;
};

// What came must be the same for all, in its bytes, and right for one, in every field.
class RosterCheck {
 public:
  explicit RosterCheck(const SimulatedJob& job) : job_(job) {}

  void take(int place, RosterMessage message) {
    if (first_.packed_pods.empty()) first_ = message;
    if (message.mine != place || message.packed_pods != first_.packed_pods) {
      throw std::runtime_error("a member got another roster");
    }
    ++taken_;
  }

  bool is_complete() const { return taken_ + 1 == job_.pods; }
  size_t bytes() const { return first_.packed_pods.size(); }

  // How long one member takes to unpack it.
  double unpack(const std::vector<std::string>& ips) const {
    const auto start = Clock::now();
    const auto pods = unpack_pods(first_.packed_pods, ips);
    const double seconds = seconds_since(start);
    bool right = pods && pods->size() == static_cast<size_t>(job_.pods);
    for (int place = 0; right && place < job_.pods; ++place) {
      const PodOffer sent = offer_of(place);
      const PodOffer& got = (*pods)[static_cast<size_t>(place)];
      right = got.host == sent.host && got.trainers == sent.trainers;
    }
    if (!right) throw std::runtime_error("the roster is not what was offered");
    return seconds;
  }

 private:
  const SimulatedJob& job_;
  RosterMessage first_;
  int taken_ = 0;
};

struct Traffic {
  double from_hub = 0;
  double to_hub = 0;
};

Traffic traffic_of(const std::vector<std::unique_ptr<Member>>& members) {
  Traffic sum;
  for (const auto& member : members) {
    tcp_info info = {};
    socklen_t size = sizeof info;
    check(getsockopt(member->fd(), IPPROTO_TCP, TCP_INFO, &info, &size), "getsockopt TCP_INFO");
    sum.from_hub += static_cast<double>(info.tcpi_bytes_received);
    sum.to_hub += static_cast<double>(info.tcpi_bytes_sent);
  }
  return sum;
}

}  // namespace

void play_members(const SimulatedJob& job) {
  EventLoop loop;
  const TcpSettings settings = settings_of(job);
  const JobTerms terms = terms_of(job, 1);
  RosterCheck rosters(job);
  // Each launcher makes its own offer, with a digest of the whole list, on its own machine; here
  // one is made and timed, and the others are copies.
  const auto start_of_offer = Clock::now();
  OfferMessage offer = offer_message(terms, offer_of(1));
  const double offer_seconds = seconds_since(start_of_offer);
  std::vector<std::unique_ptr<Member>> members;
  for (int place = 1; place < job.pods; ++place) {
    offer.terms.place = place;
    offer.offer = offer_of(place);
    members.push_back(std::make_unique<Member>(
        loop, settings, offer, [&, place](RosterMessage m) { rosters.take(place, std::move(m)); }));
  }
  const Costs before = costs_now();
  const auto start = Clock::now();
  for (const auto& member : members) member->dial();
  loop.run_until([&rosters] { return rosters.is_complete(); });
  say("received", seconds_since(start));
  say_costs_since(before);
  say("offer", offer_seconds);
  say("unpack", rosters.unpack(terms.ips));
  const Traffic traffic = traffic_of(members);
  say("from_hub", traffic.from_hub);
  say("to_hub", traffic.to_hub);
  say("roster", static_cast<double>(rosters.bytes()));
  double retries = 0;
  for (const auto& member : members) {
    retries += member->retries();
    close_by_reset(member->fd());
  }
  say("retries", retries);
}

}  // namespace paddle_launch
