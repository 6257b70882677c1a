// SPDX-License-Identifier: Apache-2.0
// The session of a job of one node: its own word is the verdict.
#pragma once

#include <utility>
#include <vector>

#include "launcher/channel/judge.h"
#include "launcher/channel/session.h"

namespace paddle_launch {

class SoloSession final : public Session {
 public:
  void attend(RoundEvents& who, const RoundTerms& terms) override {
    begin_round(who, terms);
    stopping_ = false;
    done_ = false;
  }
  void tell_stop(const StopCause&) override { stopping_ = true; }
  void tell_kill() override {}
  // A reason to stop that came first stays the reason.
  void work_is_done() override { done_ = !stopping_; }
  void tell_ending(const PodEnding& mine) override {
    const std::vector<PodAccount> me = {PodAccount{.ending = mine}};
    events().on_verdict(with_next_round(judge(done_ ? without_causes(me) : me), false));
  }
  void decide_now() override {}
  void tell(const Message&) override {}
  void close() override {}
  bool is_hub() const override { return true; }

 private:
  bool stopping_ = false;
  bool done_ = false;  // all workers have ended well
};

}  // namespace paddle_launch
