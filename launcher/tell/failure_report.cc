// SPDX-License-Identifier: Apache-2.0
#include "launcher/tell/failure_report.h"

#include <algorithm>
#include <chrono>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "launcher/tell/words.h"

namespace paddle_launch {
namespace {

const ProcessSpec& spec_of(const ProcessExit& exit, const ProcessPlan& plan) {
  return plan.processes.at(static_cast<std::size_t>(exit.worker));
}

std::string duration(SteadyTime from, SteadyTime to) {
  const double seconds = std::chrono::duration<double>(to - from).count();
  if (seconds < 60) return fmt::format("{:.1f} s", seconds);
  const auto whole = static_cast<long>(seconds);
  if (whole < 3600) return fmt::format("{} min {} s", whole / 60, whole % 60);
  return fmt::format("{} h {} min", whole / 3600, whole % 3600 / 60);
}

std::string cards_of(const ProcessSpec& spec) {
  if (spec.cards.empty()) return "CPU";
  std::vector<std::string> names;
  for (const Card& card : spec.cards) names.push_back(card.name);
  return fmt::format("card {}", fmt::join(names, ","));
}

std::string also_failed(const ProcessExit& first, const std::vector<ProcessExit>& exits,
                        const ProcessPlan& plan) {
  std::string text;
  for (const ProcessExit& exit : exits) {
    if (exit.worker == first.worker || !exit.failed() || exit.was_told_to_stop) continue;
    const ProcessSpec& spec = spec_of(exit, plan);
    const auto later =
        std::chrono::duration_cast<std::chrono::milliseconds>(exit.ended - first.ended).count();
    text += fmt::format("  also      rank {}: {}, {} ms later; log {}\n", spec.rank, describe(exit),
                        later, spec.log_path);
  }
  return text;
}

std::string framed(const std::string& excerpt) {
  constexpr const char* rule =
      "  --------------------------------------------------------------------\n";
  return rule + excerpt + rule;
}

std::string log_part(const ProcessSpec& spec, const FailureFacts& facts) {
  if (!facts.log_readable) return fmt::format("  log       {} (cannot be read)\n", spec.log_path);
  if (facts.log_excerpt.empty())
    return fmt::format("  log       {} (nothing was written to it)\n", spec.log_path);
  return fmt::format("  log       {}, its end:\n", spec.log_path) + framed(facts.log_excerpt);
}

// Last, where the eye falls: the error that a person should read first.
std::string suspicion_part(const FailureFacts& facts, const ProcessPlan& plan) {
  if (!facts.suspicion) return "";
  const ProcessSpec& spec = plan.processes.at(static_cast<std::size_t>(facts.suspicion->worker));
  return fmt::format("  probably  rank {} began it, with an error of its own; log {}, its end:\n",
                     spec.rank, spec.log_path) +
         framed(facts.suspicion->log_excerpt);
}

}  // namespace

std::vector<int> culprits(const std::vector<ProcessExit>& exits, const ProcessPlan& plan) {
  std::vector<int> ranks;
  for (const ProcessExit& exit : exits) {
    if (exit.failed() && !exit.was_told_to_stop) ranks.push_back(spec_of(exit, plan).rank);
  }
  std::sort(ranks.begin(), ranks.end());
  return ranks;
}

std::vector<int> victims(const std::vector<ProcessExit>& exits, const ProcessPlan& plan) {
  std::vector<int> ranks;
  for (const ProcessExit& exit : exits) {
    if (exit.was_told_to_stop) ranks.push_back(spec_of(exit, plan).rank);
  }
  std::sort(ranks.begin(), ranks.end());
  return ranks;
}

std::string abort_line(int world_size, const std::vector<int>& ranks) {
  return fmt::format(
      "ABORT!!! Out of all {} trainers, the trainer process with rank=[{}] was aborted. Please "
      "check its log.\n",
      world_size, fmt::join(ranks, ","));
}

std::string failure_report(const ProcessExit& first, const std::vector<ProcessExit>& exits,
                           const ProcessPlan& plan, const FailureFacts& facts) {
  const ProcessSpec& spec = spec_of(first, plan);
  std::string text = fmt::format("  rank      {} (local rank {}, {})\n", spec.rank, spec.local_rank,
                                 cards_of(spec));
  text += fmt::format("  node      {}\n", facts.node);
  text += fmt::format("  pid       {}\n", first.pid);
  text += fmt::format("  what      {}\n", describe(first, facts.oom_kills));
  text +=
      fmt::format("  when      {}, after {}\n", facts.when, duration(first.started, first.ended));
  text += also_failed(first, exits, plan);
  const std::vector<int> stopped = victims(exits, plan);
  if (!stopped.empty())
    text += fmt::format("  stopped   because of it: rank {}\n", rank_ranges(stopped));
  return text + log_part(spec, facts) + suspicion_part(facts, plan);
}

}  // namespace paddle_launch
