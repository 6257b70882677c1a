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

std::string LinePrinter::prefix_of(const ProcessName& process) const {
  // A trainer is known by its rank alone.
  const std::string kind =
      process.role == Role::Trainer ? "" : std::string(words_of(process.role).brief) + " ";
  const std::string label = "[" + kind + std::to_string(process.index) + "]";
  if (!colour_) return label + " ";
  const std::string_view colour =
      kColours[static_cast<std::size_t>(process.index) % kColours.size()];
  return std::string(colour) + label + "\x1b[0m ";
}

void LinePrinter::begin_line(const ProcessName& process, Pending& pending, std::string& out) {
  if (open_line_ == process) {
    open_line_.reset();
    return;
  }
  if (open_line_) out += '\n';
  open_line_.reset();
  if (pending.prefix.empty()) pending.prefix = prefix_of(process);
  out += pending.prefix;
}

void LinePrinter::add(const ProcessName& process, std::string_view bytes, Time now,
                      std::string& out) {
  Pending& pending = pending_[process];
  // Two searches for one byte each are many times faster than one search for either.
  while (!bytes.empty()) {
    const std::size_t newline = bytes.find('\n');
    std::string_view part = bytes.substr(0, newline);
    bytes.remove_prefix(newline == std::string_view::npos ? bytes.size() : newline + 1);
    for (std::size_t end = part.find('\r'); end != std::string_view::npos; end = part.find('\r')) {
      carriage_return(process, pending, part.substr(0, end), out);
      part.remove_prefix(end + 1);
    }
    if (newline == std::string_view::npos) return keep(process, pending, part, now, out);
    const bool belongs_to_return = pending.after_return && part.empty();
    pending.after_return = false;
    if (!belongs_to_return) end_line(process, pending, part, out);
  }
}

void LinePrinter::carriage_return(const ProcessName& process, Pending& pending,
                                  std::string_view part, std::string& out) {
  // A bar that begins with \r ends nothing: no empty line for it.
  const bool ends_nothing = part.empty() && pending.text.empty() && open_line_ != process;
  pending.after_return = true;
  if (!ends_nothing) end_line(process, pending, part, out);
}

void LinePrinter::end_line(const ProcessName& process, Pending& pending, std::string_view part,
                           std::string& out) {
  begin_line(process, pending, out);
  out += pending.text;
  out += part;
  out += '\n';
  pending.text.clear();
}

void LinePrinter::keep(const ProcessName& process, Pending& pending, std::string_view part,
                       Time now, std::string& out) {
  if (part.empty()) return;
  pending.after_return = false;
  if (pending.text.empty()) pending.since = now;
  pending.text += part;
  if (pending.text.size() > kLongestLine) end_line(process, pending, {}, out);
}

void LinePrinter::show_unfinished(Time now, bool all, std::string& out) {
  for (auto& [process, pending] : pending_) {
    if (pending.text.empty() || (!all && now - pending.since < kUnfinishedFor)) continue;
    begin_line(process, pending, out);
    out += pending.text;
    pending.text.clear();
    open_line_ = process;
  }
  if (!all || !open_line_) return;
  out += '\n';
  open_line_.reset();
}

std::optional<LinePrinter::Time> LinePrinter::next_unfinished() const {
  std::optional<Time> next;
  for (const auto& [process, pending] : pending_) {
    if (pending.text.empty()) continue;
    const Time due = pending.since + kUnfinishedFor;
    if (!next || due < *next) next = due;
  }
  return next;
}

}  // namespace paddle_launch
