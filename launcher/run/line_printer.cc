// SPDX-License-Identifier: Apache-2.0
#include "launcher/run/line_printer.h"

#include <array>

namespace paddle_launch {
namespace {

constexpr std::chrono::seconds kUnfinishedFor{1};
constexpr std::size_t kLongestLine =
    1024 * 1024;  // longer ones are shown in pieces, to bound memory

constexpr std::array<std::string_view, 6> kColours = {"\x1b[36m", "\x1b[32m", "\x1b[33m",
                                                      "\x1b[35m", "\x1b[34m", "\x1b[31m"};

}  // namespace

void LinePrinter::begin_line(int rank, std::string& out) {
  if (open_line_ == rank) {
    open_line_.reset();
    return;
  }
  if (open_line_) out += '\n';
  open_line_.reset();
  if (colour_) out += kColours[static_cast<std::size_t>(rank) % kColours.size()];
  out += '[';
  out += std::to_string(rank);
  out += ']';
  if (colour_) out += "\x1b[0m";
  out += ' ';
}

void LinePrinter::line(int rank, std::string_view text, std::string& out) {
  begin_line(rank, out);
  out += text;
  out += '\n';
}

void LinePrinter::add(int rank, std::string_view bytes, Time now, std::string& out) {
  Pending& pending = pending_[rank];
  while (!bytes.empty()) {
    if (pending.swallow_newline) {
      pending.swallow_newline = false;
      if (bytes.front() == '\n') {
        bytes.remove_prefix(1);
        continue;
      }
    }
    const std::size_t end = bytes.find_first_of("\n\r");
    const std::string_view part = bytes.substr(0, end);
    if (end == std::string_view::npos) {
      if (pending.text.empty()) pending.since = now;
      pending.text += part;
      if (pending.text.size() > kLongestLine) {
        line(rank, pending.text, out);
        pending.text.clear();
      }
      return;
    }
    const bool carriage_return = bytes[end] == '\r';
    bytes.remove_prefix(end + 1);
    pending.swallow_newline = carriage_return;
    // A bar that begins with \r ends nothing: no empty line for it.
    if (carriage_return && part.empty() && pending.text.empty() && open_line_ != rank) continue;
    if (pending.text.empty()) {
      line(rank, part, out);
      continue;
    }
    pending.text += part;
    line(rank, pending.text, out);
    pending.text.clear();
  }
}

void LinePrinter::show_unfinished(Time now, bool all, std::string& out) {
  for (auto& [rank, pending] : pending_) {
    if (pending.text.empty() || (!all && now - pending.since < kUnfinishedFor)) continue;
    begin_line(rank, out);
    out += pending.text;
    pending.text.clear();
    open_line_ = rank;
  }
  if (!all || !open_line_) return;
  out += '\n';
  open_line_.reset();
}

std::optional<LinePrinter::Time> LinePrinter::next_unfinished() const {
  std::optional<Time> next;
  for (const auto& [rank, pending] : pending_) {
    if (pending.text.empty()) continue;
    const Time due = pending.since + kUnfinishedFor;
    if (!next || due < *next) next = due;
  }
  return next;
}

}  // namespace paddle_launch
