// SPDX-License-Identifier: Apache-2.0
// Where the job stands among its rounds: which one this is, what became of those before, and the
// rule by which there may be another.
#pragma once

#include <chrono>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "launcher/channel/round_watch.h"
#include "launcher/channel/session.h"
#include "launcher/job/ending.h"
#include "launcher/run/restart_policy.h"
#include "launcher/tell/rounds_table.h"

namespace paddle_launch {

struct Rounds {
  RestartRules rules{};
  bool may_be_several = false;
  RoundState state{};
  std::vector<ToldRound> told{};   // those that this launcher has played, by add_round()
  RoundWatch* watch = nullptr;     // of an elastic job
  std::set<std::string> warned{};  // what was warned of in rounds before
  bool told_of_console = false;    // that nobody reads it
  bool is_running = false;         // the processes of a round were started
};

// Whether the job goes on after the round that begins now, and who may join it.
class RoundPolicy : public RoundEvents {
 public:
  RoundPolicy(const Rounds& rounds, int nodes) : rounds_(rounds), nodes_(nodes) {}

  std::optional<NextRound> next_round(const JobVerdict& verdict, bool hub_is_lost) override {
    const auto lasted = std::chrono::duration_cast<std::chrono::milliseconds>(
        std::chrono::steady_clock::now() - started_);
    return paddle_launch::next_round(
        rounds_.rules,
        {.state = rounds_.state, .lasted = lasted, .nodes = nodes_, .hub_is_lost = hub_is_lost},
        verdict);
  }
  std::optional<RefusalMessage> on_newcomer(const OfferMessage& offer) override {
    return rounds_.watch->on_newcomer(offer);
  }
  RoundTerms terms(std::chrono::milliseconds grace) const {
    // The nodes of an elastic job find each other again through etcd.
    const bool way_back = rounds_.may_be_several && rounds_.watch == nullptr;
    return {.another_may_follow = rounds_.may_be_several,
            .nodes_may_join = rounds_.watch != nullptr,
            .patience = way_back ? grace + kForTheWayBack : std::chrono::milliseconds(0)};
  }

 private:
  const Rounds& rounds_;
  int nodes_;
  SteadyTime started_ = std::chrono::steady_clock::now();
};

}  // namespace paddle_launch
