// SPDX-License-Identifier: Apache-2.0
// A session without other pods, for what talks to one: it keeps who attends and does nothing.
#pragma once

#include <vector>

#include "launcher/channel/session.h"

namespace paddle_launch {

class FakeSession : public Session {
 public:
  void attend(RoundEvents& who, const RoundTerms& terms) override { begin_round(who, terms); }
  void tell_stop(const StopCause& /*own*/) override {}
  void tell_kill() override {}
  void work_is_done() override {}
  void tell_ending(const PodEnding& /*mine*/) override {}
  void decide_now() override {}
  void tell(const Message& /*message*/) override {}
  void close() override {}
  bool is_hub() const override { return true; }
  bool has_endings() const override { return some_ended; }
  std::vector<OfferMessage> newcomers() const override { return waiting; }

  bool some_ended = false;
  std::vector<OfferMessage> waiting{};
};

}  // namespace paddle_launch
