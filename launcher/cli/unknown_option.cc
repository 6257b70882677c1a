// SPDX-License-Identifier: Apache-2.0
// See unknown_option.h.
#include "launcher/cli/unknown_option.h"

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "launcher/cli/option_table.h"
#include "launcher/text/nearest.h"

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

}  // namespace paddle_launch
