// SPDX-License-Identifier: Apache-2.0
#include "launcher/cli/cut_command_line.h"

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <optional>
#include <string_view>
#include <variant>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "launcher/cli/option_table.h"
#include "launcher/job/errors.h"
#include "launcher/text/nearest.h"
#include "launcher/text/number.h"

namespace paddle_launch {
namespace {

struct OldSpelling {
  std::string_view name;
  std::string_view remedy;
};

// Paddle 1.8's launcher.
constexpr OldSpelling kOldSpellings[] = {
    {"--cluster_node_ips", "the spelling of Paddle 1.8; it is --ips now"},
    {"--node_ip", "the spelling of Paddle 1.8; it is --host now"},
    {"--started_port", "the spelling of Paddle 1.8; it is --start_port now"},
    {"--use_paddlecloud",
     "an option of Paddle 1.8; leave it out: PaddleCloud is recognised by its variables"},
    {"--print_config",
     "an option of Paddle 1.8; leave it out: the arguments are always shown, unless --quiet is "
     "given"},
};

constexpr std::size_t kShortestAbbreviation = 2;

std::string_view without_dashes(std::string_view name) {
  return name.substr(std::min(name.find_first_not_of('-'), name.size()));
}

// Keys of the long options, as the user would type them.
std::vector<std::string> long_names() {
  std::vector<std::string> names;
  for (const Option& option : all_options()) {
    for (const std::string_view name : names_of(option)) {
      if (name.starts_with("--")) names.emplace_back(without_dashes(name));
    }
  }
  return names;
}

// argparse would have taken an abbreviation, so people type them: name what each could stand for.
std::vector<std::string> begin_with(std::string_view word, const std::vector<std::string>& names) {
  std::vector<std::string> found;
  if (word.size() < kShortestAbbreviation) return found;
  std::copy_if(names.begin(), names.end(), std::back_inserter(found),
               [word](const std::string& name) { return name.starts_with(word); });
  return found;
}

}  // namespace

std::string unknown_option_text(std::string_view name) {
  const auto* const old =
      std::find_if(std::begin(kOldSpellings), std::end(kOldSpellings),
                   [name](const OldSpelling& spelling) { return spelling.name == name; });
  if (old != std::end(kOldSpellings)) {
    return fmt::format("{} is {}. See --help=all for all options.", name, old->remedy);
  }
  const std::vector<std::string> names = long_names();
  const std::string_view word = without_dashes(name);
  const std::vector<std::string> longer = begin_with(word, names);
  if (!longer.empty()) {
    return fmt::format(
        "{} is not an option, and abbreviations are not taken: did you mean --{}? See --help for "
        "all options.",
        name, fmt::join(longer, " or --"));
  }
  if (const auto near = nearest(word, names)) {
    return fmt::format("{} is not an option: did you mean --{}? See --help=all for all options.",
                       name, *near);
  }
  return fmt::format(
      "{} is not an option. See --help=all for all options; the script's own options come after "
      "the "
      "script.",
      name);
}

// The rules are those of Python's argparse with a REMAINDER, less its
// abbreviations.

namespace {

// A lone dash is a word: python takes it for standard input.
bool looks_like_option(std::string_view word) { return word.size() > 1 && word.front() == '-'; }

// "--rank -1" is an option with its value, "--gpus --log_dir" is an option without one.
bool can_be_value(std::string_view word) {
  return !looks_like_option(word) || parse_whole_number(word).has_value();
}

class Cutter {
 public:
  explicit Cutter(const std::vector<std::string>& argv) : words_(argv) {}

  CutCommandLine cut() {
    while (next_ < words_.size()) {
      const std::string& word = words_[next_++];
      if (word == "--") {
        if (next_ < words_.size()) take_script(words_[next_++]);
        return cut_;
      }
      if (!looks_like_option(word)) {
        take_script(word);
        if (!cut_.script_args.empty() && cut_.script_args.front() == "--") {
          cut_.script_args.erase(cut_.script_args.begin());
        }
        return cut_;
      }
      take_option(word);
      if (cut_.is_module || cut_.asks_help || cut_.asks_version) return cut_;
    }
    return cut_;
  }

 private:
  void take_script(const std::string& name) {
    if (name.empty()) {
      throw UsageError(
          "training_script is an empty word: give the path of a script, or leave out "
          "the empty quotes (an unset shell variable?)");
    }
    cut_.script = name;
    cut_.script_args.assign(words_.begin() + static_cast<std::ptrdiff_t>(next_), words_.end());
  }

  void take_option(const std::string& word) {
    const std::size_t equals = word.find('=');
    const std::string name = word.substr(0, equals);
    const Option* const option = find_option(name);
    if (option == nullptr) throw UsageError(unknown_option_text(name));

    std::optional<std::string> value;
    if (equals != std::string::npos) value = word.substr(equals + 1);
    if (std::holds_alternative<ActsAtOnce>(option->rule)) return act_at_once(*option, name, value);
    cut_.own.push_back(name);
    cut_.own.push_back(value_of(*option, name, value));
  }

  std::string value_of(const Option& option, const std::string& name,
                       const std::optional<std::string>& value) {
    if (value && std::holds_alternative<Flag>(option.rule)) {
      throw UsageError(fmt::format("{0}={1}: {0} takes no value; write {0} alone, or leave it out",
                                   name, *value));
    }
    if (value) return *value;
    if (const auto bare = value_when_bare(option)) return *bare;
    if (next_ < words_.size() && can_be_value(words_[next_])) return words_[next_++];
    const std::string found = next_ < words_.size() ? fmt::format("{} follows it", words_[next_])
                                                    : std::string("the command line ends after it");
    throw UsageError(
        fmt::format("{0} needs a value, and {1}: write {0}={2}", name, found, option.metavar));
  }

  void act_at_once(const Option& option, const std::string& name,
                   const std::optional<std::string>& value) {
    if (value) refuse_unless_known(option, name, *value);
    if (name == "--version") {
      cut_.asks_version = true;
    } else if (name != "-m") {
      cut_.asks_help = true;
      cut_.asks_full_help = value.has_value();
    } else {
      take_module();
    }
  }

  static void refuse_unless_known(const Option& option, const std::string& name,
                                  const std::string& value) {
    const std::vector<std::string> known = words_after_equals(option);
    if (known.empty()) {
      throw UsageError(
          fmt::format("{0}={1}: {0} is not written with '='; see --help", name, value));
    }
    if (std::find(known.begin(), known.end(), value) != known.end()) return;
    throw UsageError(fmt::format("{0}={1}: it takes {2} only; write {0}, or {0}={2}", name, value,
                                 fmt::join(known, "|")));
  }

  void take_module() {
    if (next_ >= words_.size() || words_[next_].empty() || looks_like_option(words_[next_])) {
      throw UsageError(
          "-m needs the name of a Python module after it: write it as in -m package.train");
    }
    cut_.is_module = true;
    take_script(words_[next_++]);
  }

  const std::vector<std::string>& words_;
  std::size_t next_ = 1;
  CutCommandLine cut_;
};

}  // namespace

CutCommandLine cut_command_line(const std::vector<std::string>& argv) { return Cutter(argv).cut(); }

}  // namespace paddle_launch
