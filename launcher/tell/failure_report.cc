// SPDX-License-Identifier: Apache-2.0
#include "launcher/tell/failure_report.h"

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <string_view>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "launcher/tell/words.h"
#include "launcher/text/utf8.h"

namespace paddle_launch {
namespace {

using Kind = StopCause::Kind;
using Failures = std::vector<FailureRecord>;

constexpr const char* kRule =
    "  --------------------------------------------------------------------\n";
constexpr std::size_t kMostAlso = 32;  // a thousand ranks can fail in the same moment
constexpr std::size_t kMostSilent = 6;

// Times may come from another machine: whatever they are, their difference must not overflow.
std::chrono::nanoseconds between(SteadyTime from, SteadyTime to) {
  const auto count = [](SteadyTime time) {
    return static_cast<std::uint64_t>(time.time_since_epoch().count());
  };
  return std::chrono::nanoseconds(static_cast<std::int64_t>(count(to) - count(from)));
}

std::string duration(std::chrono::nanoseconds span) {
  const double seconds = std::chrono::duration<double>(span).count();
  if (seconds < 60) return fmt::format("{:.1f} s", seconds);
  return how_long(std::chrono::duration_cast<std::chrono::seconds>(span));
}

std::string on_node(const std::string& node, int nodes) {
  return nodes > 1 && !node.empty() ? " on " + one_line(node) : "";
}

// The clocks of two nodes have nothing to do with each other: no delay then.
std::string delay(const FailureRecord* first, const FailureRecord& other) {
  if (first == nullptr || first->node != other.node) return "";
  const auto ms = std::chrono::duration_cast<std::chrono::milliseconds>(
                      between(first->exit.ended, other.exit.ended))
                      .count();
  return ms < 0 ? fmt::format(", {} ms earlier", -ms) : fmt::format(", {} ms later", ms);
}

std::string how_it_failed(const FailureRecord* first, const FailureRecord& other) {
  // Whatever ended it, in the end, was ours.
  if (other.exit.was_told_to_stop) return "an error of its own, before it was stopped";
  return describe(other.exit, other.oom_kills) + delay(first, other);
}

std::string same_error(const std::vector<ProcessName>& same) {
  if (same.empty()) return "";
  return fmt::format("  same      {} {} the same error\n", names_in_words(same),
                     same.size() == 1 ? "has" : "have");
}

std::string also_failed(const FailureRecord* first, const JobVerdict& verdict, int nodes) {
  const Failures& failures = verdict.failures;
  const std::vector<ProcessName>& same = verdict.same;
  const std::size_t begin = first == nullptr ? 0 : 1;
  std::size_t told = 0;
  std::string text = same_error(same);
  std::vector<ProcessName> left_out;
  for (std::size_t i = begin; i < failures.size(); ++i) {
    const FailureRecord& other = failures[i];
    if (std::binary_search(same.begin(), same.end(), other.name())) continue;
    if (++told > kMostAlso) {
      left_out.push_back(other.name());
      continue;
    }
    text += fmt::format("  also      {}{}: {}{}\n", name_of(other.name()),
                        on_node(other.node, nodes), how_it_failed(first, other),
                        other.log_path.empty() ? "" : "; log " + one_line(other.log_path));
  }
  if (!left_out.empty()) text += fmt::format("  also      {}\n", names_in_words(left_out));
  return text;
}

std::string framed(const std::string& excerpt) {
  std::string text = printable(excerpt);
  if (!text.empty() && text.back() != '\n') text += '\n';
  return kRule + text + kRule;
}

std::string log_part(const FailureRecord& first) {
  if (first.log_path.empty())
    return "  log       none: it wrote straight to the console (--console=direct)\n";
  const std::string path = one_line(first.log_path);
  if (!first.log_readable) return fmt::format("  log       {} (cannot be read)\n", path);
  if (first.log_excerpt.empty())
    return fmt::format("  log       {} (nothing was written to it)\n", path);
  return fmt::format("  log       {}, its end:\n", path) + framed(first.log_excerpt);
}

// Last, where the eye falls: the error that a person should read first.
std::string hint_part(const JobVerdict& verdict, int nodes) {
  if (!verdict.hint) return "";
  const RootCauseHint& hint = *verdict.hint;
  return fmt::format("  probably  {}{} began it, with an error of its own; log {}, its end:\n",
                     name_of(hint.name()), on_node(hint.node, nodes), one_line(hint.log_path)) +
         framed(hint.log_excerpt);
}

std::string who(const FailureRecord& first) {
  const std::string cards = one_line(first.cards);
  if (first.role == Role::Trainer)
    return fmt::format("  rank      {} (local rank {}, {})\n", first.rank, first.local_rank, cards);
  return fmt::format("  {:<8}  {} ({})\n", words_of(first.role).brief, first.rank, cards);
}

std::string who_and_how(const FailureRecord& first) {
  std::string text = who(first);
  text += fmt::format("  node      {}\n", one_line(first.node));
  text += fmt::format("  pid       {}\n", first.exit.pid);
  text += fmt::format("  what      {}\n", describe(first.exit, first.oom_kills));
  return text + fmt::format("  when      {}, after {}\n", one_line(first.when),
                            duration(between(first.exit.started, first.exit.ended)));
}

// Who ran on a node that was lost.
std::string lost_with_it(const JobVerdict& verdict) {
  std::vector<ProcessName> lost;
  for (const ProcessName& name : verdict.aborted) {
    const bool failed =
        std::any_of(verdict.failures.begin(), verdict.failures.end(),
                    [&name](const FailureRecord& record) { return record.name() == name; });
    if (!failed) lost.push_back(name);
  }
  if (lost.empty()) return "";
  return fmt::format("  lost      {} ({})\n", names_in_words(lost),
                     lost.size() == 1 ? "it was running there; it did not fail by itself"
                                      : "they were running there; they did not fail by themselves");
}

std::string cause_alone(const JobVerdict& verdict) {
  std::string text = fmt::format("  what      {}\n", one_line(verdict.first.text));
  if (verdict.first.kind == Kind::PodLost) text += lost_with_it(verdict);
  if (verdict.first.kind == Kind::WorkerFailed)
    text += "  log       on its node, which did not tell more\n";
  return text;
}

std::string silent_nodes(const JobVerdict& verdict) {
  const std::vector<std::string>& silent = verdict.silent;
  if (silent.empty()) return "";
  return fmt::format("  silent    {} did not tell how {} ended\n",
                     some_of(silent, silent.size(), kMostSilent),
                     silent.size() == 1 ? "it" : "they");
}

}  // namespace

std::vector<ProcessName> victims(const std::vector<ProcessExit>& exits, const ProcessPlan& plan) {
  std::vector<ProcessName> names;
  for (const ProcessExit& exit : exits) {
    const ProcessSpec& spec = plan.processes.at(static_cast<std::size_t>(exit.worker));
    if (exit.was_stopped()) names.push_back({spec.role, spec.rank});
  }
  std::sort(names.begin(), names.end());
  return names;
}

std::string abort_line(int world_size, const std::vector<ProcessName>& aborted) {
  const Role role = aborted.empty() ? Role::Trainer : aborted.front().role;
  std::vector<int> indices;
  for (const ProcessName& name : aborted) {
    if (name.role == role) indices.push_back(name.index);
  }
  return fmt::format(
      "ABORT!!! Out of all {} trainers, the {} process with {}=[{}] was aborted. Please check its "
      "log.\n",
      world_size, words_of(role).process, role == Role::Trainer ? "rank" : "index",
      fmt::join(indices, ","));
}

std::string cards_of(const ProcessSpec& spec) {
  if (spec.cards.empty()) return "CPU";
  std::vector<std::string> names;
  for (const Card& card : spec.cards) names.push_back(card.name);
  return fmt::format("card {}", fmt::join(names, ","));
}

FailureRecord failure_record(const ProcessExit& exit, const ProcessSpec& spec, FailureFacts facts) {
  return {.exit = exit,
          .role = spec.role,
          .rank = spec.rank,
          .local_rank = spec.local_rank,
          .node = std::move(facts.node),
          .cards = cards_of(spec),
          .when = std::move(facts.when),
          .log_path = spec.log_path,
          .log_excerpt = std::move(facts.log_excerpt),
          .error = std::move(facts.error),
          .log_readable = facts.log_readable,
          .oom_kills = facts.oom_kills};
}

std::string failure_report(const JobVerdict& verdict, int nodes) {
  const bool known = verdict.first.kind == Kind::WorkerFailed && !verdict.failures.empty();
  const FailureRecord* first = known ? &verdict.failures.front() : nullptr;
  std::string text = known ? who_and_how(*first) : cause_alone(verdict);
  if (!verdict.doubt.empty()) text += fmt::format("  first?    {}\n", one_line(verdict.doubt));
  text += also_failed(first, verdict, nodes);
  if (!verdict.stopped.empty())
    text += fmt::format("  stopped   because of it: {}\n", names_in_words(verdict.stopped));
  text += silent_nodes(verdict);
  if (known) text += log_part(*first);
  return text + hint_part(verdict, nodes);
}

}  // namespace paddle_launch
