// SPDX-License-Identifier: Apache-2.0
// The session of every other pod. When the hub is lost it decides by itself, from what it knows.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "launcher/channel/judge.h"
#include "launcher/channel/link.h"
#include "launcher/channel/session.h"
#include "launcher/channel/way_back.h"
#include "launcher/job/pod.h"
#include "launcher/os/event_loop.h"
#include "launcher/os/sockets.h"

namespace paddle_launch {

class MemberSession final : public Session {
 public:
  // `link`: to the hub.
  MemberSession(EventLoop& loop, std::unique_ptr<Link> link, const KeepAlive& keep_alive)
      : loop_(loop), link_(std::move(link)), keep_alive_(keep_alive) {}

  // For whoever makes the offer for a round.
  Link& link() { return *link_; }
  // A round begins. `hub`: the hub's place in its roster. `ticket`: without a key there is no way
  // back to the hub.
  void begin(const Roster& roster, int hub, const Ticket& ticket);
  // The hub is there, and its word was the verdict: it gathers for the next round.
  bool has_hub() const { return round_.hub_decided && link_->fd() >= 0; }

  void attend(RoundEvents& who, const RoundTerms& terms) override;
  void tell_stop(const StopCause& own) override;
  void tell_kill() override;
  void work_is_done() override;
  void tell_ending(const PodEnding& mine) override;
  void decide_now() override;
  void tell(const Message& message) override;
  // After a failure: until the hub, who may speak for all, has printed its report and ended.
  void close() override;
  bool is_called_off(bool others_may_come) const override;
  void call_off(int status, const std::string& why) override;
  bool is_hub() const override { return false; }

 private:
  void take(Message message);
  void take_stop(const StopCause& cause);
  void take_verdict(const JobVerdict& verdict);
  bool begin_stopping();  // false: it was stopping already
  void listen();
  void lose_hub(const std::string& why);
  void lose_hub_for_good(const std::string& why);
  bool may_come_back() const;
  void come_back(const std::string& why);
  void say_again(std::unique_ptr<Link> link);
  PodAccount& account(int node) { return round_.accounts.at(static_cast<std::size_t>(node)); }

  struct OfRound {
    int mine = 0;
    int hub = 0;
    std::vector<PodAccount> accounts{};
    std::unique_ptr<WayBack> way_back{};  // none: who loses the hub has lost it
    Phase phase = Phase::Running;
    EventLoop::Clock::time_point stopping_since{};
    bool killed = false;
    bool failed = false;  // so says the hub's verdict
    bool hub_decided = false;
  };

  EventLoop& loop_;
  std::unique_ptr<Link> link_;
  KeepAlive keep_alive_;
  OfRound round_;
};

}  // namespace paddle_launch
