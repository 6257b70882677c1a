// SPDX-License-Identifier: Apache-2.0
// The channel of a job of one node: its own word is the verdict.
#pragma once

#include <utility>

#include "launcher/channel/job_channel.h"
#include "launcher/channel/judge.h"

namespace paddle_launch {

class SoloChannel final : public JobChannel {
 public:
  void set_events(Events events) override { events_ = std::move(events); }
  void tell_stop(const StopCause&) override {}
  void tell_kill() override {}
  void tell_ending(const PodEnding& mine) override {
    events_.verdict(judge({PodAccount{.ending = mine}}));
  }
  void decide_now() override {}
  void tell(const Message&) override {}
  void close() override {}
  bool is_hub() const override { return true; }
  std::optional<ClockDifference> wall_clock_of(int) const override { return std::nullopt; }

 private:
  Events events_;
};

}  // namespace paddle_launch
