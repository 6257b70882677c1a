// SPDX-License-Identifier: Apache-2.0
// One round, from the roster to the end of its last process.
#pragma once

#include "launcher/cli/command_line.h"
#include "launcher/job/ending.h"
#include "launcher/job/environment.h"
#include "launcher/os/event_loop.h"
#include "launcher/os/inherited.h"
#include "launcher/os/signals.h"
#include "launcher/plan/pod_plan.h"
#include "launcher/rendezvous/rendezvous.h"
#include "launcher/site/machine.h"
#include "launcher/site/offer.h"
#include "launcher/steps/company.h"
#include "launcher/steps/round.h"
#include "launcher/steps/rounds.h"

namespace paddle_launch {

// All that stays the same from round to round.
struct Job {
  const ParsedCommandLine& command;
  const Environment& env;
  const Surroundings& around;
  const Machine& here;
  EventLoop& loop;
  SignalWatch& signals;
  const Inherited& inherited;
  Company& company;
};

// What fails here is told to the others before it is thrown.
RoundEnd play(const Job& job, const Offer& offer, const Met& met, OpeningRemarks remarks,
              Rounds& rounds);

RoundFacts facts_of_round(const RoundState& round, const std::string& payload,
                          const Surroundings& around);

// --dry_run. Returns the exit status.
int print_plan(const JobSpec& job, const ProcessPlan& plan);

}  // namespace paddle_launch
