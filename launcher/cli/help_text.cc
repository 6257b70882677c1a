// SPDX-License-Identifier: Apache-2.0
#include "launcher/cli/help_text.h"

#include <algorithm>
#include <cstddef>
#include <utility>
#include <variant>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "launcher/cli/option_table.h"

namespace paddle_launch {
namespace {

constexpr std::size_t kWidth = 80;
constexpr std::size_t kHelpColumn = 24;
constexpr std::size_t kSummaryColumn = 30;

constexpr std::pair<Everyday, std::string_view> kEverydayGroups[] = {
    {Everyday::Cards, "Cards and processes:"},
    {Everyday::Nodes, "Several nodes (type the same on each):"},
    {Everyday::Servers, "Parameter servers:"},
    {Everyday::Elastic, "Restarts and elastic jobs:"},
    {Everyday::Console, "Logs and console:"},
    {Everyday::Look, "Look before you start:"},
};

constexpr ExitStatus kExitStatuses[] = {
    {"0", "all trainers completed", "completed"},
    {"N", "the exit code of the trainer that failed first", "the first failed trainer's code"},
    {"128+S", "it, or the launcher, was ended by signal S", "signal S"},
    {"126 or 127", "the script could not be executed", "not executable"},
    {"75", "a node never came or was lost, or etcd was not reached", "a node is missing"},
    {"1", "the launch failed", "launch failed"},
    {"2", "wrong use, nothing was started", "wrong use"},
};

// Words wrapped at the width, every line indented; each line ends with a newline.
std::string wrapped(std::string_view text, std::size_t indent) {
  std::string result;
  std::string line;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find(' '), text.size());
    const std::string_view word = text.substr(0, end);
    if (!line.empty() && indent + line.size() + 1 + word.size() > kWidth) {
      result += std::string(indent, ' ') + std::exchange(line, "") + "\n";
    }
    if (!line.empty()) line += ' ';
    line += word;
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return result + std::string(indent, ' ') + line + "\n";
}

std::string meaning(const Option& option) {
  std::string text(option.help);
  if (!std::holds_alternative<ActsAtOnce>(option.rule)) {
    const std::string_view absent = option.metavar.empty() ? "off" : "none";
    text +=
        fmt::format(" Default: {}.", option.default_text.empty() ? absent : option.default_text);
  }
  const std::vector<std::string_view> variables = variables_of(option);
  if (!variables.empty()) text += fmt::format(" Variable: {}.", fmt::join(variables, ", "));
  return text;
}

std::string entry(std::string_view names, std::string_view text, std::size_t column = kHelpColumn) {
  std::string head = fmt::format("  {}", names);
  std::string body = wrapped(text, column);
  if (head.size() + 2 > column) return head + "\n" + body;
  return body.replace(0, head.size(), head);
}

// What may or must follow the name: "[=json]", " DIR", or nothing.
std::string value_part(const Option& option) {
  const std::vector<std::string> words = words_after_equals(option);
  if (!words.empty()) return fmt::format("[={}]", fmt::join(words, "|"));
  return option.metavar.empty() ? std::string() : fmt::format(" {}", option.metavar);
}

std::string full_entry(const Option& option) {
  const std::string names = fmt::format("{}", fmt::join(names_of(option), ", "));
  return entry(names + value_part(option), meaning(option));
}

std::string short_entry(const Option& option) {
  const std::string name(names_of(option).front());
  return entry(name + value_part(option), summary_of(option), kSummaryColumn);
}

std::string usage_lines(std::string_view program) {
  return usage_line(program) + fmt::format("\n       {} [options] -m module [args ...]\n", program);
}

// "0 all trainers completed; N …", by the longer or the shorter meanings.
std::string status_list(std::string_view ExitStatus::*words) {
  std::string text;
  for (const ExitStatus& status : kExitStatuses) {
    text += fmt::format("{}{} {}", text.empty() ? "" : "; ", status.status, status.*words);
  }
  return text + ".";
}

}  // namespace

std::span<const ExitStatus> exit_statuses() { return kExitStatuses; }

std::string usage_line(std::string_view program) {
  return fmt::format("usage: {} [options] training_script [args ...]", program);
}

std::string everyday_help(std::string_view program) {
  std::string text = usage_lines(program) + "\n";
  text += wrapped(
      "Start distributed PaddlePaddle training: one trainer for each card of the node. "
      "What follows the script goes to the script untouched.",
      0);
  for (const auto& [group, title] : kEverydayGroups) {
    text += fmt::format("\n{}\n", title);
    for (const Option& option : all_options()) {
      if (option.everyday == group) text += short_entry(option);
    }
  }
  text += "\n" + wrapped("Exit status: " + status_list(&ExitStatus::word), 0);
  return text + "--help=all shows every option; man paddle-launch explains them.\n";
}

std::string full_help(std::string_view program) {
  std::string text = usage_lines(program);
  text += fmt::format("       {} --elastic_server HOST:PORT --job_id ID --status\n\n", program);
  text += wrapped(
      "Start distributed PaddlePaddle training: one trainer for each card of the node, or the "
      "servers and workers of a job with parameter servers. "
      "What follows the script goes to the script untouched. An option beats its "
      "environment variable, which beats the default.",
      0);
  for (const auto& [group, title] : option_groups()) {
    text += fmt::format("\n{}\n", title);
    for (const Option& option : all_options()) {
      if (option.group == group) text += full_entry(option);
    }
    if (group != OptionGroup::Base) continue;
    text += entry("training_script", "A .py file, run by python -u, or any executable.");
    text += entry("args ...", "Arguments of the script.");
  }
  text += "\nEXIT STATUS\n" + wrapped(status_list(&ExitStatus::meaning), 2);
  return text + "\nMore, with examples: man paddle-launch\n";
}

std::string version_text() { return "paddle-launch " PADDLE_LAUNCH_VERSION "\n"; }

}  // namespace paddle_launch
