// SPDX-License-Identifier: Apache-2.0
// What a person reads about the rounds of a job: what comes next, and at the end what there was.
#pragma once

#include <chrono>
#include <string>
#include <vector>

#include "launcher/job/ending.h"
#include "launcher/job/job_spec.h"
#include "launcher/job/plan.h"

namespace paddle_launch {

// One round that has ended.
struct ToldRound {
  RoundState state{};
  int nodes = 1;
  int trainers = 0;
  std::chrono::milliseconds lasted{0};
  StopCause cause{};
  int left_out = 0;  // so many before this one are not kept
};

// Of a job that is started again for weeks only the first rounds and the last ones are kept.
void add_round(std::vector<ToldRound>& rounds, ToldRound ended);

// "round 1 begins: 8 processes here, 16 trainers on 2 nodes in all".
std::string round_begins_line(const ProcessPlan& plan);

// "round 0 failed: rank 3 failed: exit code 7; starting again in 1 s (restart 1 of 3)". For other
// kinds of causes: "round 2 ended: node 10.0.0.4 joined; …".
std::string next_round_line(const ToldRound& ended, const NextRound& next, int most_restarts);

// Why a job that may be started again has ended all the same; empty: that goes without saying.
std::string no_next_round_line(const ToldRound& ended, const RestartSpec& restarts);

// A line for each round that is kept, the last one included; empty where there were fewer than
// `least`.
std::string rounds_table(const std::vector<ToldRound>& rounds, std::size_t least = 2);

// What --elastic_pre_hook printed, line by line, for the console.
std::vector<std::string> hook_lines(const std::string& output);

// "12.3 s", "1 s", "0.5 s"; minutes and hours as how_long().
std::string short_span(std::chrono::milliseconds span);

}  // namespace paddle_launch
