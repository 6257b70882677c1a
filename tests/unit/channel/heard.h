// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "launcher/channel/session.h"

namespace paddle_launch {

// What one end heard, and what it answers.
struct Heard final : RoundEvents {
  std::optional<StopCause> stop{};
  int kills = 0;
  std::optional<JobVerdict> verdict{};
  std::vector<std::string> remarks{};

  std::optional<NextRound> next{};
  std::optional<std::string> turned_away{};  // the host of whoever may not join
  std::optional<JobVerdict> asked{};         // over which the job may go on
  bool asked_without_hub = false;

  void on_stop(const StopCause& cause) override { stop = cause; }
  void on_kill() override { ++kills; }
  void on_verdict(const JobVerdict& told) override { verdict = told; }
  void on_remark(const std::string& line) override { remarks.push_back(line); }
  std::optional<NextRound> next_round(const JobVerdict& made, bool hub_is_lost) override {
    asked = made;
    asked_without_hub = hub_is_lost;
    return next;
  }
  std::optional<RefusalMessage> on_newcomer(const OfferMessage& offer) override {
    if (offer.offer.host != turned_away) return std::nullopt;
    return RefusalMessage{.status = 1, .node = -1, .text = "not of this job"};
  }
};

}  // namespace paddle_launch
