// SPDX-License-Identifier: Apache-2.0
// Every meeting of a job but its first: over the connections that the round before has left.
#pragma once

#include "launcher/channel/connections.h"
#include "launcher/job/job_spec.h"
#include "launcher/os/event_loop.h"
#include "launcher/rendezvous/rendezvous.h"
#include "launcher/steps/company.h"

namespace paddle_launch {

// What this pod brings from the round before. All empty: there was none.
struct BetweenRounds {
  Connections connections{};
  Roster roster{};  // of that round
  NextRound next{};
};

// Waits as long as was asked for before the next round, or until there can be none.
// `others_may_come`: in the place of a node that goes.
void pause_between_rounds(EventLoop& loop, const BetweenRounds& between, bool others_may_come);

// The others are not to wait for a pod that cannot go on. Waits, a short time at most, until they
// know.
void tell_the_others(EventLoop& loop, Connections& connections, int status, const std::string& why);

// `terms` and `offer`: as in the first meeting, with new ports.
Met meet_again(EventLoop& loop, const JobSpec& job, const Company& company, BetweenRounds between,
               JobTerms terms, PodOffer offer, const PayloadMaker& payload);

}  // namespace paddle_launch
