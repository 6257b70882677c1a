// SPDX-License-Identifier: Apache-2.0
#include "benchmarks/options.h"

#include <charconv>
#include <optional>
#include <stdexcept>

namespace paddle_launch {
namespace {

constexpr int kQuickRepetitions = 3;

// The value of `--name value` or `--name=value` at `index`; both words are taken out.
std::optional<std::string> take_value(std::vector<std::string>& words, size_t index,
                                      const std::string& name) {
  const std::string word = words[index];
  const auto here = words.begin() + static_cast<std::ptrdiff_t>(index);
  if (word.rfind(name + "=", 0) == 0) {
    words.erase(here);
    return word.substr(name.size() + 1);
  }
  if (word != name) return std::nullopt;
  if (index + 1 == words.size()) throw std::invalid_argument(name + " needs a value");
  const std::string value = words[index + 1];
  words.erase(here, here + 2);
  return value;
}

int positive_number(const std::string& text) {
  int number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc{} || end != text.data() + text.size() || number < 1) {
    throw std::invalid_argument("--repetitions needs a positive number, not '" + text + "'");
  }
  return number;
}

std::string section_name(const std::string& text) {
  for (const char* known : {"start", "failure", "logs", "idle", "rendezvous", "ending"}) {
    if (text == known) return text;
  }
  throw std::invalid_argument(
      "--only knows start, failure, logs, idle, rendezvous and ending, not '" + text + "'");
}

}  // namespace

BenchmarkOptions take_options(std::vector<std::string>& arguments) {
  BenchmarkOptions options;
  std::optional<int> repetitions;
  for (const std::string& word : arguments) {
    options.command_line += (options.command_line.empty() ? "" : " ") + word;
  }
  for (size_t index = 1; index < arguments.size();) {
    if (arguments[index] == "--quick") {
      options.quick = true;
      arguments.erase(arguments.begin() + static_cast<std::ptrdiff_t>(index));
    } else if (const auto section = take_value(arguments, index, "--only")) {
      options.only = section_name(*section);
    } else if (const auto path = take_value(arguments, index, "--paddle_launch")) {
      options.paddle_launch = *path;
    } else if (const auto folder = take_value(arguments, index, "--json")) {
      options.json = *folder;
    } else if (const auto number = take_value(arguments, index, "--repetitions")) {
      repetitions = positive_number(*number);
    } else {
      ++index;
    }
  }
  options.repetitions =
      repetitions.value_or(options.quick ? kQuickRepetitions : options.repetitions);
  return options;
}

}  // namespace paddle_launch
