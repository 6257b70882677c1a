// SPDX-License-Identifier: Apache-2.0
#include "launcher/tell/waiting.h"

#include <algorithm>

#include <fmt/format.h>

#include "launcher/tell/columns.h"
#include "launcher/tell/words.h"
#include "launcher/text/utf8.h"

namespace paddle_launch {
namespace {

using std::chrono::seconds;
using Time = WaitingNotice::Time;

constexpr seconds kPause{1};
constexpr seconds kFirstSign{10};
constexpr seconds kSecondSign{30};
constexpr seconds kEverySign{60};
constexpr int kUsualWidth = 80;
constexpr const char* kClear = "\x1b[K";
// Whoever connects to our ports chooses what it says there.
constexpr std::size_t kMostRemarkLines = 8;
constexpr std::size_t kMostNames = 6;
constexpr std::size_t kMostRemarks = 3;

std::string missing_names(const WaitingFacts& facts, std::size_t most) {
  if (facts.names.empty() || most == 0) return "";
  const auto all = static_cast<std::size_t>(std::max(facts.missing, 0));
  return ": " + some_of(facts.names, std::max(all, facts.names.size()), most);
}

std::string who_is_missing(const WaitingFacts& facts, std::size_t most_names) {
  if (!facts.hub.empty()) return "waiting for the first node, " + one_line(facts.hub);
  if (facts.nodes == 0) return "waiting for the other nodes";
  if (facts.missing == 0) return fmt::format("all {} nodes have come", facts.nodes);
  return fmt::format("waiting for {} of {} nodes{}", facts.missing, facts.nodes,
                     missing_names(facts, most_names));
}

std::string last_try(const WaitingFacts& facts) {
  if (facts.last_try.empty()) return "";
  return (facts.hub.empty() ? "; last try: " : ": ") + one_line(facts.last_try);
}

std::string met_jobs(const WaitingFacts& facts) {
  const std::vector<std::string>& jobs = facts.other_jobs;
  return fmt::format("{} there: {}", jobs.size() == 1 ? "another job" : "other jobs",
                     some_of(jobs, jobs.size(), kMostRemarks));
}

// Of "host:6060-6069".
std::string ports_of(const std::string& hub) {
  const std::size_t colon = hub.rfind(':');
  return colon == std::string::npos ? "" : one_line(hub.substr(colon + 1));
}

std::string who_never_came(const WaitingFacts& facts) {
  const std::string waited = how_long(facts.waited);
  if (!facts.hub.empty())
    return fmt::format("the first node, {}, was not reached within {}", one_line(facts.hub),
                       waited);
  if (facts.nodes == 0)
    return fmt::format("the first node did not say within {} who is in the job", waited);
  return fmt::format("{} of {} nodes did not come within {}{}", facts.missing, facts.nodes, waited,
                     missing_names(facts, kMostNames));
}

std::string what_was_tried(const WaitingFacts& facts) {
  std::string text;
  if (!facts.last_try.empty()) {
    const std::string_view advice = network_advice(facts.last_try);
    text = fmt::format(". The last try ended with: {}", one_line(facts.last_try));
    if (!advice.empty()) text += fmt::format(" ({})", advice);
  }
  if (!facts.other_jobs.empty()) text += ". Met " + met_jobs(facts);
  if (!facts.odd.empty())
    text += ". Besides: " + some_of(facts.odd, facts.odd.size(), kMostRemarks);
  return text;
}

std::string short_line(const WaitingFacts& facts, std::size_t most_names) {
  return fmt::format("{}{} ({})", who_is_missing(facts, most_names), last_try(facts),
                     how_long(facts.waited));
}

std::vector<std::string> remarks_on(const WaitingFacts& facts) {
  std::vector<std::string> remarks;
  if (!facts.other_jobs.empty()) {
    remarks.push_back(fmt::format("met {} (give {} the same --job_id to make them one)",
                                  met_jobs(facts), facts.other_jobs.size() == 1 ? "both" : "all"));
  }
  if (!facts.odd.empty()) remarks.push_back(some_of(facts.odd, facts.odd.size(), kMostRemarks));
  return remarks;
}

WaitingFacts without_age(WaitingFacts facts) {
  facts.waited = {};
  return facts;
}

// After 10 s, 30 s, and every 60 s then.
Time next_sign(Time since, Time now) {
  if (now < since + kFirstSign) return since + kFirstSign;
  if (now < since + kSecondSign) return since + kSecondSign;
  const auto minutes = (now - since - kSecondSign) / kEverySign + 1;
  return since + kSecondSign + minutes * kEverySign;
}

}  // namespace

std::string waiting_line(const WaitingFacts& facts) {
  std::string text = short_line(facts, kMostNames);
  for (const std::string& remark : remarks_on(facts)) text += "; " + remark;
  return text;
}

std::string never_came(const WaitingFacts& facts) {
  std::string text = who_never_came(facts) + what_was_tried(facts);
  text += fmt::format(
      ". Start the launcher {} with the same list of nodes and the same --job_id, and let TCP",
      facts.hub.empty() ? "on every node" : "there");
  const std::string ports = ports_of(facts.hub);
  text += ports.empty() ? " pass between the nodes"
                        : fmt::format(" to the ports {} of the first node pass", ports);
  return text +
         " where a firewall stands in between; --check tries the network without starting "
         "anything. If a node only needs longer, --bootstrap_timeout waits for it.";
}

// A character in the last column makes some terminals wrap, and then the line cannot be renewed.
WaitingNotice::WaitingNotice(bool terminal, int width)
    : terminal_(terminal), room_(static_cast<std::size_t>(width > 1 ? width : kUsualWidth) - 1) {}

std::string WaitingNotice::update(const WaitingFacts& facts, Time now) {
  if (!earliest_) {
    earliest_ = now + kPause;
    return "";
  }
  const WaitingFacts plain = without_age(facts);
  const bool news = plain != told_;
  if (now < *earliest_ || !(terminal_ || news || now >= sign_)) return "";
  earliest_ = now + kPause;
  if (news) told_first_ = now;
  told_ = plain;
  sign_ = next_sign(told_first_, now);
  return terminal_ ? renewed(facts) : waiting_line(facts);
}

std::string WaitingNotice::renewed(const WaitingFacts& facts) {
  std::size_t names = kMostNames;
  std::string line = short_line(facts, names);
  while (names > 1 && columns(line) > room_) line = short_line(facts, --names);
  std::replace(line.begin(), line.end(), '\t', ' ');
  std::string text = new_remarks(facts) + "\r" + cut_to_columns(line, room_) + kClear;
  shown_ = true;
  return text;
}

// They do not fit into the renewed line, so each gets a line that stays.
std::string WaitingNotice::new_remarks(const WaitingFacts& facts) {
  std::string text;
  for (const std::string& remark : remarks_on(facts)) {
    if (remarks_.size() == kMostRemarkLines) break;
    if (std::find(remarks_.begin(), remarks_.end(), remark) != remarks_.end()) continue;
    remarks_.push_back(remark);
    text += "\r" + remark + kClear + "\n";
  }
  return text;
}

std::string WaitingNotice::end() {
  if (!shown_) return "";
  shown_ = false;
  return std::string("\r") + kClear;
}

}  // namespace paddle_launch
