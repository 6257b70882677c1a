// SPDX-License-Identifier: Apache-2.0
// Every other pod's end of the job channel. When the hub is lost it decides by itself, from what it
// knows.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "launcher/channel/judge.h"
#include "launcher/channel/link.h"
#include "launcher/channel/session.h"
#include "launcher/channel/way_back.h"
#include "launcher/job/pod.h"

namespace paddle_launch {

class MemberSession final : public Session {
 public:
  // `hub`: the hub's place in the roster. `early`: what it has said since it sent the roster.
  MemberSession(std::unique_ptr<Link> link, const Roster& roster, int hub,
                std::vector<Message> early, std::unique_ptr<WayBack> way_back = nullptr);

  void attend(RoundEvents& who, const RoundTerms& terms) override;
  void tell_stop(const StopCause& own) override;
  void tell_kill() override;
  void work_is_done() override { done_ = true; }
  void tell_ending(const PodEnding& mine) override;
  void decide_now() override;
  void tell(const Message& message) override;
  // After a failure: until the hub, who may speak for all, has printed its report and ended.
  void close() override;
  // Without a link where the hub is lost, or gave no verdict.
  Connections release() override;
  bool is_hub() const override { return false; }
  std::optional<ClockDifference> wall_clock_of(int) const override { return std::nullopt; }

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
  PodAccount& account(int node) { return accounts_.at(static_cast<std::size_t>(node)); }

  std::unique_ptr<Link> link_;
  int mine_;
  int hub_;
  std::vector<PodAccount> accounts_;
  std::vector<Message> early_;
  std::optional<std::string> lost_before_listening_;
  std::unique_ptr<WayBack> way_back_;  // none: who loses the hub has lost it
  bool stopping_ = false;
  EventLoop::Clock::time_point stopping_since_;
  bool killed_ = false;
  bool done_ = false;  // all workers of the job have ended well, says the hub
  bool decided_ = false;
  bool failed_ = false;  // so says the hub's verdict
  bool hub_decided_ = false;
  std::vector<Message> for_the_next_;  // round, after the verdict
};

}  // namespace paddle_launch
