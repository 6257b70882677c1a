// SPDX-License-Identifier: Apache-2.0
// What holds the pods of a running job together: the first reason to stop reaches everyone, and all
// launchers end with one verdict. A job of one node has a channel too, so that nobody asks "am I
// alone?".
#pragma once

#include <functional>
#include <optional>
#include <string>

#include "launcher/channel/message.h"
#include "launcher/job/ending.h"
#include "launcher/job/link_check.h"

namespace paddle_launch {

class JobChannel {
 public:
  struct Events {
    std::function<void(const StopCause&)> stop;  // another pod gave the reason
    std::function<void()> kill;                  // somebody's user is impatient
    std::function<void(const JobVerdict&)> verdict;
    std::function<void(const std::string&)> remark;
    std::function<void(int node, const Message&)> other;  // what --check and parameter servers say
  };

  JobChannel() = default;
  JobChannel(const JobChannel&) = delete;
  JobChannel& operator=(const JobChannel&) = delete;
  virtual ~JobChannel() = default;

  virtual void set_events(Events events) = 0;
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

  virtual bool is_hub() const = 0;
  // The hub knows, once it has asked: what a node's clock shows, less what ours does.
  virtual std::optional<ClockDifference> wall_clock_of(int node) const = 0;
};

}  // namespace paddle_launch
