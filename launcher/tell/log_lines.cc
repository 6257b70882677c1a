// SPDX-License-Identifier: Apache-2.0
#include "launcher/tell/log_lines.h"

#include <algorithm>
#include <cctype>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "launcher/tell/words.h"
#include "launcher/text/utf8.h"

namespace paddle_launch {
namespace {

constexpr std::string_view kPlain = "@%+=:,./-_";

bool needs_no_quotes(const std::string& word) {
  return !word.empty() && std::all_of(word.begin(), word.end(), [](unsigned char c) {
    return std::isalnum(c) != 0 || kPlain.find(static_cast<char>(c)) != std::string_view::npos;
  });
}

std::string quoted(const std::string& word) {
  if (needs_no_quotes(word)) return word;
  std::string text = "'";
  for (const char c : word) text += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return text + "'";
}

}  // namespace

std::string shell_quoted(const std::vector<std::string>& argv) {
  std::string text;
  for (const std::string& word : argv) {
    if (!text.empty()) text += ' ';
    text += quoted(word);
  }
  return text;
}

std::string command_text(const Script& script) {
  std::vector<std::string> words;
  if (script.is_module) words.emplace_back("-m");
  words.push_back(script.name);
  words.insert(words.end(), script.args.begin(), script.args.end());
  return shell_quoted(words);
}

std::string log_start_line(const ProcessPlan& plan, const ProcessSpec& spec,
                           const std::string& when) {
  const std::string again = plan.round > 0 ? fmt::format("round {}, ", plan.round) : "";
  return fmt::format("{}{} {}{} of {}: {} ====\n", kLogLineMark, when, again, name_of_spec(spec),
                     plan.size_of(spec.role), one_line(shell_quoted(plan.argv)));
}

std::string log_stop_line(const ProcessSpec& spec, const std::string& because,
                          const std::string& when) {
  return fmt::format("{}{} {} was stopped because {} ====\n", kLogLineMark, when,
                     name_of_spec(spec), one_line(because));
}

namespace {

constexpr std::size_t kLines = 20;
constexpr std::size_t kLongestTraceback = 400;
constexpr std::size_t kLongestLine = 2000;
constexpr std::string_view kChained[] = {
    "During handling of the above exception, another exception occurred:",
    "The above exception was the direct cause of the following exception:",
};

using Lines = std::vector<std::string_view>;

Lines lines_of(std::string_view text) {
  Lines lines;
  while (!text.empty()) {
    const std::size_t end = text.find('\n');
    lines.push_back(text.substr(0, end));
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
  }
  return lines;
}

bool is_chain(std::string_view line) {
  return std::any_of(std::begin(kChained), std::end(kChained), [line](std::string_view text) {
    return line.find(text) != std::string_view::npos;
  });
}

// The last traceback header before `end`; `end` when there is none.
std::size_t last_header(const Lines& lines, std::size_t end) {
  for (std::size_t i = end; i-- > 0;) {
    if (lines[i].find(kTraceback) != std::string_view::npos) return i;
  }
  return end;
}

// Frames are indented; then comes the exception, perhaps of several lines. A line of ordinary
// output after an exception cannot be told from the exception's text, so only the length limits
// what counts as "ends with".
std::size_t traceback_start(const Lines& lines) {
  std::size_t start = last_header(lines, lines.size());
  if (start == lines.size() || lines.size() - start > kLongestTraceback) return lines.size();
  for (;;) {
    std::size_t above = start;
    while (above > 0 && lines[above - 1].empty()) --above;
    if (above == 0 || !is_chain(lines[above - 1])) return start;
    const std::size_t earlier = last_header(lines, above - 1);
    if (earlier == above - 1) return start;
    start = earlier;
  }
}

}  // namespace

std::size_t last_line_with(std::string_view words, std::string_view log) {
  std::size_t at = log.rfind(words);
  while (at != std::string_view::npos && at != 0 && log[at - 1] != '\n') {
    at = log.rfind(words, at - 1);
  }
  return at;
}

std::string_view first_of_chain(std::string_view log, std::size_t header) {
  const Lines before = lines_of(log.substr(0, header + kTraceback.size()));
  log.remove_prefix(static_cast<std::size_t>(before[traceback_start(before)].data() - log.data()));
  std::size_t end = log.size();
  for (const std::string_view chained : kChained) end = std::min(end, log.find(chained));
  return log.substr(0, end);
}

std::string_view last_line(std::string_view log) {
  const std::size_t end = log.find_last_not_of(" \n\r\t");
  if (end == std::string_view::npos) return {};
  log = log.substr(0, end + 1);
  const std::size_t before = log.rfind('\n');
  return before == std::string_view::npos ? log : log.substr(before + 1);
}

std::string_view this_run(std::string_view tail, std::string_view run_mark) {
  const std::size_t at = last_line_with(run_mark, tail);
  if (at == std::string_view::npos) return tail;
  const std::size_t line_end = tail.find('\n', at);
  return line_end == std::string_view::npos ? std::string_view() : tail.substr(line_end + 1);
}

std::string log_excerpt(std::string_view tail, std::string_view run_mark) {
  const Lines lines = lines_of(this_run(tail, run_mark));
  const std::size_t by_count = lines.size() > kLines ? lines.size() - kLines : 0;
  const std::size_t start = std::min(by_count, traceback_start(lines));
  std::string text;
  for (std::size_t i = start; i < lines.size(); ++i) {
    text += printable(lines[i].substr(0, kLongestLine));
    text += '\n';
  }
  return text;
}

}  // namespace paddle_launch
