// SPDX-License-Identifier: Apache-2.0
#include "launcher/tell/check_table.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "launcher/job/errors.h"
#include "launcher/tell/columns.h"
#include "launcher/tell/words.h"
#include "launcher/text/lists.h"
#include "launcher/text/utf8.h"

namespace paddle_launch {
namespace {

constexpr double kLongestMs = 99'999;

}  // namespace

Links links_of(const LinkCheck& check) {
  const auto is_node = [&check](int node) {
    return node >= 0 && static_cast<std::size_t>(node) < check.nodes.size();
  };
  Links links;
  for (const LinkTry& link : check.tries) {
    if (is_node(link.from) && is_node(link.to) && link.from != link.to) links.push_back(&link);
  }
  std::stable_sort(links.begin(), links.end(), [](const LinkTry* a, const LinkTry* b) {
    return std::make_tuple(a->from, a->to, a->problem.empty()) <
           std::make_tuple(b->from, b->to, b->problem.empty());
  });
  const auto same_pair = [](const LinkTry* a, const LinkTry* b) {
    return a->from == b->from && a->to == b->to;
  };
  links.erase(std::unique(links.begin(), links.end(), same_pair), links.end());
  return links;
}

Links failed_of(const Links& links) {
  Links failed;
  std::copy_if(links.begin(), links.end(), std::back_inserter(failed),
               [](const LinkTry* link) { return !link->problem.empty(); });
  return failed;
}

double ms_of(const LinkTry& link) {
  return std::isfinite(link.ms) ? std::clamp(link.ms, 0.0, kLongestMs) : kLongestMs;
}

Links slowest_of(const Links& links, std::size_t most) {
  Links good;
  std::copy_if(links.begin(), links.end(), std::back_inserter(good),
               [](const LinkTry* link) { return link->problem.empty(); });
  const auto middle = good.begin() + static_cast<std::ptrdiff_t>(std::min(most, good.size()));
  std::partial_sort(good.begin(), middle, good.end(), [](const LinkTry* a, const LinkTry* b) {
    return std::make_tuple(-ms_of(*a), a->from, a->to) <
           std::make_tuple(-ms_of(*b), b->from, b->to);
  });
  good.erase(middle, good.end());
  return good;
}

std::size_t number_of_links(const LinkCheck& check) {
  return check.nodes.empty() ? 0 : check.nodes.size() * (check.nodes.size() - 1);
}

namespace {

constexpr std::size_t kMostInMatrix = 16;
constexpr std::size_t kMostFailures = 50;
constexpr std::size_t kSlowest = 5;
constexpr std::size_t kMostNames = 6;
constexpr std::size_t kLongestPortList = 60;
constexpr double kWorstClockMs = 1e12;
constexpr double kClockLimitMs = 1000;

using Names = std::vector<std::string>;

std::size_t place(int node) { return static_cast<std::size_t>(node); }

bool is_silent(const LinkCheck& check, std::size_t node) {
  return std::find(check.silent.begin(), check.silent.end(), static_cast<int>(node)) !=
         check.silent.end();
}

std::string host_of(const LinkCheck& check, int node) {
  return one_line(check.nodes[place(node)].host);
}

std::string pair_of(const LinkCheck& check, const LinkTry& link) {
  return host_of(check, link.from) + " -> " + host_of(check, link.to);
}

std::string counted(int count, const char* thing) {
  return fmt::format("{} {}{}", count, thing, count == 1 ? "" : "s");
}

// Few digits, so that columns stay narrow.
std::string short_ms(double ms) {
  return fmt::format("{:.{}f}", ms, ms < 9.995 ? 2 : ms < 99.95 ? 1 : 0);
}

std::string clock_text(const ClockDifference& clock) {
  return fmt::format("clock {:+.1f} ± {:.1f} ms",
                     std::clamp(clock.ms, -kWorstClockMs, kWorstClockMs),
                     std::clamp(clock.error_ms, 0.0, kWorstClockMs));
}

std::string what_it_has(const CheckedNode& node) {
  if (node.cards > 0) return counted(node.cards, "card");
  if (node.processes > 0)
    return fmt::format("{} process{}", node.processes, node.processes == 1 ? "" : "es");
  return counted(node.trainers, "trainer");
}

std::string state_of(const LinkCheck& check, std::size_t node) {
  if (is_silent(check, node)) return "lost during the check";
  if (check.seen_by < 0) return clock_text(check.nodes[node].wall_clock);
  return place(check.seen_by) == node ? "this node" : "its row is not known";
}

std::string legend(const LinkCheck& check) {
  std::vector<Names> rows;
  for (std::size_t i = 0; i < check.nodes.size(); ++i) {
    const CheckedNode& node = check.nodes[i];
    rows.push_back({fmt::format("{:>4}", i), one_line(node.host), one_line(node.machine),
                    what_it_has(node), state_of(check, i)});
  }
  return "nodes:\n" + in_columns(rows);
}

std::string cell(const LinkTry* link) {
  if (link == nullptr) return "?";
  return link->problem.empty() ? short_ms(ms_of(*link)) : "FAIL";
}

std::string matrix(const LinkCheck& check, const Links& links) {
  const std::size_t size = check.nodes.size();
  Links grid(size * size, nullptr);
  for (const LinkTry* link : links) grid[place(link->from) * size + place(link->to)] = link;
  std::string text = "milliseconds until connected, from (down) to (across):\n    ";
  for (std::size_t to = 0; to < size; ++to) text += fmt::format("{:>7}", to);
  text += '\n';
  for (std::size_t from = 0; from < size; ++from) {
    text += fmt::format("{:>4}", from);
    for (std::size_t to = 0; to < size; ++to)
      text += fmt::format("{:>7}", from == to ? "-" : cell(grid[from * size + to]));
    text += '\n';
  }
  return text;
}

std::string failures(const LinkCheck& check, const Links& failed) {
  if (failed.empty()) return "";
  std::string text = "failed:\n";
  for (std::size_t i = 0; i < std::min(failed.size(), kMostFailures); ++i) {
    const LinkTry& link = *failed[i];
    text += fmt::format("{:>4} -> {}: {}, port {}: {}\n", link.from, link.to, pair_of(check, link),
                        link.port, one_line(link.problem));
  }
  if (failed.size() > kMostFailures)
    text += fmt::format("     … {} more\n", failed.size() - kMostFailures);
  return text;
}

std::string slow_links(const LinkCheck& check, const Links& links) {
  const Links slowest = slowest_of(links, kSlowest);
  if (slowest.empty()) return "";
  std::string text = "the slowest:\n";
  for (const LinkTry* link : slowest) {
    text += fmt::format("{:>4} -> {}: {}, port {}: {} ms\n", link->from, link->to,
                        pair_of(check, *link), link->port, short_ms(ms_of(*link)));
  }
  return text;
}

std::string ports_of(const Links& failed) {
  std::vector<int> ports;
  for (const LinkTry* link : failed) ports.push_back(link->port);
  std::sort(ports.begin(), ports.end());
  ports.erase(std::unique(ports.begin(), ports.end()), ports.end());
  std::string list = number_ranges(ports);
  if (list.size() <= kLongestPortList) return list;
  return fmt::format("between {} and {}", ports.front(), ports.back());
}

std::string what_to_do(const Links& failed) {
  if (failed.empty()) return "";
  std::vector<std::pair<std::string_view, const LinkTry*>> kinds;  // an advice, and who needs it
  for (const LinkTry* link : failed) {
    const std::string_view advice = network_advice(link->problem);
    const bool known = std::any_of(kinds.begin(), kinds.end(),
                                   [advice](const auto& kind) { return kind.first == advice; });
    if (!advice.empty() && !known) kinds.emplace_back(advice, link);
  }
  std::string text = "what to do:\n";
  for (const auto& [advice, link] : kinds)
    text += fmt::format("  {}: {}\n", one_line(link->problem), advice);
  return text + fmt::format(
                    "  let TCP pass between these nodes (ports {} were tried; --port_range keeps "
                    "trainers within ports that a firewall lets through), or ask the administrator "
                    "of the network with the lines above\n",
                    ports_of(failed));
}

std::string lost_nodes(const LinkCheck& check) {
  Names lost;
  for (const int node : check.silent) {
    const bool known = node >= 0 && place(node) < check.nodes.size();
    lost.push_back(known ? host_of(check, node) : fmt::format("node {}", node));
  }
  if (lost.empty()) return "";
  std::string text =
      fmt::format("lost during the check: {}\n", some_of(lost, lost.size(), kMostNames));
  if (check.seen_by >= 0)
    text += fmt::format("{} collects what all nodes find; here is only what this one found\n",
                        lost.front());
  return text;
}

std::string clock_warning(const LinkCheck& check) {
  if (check.nodes.empty()) return "";
  const auto [first, last] = std::minmax_element(
      check.nodes.begin(), check.nodes.end(),
      [](const auto& a, const auto& b) { return a.wall_clock.ms < b.wall_clock.ms; });
  const double apart = last->wall_clock.ms - first->wall_clock.ms;
  if (!(apart - last->wall_clock.error_ms - first->wall_clock.error_ms > kClockLimitMs)) return "";
  Names off;
  for (const CheckedNode& node : check.nodes) {
    const double ms = node.wall_clock.ms;
    if (std::abs(ms) > kClockLimitMs / 2)
      off.push_back(fmt::format("{} {:+.1f} s", one_line(node.host), ms / 1000));
  }
  return fmt::format(
      "warning: the wall clocks differ by {:.1f} s ({}): the times in the logs of different nodes "
      "cannot be compared; let NTP or chrony set the clocks\n",
      apart / 1000, some_of(off, off.size(), kMostNames));
}

std::string verdict(const LinkCheck& check, const Links& links, std::size_t failed) {
  const std::size_t all = number_of_links(check);
  if (all == 0) return "there is no other node, so there is no link to try";
  const std::size_t untried = all - links.size();
  const char* why = check.seen_by < 0 ? "not tried" : "not known";
  if (failed > 0 && untried > 0)
    return fmt::format("{} of {} links failed, {} {}", failed, all, untried, why);
  if (failed > 0) return fmt::format("{} of {} links failed", failed, all);
  if (untried > 0) return fmt::format("{} of {} links {}", untried, all, why);
  const LinkTry& slowest = *slowest_of(links, 1).front();
  return fmt::format("all {} links work, the slowest took {} ms ({})", all,
                     short_ms(ms_of(slowest)), pair_of(check, slowest));
}

std::string lost_count(const LinkCheck& check) {
  if (check.silent.empty()) return "\n";
  return fmt::format("; {} lost during the check\n",
                     counted(static_cast<int>(check.silent.size()), "node"));
}

}  // namespace

int check_status(const LinkCheck& check) {
  if (!check.silent.empty()) return kNodeMissingStatus;
  const Links links = links_of(check);
  const bool all_work = links.size() == number_of_links(check) && failed_of(links).empty();
  return all_work ? 0 : kLaunchErrorStatus;
}

std::string check_table(const LinkCheck& check) {
  const Links links = links_of(check);
  const Links failed = failed_of(links);
  std::string text;
  if (check.nodes.size() <= kMostInMatrix) text += legend(check) + matrix(check, links);
  text += failures(check, failed);
  if (check.nodes.size() > kMostInMatrix) text += slow_links(check, links);
  text += what_to_do(failed) + lost_nodes(check) + clock_warning(check);
  return text + verdict(check, links, failed.size()) + lost_count(check);
}

}  // namespace paddle_launch
