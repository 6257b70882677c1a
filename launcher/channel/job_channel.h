// SPDX-License-Identifier: Apache-2.0
// What holds the pods of a running job together: the first reason to stop reaches everyone, and all
// launchers end with one verdict. A job of one node has a channel too, so that nobody asks "am I
// alone?".
#pragma once

#include <chrono>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "launcher/channel/connections.h"
#include "launcher/channel/message.h"
#include "launcher/job/ending.h"
#include "launcher/job/link_check.h"

namespace paddle_launch {

// Beyond the grace, which trainers may need to save: how long a node may be out of reach while the
// job is being stopped.
constexpr std::chrono::seconds kForTheWayBack{10};

class JobChannel {
 public:
  struct Events {
    std::function<void(const StopCause&)> stop;  // another pod gave the reason
    std::function<void()> kill;                  // somebody's user is impatient
    std::function<void(const JobVerdict&)> verdict;
    std::function<void(const std::string&)> remark;
    std::function<void(int node, const Message&)> other;  // what --check and parameter servers say
    // Of the hub, for whom the loss of a node is no reason to stop (--check): instead of a stop.
    std::function<void(const StopCause&)> lost{};
  };

  // For whoever has something to say and nothing to hear.
  static Events deaf() {
    return {.stop = [](const StopCause&) {},
            .kill = [] {},
            .verdict = [](const JobVerdict&) {},
            .remark = [](const std::string&) {},
            .other = {}};
  }

  // Asked once, where the verdict is made: whether the job goes on. `hub_is_lost`: the verdict is
  // a member's own.
  using Policy = std::function<std::optional<NextRound>(const JobVerdict&, bool hub_is_lost)>;

  // The hub of an elastic job: somebody new wants to take part. May refuse it.
  using Doorkeeper = std::function<std::optional<RefusalMessage>(const OfferMessage&)>;

  JobChannel() = default;
  JobChannel(const JobChannel&) = delete;
  JobChannel& operator=(const JobChannel&) = delete;
  virtual ~JobChannel() = default;

  virtual void set_events(Events events) = 0;
  void set_policy(Policy policy) { policy_ = std::move(policy); }
  // From the reason to stop on: so long a pod that is out of reach is waited for. Zero: it is lost.
  void set_patience(std::chrono::milliseconds patience) { patience_ = patience; }
  void set_doorkeeper(Doorkeeper doorkeeper) { doorkeeper_ = std::move(doorkeeper); }
  // This pod's own reason to stop.
  virtual void tell_stop(const StopCause& own) = 0;
  virtual void tell_kill() = 0;
  // All workers of the whole job have ended well: nothing that happens from now on is a reason to
  // stop.
  virtual void work_is_done() = 0;
  // This pod's processes are gone. The verdict comes when all have said so.
  virtual void tell_ending(const PodEnding& mine) = 0;
  // Gives up on whoever has not told how it ended; the verdict comes at once.
  virtual void decide_now() = 0;
  // To the hub, or from the hub to all.
  virtual void tell(const Message& message) = 0;
  // Waits, for a short time at most, until everybody has what was sent to them.
  virtual void close() = 0;

  // After a verdict with another round; the channel itself is of no more use.
  virtual Connections release() = 0;

  virtual bool is_hub() const = 0;
  // Some pod has told its end: its work is done, and another round would do it again.
  virtual bool has_endings() const { return false; }
  // Who waits for the next round.
  virtual std::vector<OfferMessage> newcomers() const { return {}; }
  // The hub knows, once it has asked: what a node's clock shows, less what ours does.
  virtual std::optional<ClockDifference> wall_clock_of(int node) const = 0;

 protected:
  JobVerdict with_next_round(JobVerdict verdict, bool hub_is_lost) const {
    if (policy_) verdict.next = policy_(verdict, hub_is_lost);
    return verdict;
  }
  bool has_policy() const { return static_cast<bool>(policy_); }
  std::chrono::milliseconds patience() const { return patience_; }
  const Doorkeeper& doorkeeper() const { return doorkeeper_; }

 private:
  Policy policy_;
  std::chrono::milliseconds patience_{0};
  Doorkeeper doorkeeper_;
};

}  // namespace paddle_launch
