// SPDX-License-Identifier: Apache-2.0
#include "launcher/tell/rounds_table.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "launcher/tell/columns.h"
#include "launcher/tell/words.h"
#include "launcher/text/utf8.h"

namespace paddle_launch {
namespace {

using Kind = StopCause::Kind;

constexpr std::size_t kFirstRounds = 5;
constexpr std::size_t kLastRounds = 20;

bool is_wish(const StopCause& cause) {
  return cause.kind == Kind::WorkerFailed && cause.status == kStartMeAgain;
}

bool is_failure(const ToldRound& round, const NextRound& next) {
  return next.state.restarts > round.state.restarts;
}

std::string how_it_ended(const StopCause& cause) {
  return cause.kind == Kind::Completed ? "completed" : one_line(cause.text);
}

std::string counted(std::size_t number, std::string_view thing, std::string_view ending) {
  return fmt::format("{} {}{}", number, thing, number == 1 ? "" : ending);
}

}  // namespace

void add_round(std::vector<ToldRound>& rounds, ToldRound ended) {
  rounds.push_back(std::move(ended));
  if (rounds.size() <= kFirstRounds + kLastRounds) return;
  rounds[kFirstRounds + 1].left_out = rounds[kFirstRounds].left_out + 1;
  rounds.erase(rounds.begin() + kFirstRounds);
}

std::string short_span(std::chrono::milliseconds span) {
  if (span >= std::chrono::minutes(1))
    return how_long(std::chrono::duration_cast<std::chrono::seconds>(span));
  const auto tenths = (span.count() + 50) / 100;
  if (tenths % 10 == 0) return fmt::format("{} s", tenths / 10);
  return fmt::format("{}.{} s", tenths / 10, tenths % 10);
}

std::string round_begins_line(const ProcessPlan& plan) {
  return fmt::format("round {} begins: {} here, {} on {} in all", plan.round,
                     counted(plan.processes.size(), "process", "es"),
                     counted(static_cast<std::size_t>(plan.world_size), "trainer", "s"),
                     counted(static_cast<std::size_t>(plan.nodes), "node", "s"));
}

std::string next_round_line(const ToldRound& ended, const NextRound& next, int most_restarts) {
  const std::string cause = how_it_ended(ended.cause);
  const std::string soon =
      next.pause.count() > 0 ? fmt::format(" in {}", short_span(next.pause)) : "";
  if (is_failure(ended, next)) {
    return fmt::format("round {} failed: {}; starting again{} (restart {} of {})",
                       ended.state.number, cause, soon, next.state.restarts, most_restarts);
  }
  if (is_wish(ended.cause)) {
    return fmt::format("round {} ended: {}, which asks to be started again; starting again{}",
                       ended.state.number, cause, soon);
  }
  return fmt::format("round {} ended: {}; gathering the nodes of the next round",
                     ended.state.number, cause);
}

std::string no_next_round_line(const ToldRound& ended, const RestartSpec& restarts) {
  const Kind kind = ended.cause.kind;
  const bool is_failure =
      kind == Kind::WorkerFailed || kind == Kind::GuardLost || kind == Kind::PodLost;
  if (!is_failure || restarts.most == 0) return "";
  if (ended.state.restarts >= restarts.most) {
    return fmt::format("not started again: no restart is left (--max_restart={})", restarts.most);
  }
  if (kind == Kind::PodLost && restarts.on.lost_node) {
    return "not started again: nobody could take the place of the lost node";
  }
  return fmt::format("not started again: --restart_on does not name {}",
                     kind == Kind::PodLost ? "lost_node" : "this cause");
}

std::vector<std::string> hook_lines(const std::string& output) {
  std::vector<std::string> lines;
  for (std::size_t begin = 0; begin < output.size();) {
    const std::size_t end = std::min(output.find('\n', begin), output.size());
    lines.push_back("pre_hook: " + one_line(output.substr(begin, end - begin)));
    begin = end + 1;
  }
  return lines;
}

std::string rounds_table(const std::vector<ToldRound>& rounds, std::size_t least) {
  if (rounds.size() < least) return "";
  std::vector<std::vector<std::string>> rows = {
      {"  round", "restarts", "nodes", "trainers", "lasted", "ended by"}};
  for (const ToldRound& round : rounds) {
    if (round.left_out > 0) {
      rows.push_back({"  …", "", "", "", "", fmt::format("({} rounds left out)", round.left_out)});
    }
    rows.push_back({fmt::format("  {}", round.state.number), std::to_string(round.state.restarts),
                    std::to_string(round.nodes), std::to_string(round.trainers),
                    short_span(round.lasted), how_it_ended(round.cause)});
  }
  return "Rounds of this job, as this node saw them:\n" + in_columns(rows);
}

}  // namespace paddle_launch
