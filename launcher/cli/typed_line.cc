// SPDX-License-Identifier: Apache-2.0
#include "launcher/cli/typed_line.h"

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <variant>

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <fmt/ranges.h>

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

// Paddle's launcher takes what begins one option only, so such words stand in scripts. An option of
// ours would change what they mean, so ours do not count.
std::string name_of_abbreviation(const std::string& word) {
  const Option* meant = nullptr;
  std::string name;
  for (const Option& option : all_options()) {
    for (const std::string_view spelling : names_of(option)) {
      if (!is_paddles(option) || !spelling.starts_with(word)) continue;
      if (meant != nullptr && meant != &option) return {};
      if (meant == nullptr) name = spelling;
      meant = &option;
    }
  }
  return name;
}

// The words that begin like it, to choose from.
std::vector<std::string> begin_with(std::string_view word, const std::vector<std::string>& names) {
  std::vector<std::string> found;
  if (word.size() < kShortestAbbreviation) return found;
  std::copy_if(names.begin(), names.end(), std::back_inserter(found),
               [word](const std::string& name) { return name.starts_with(word); });
  return found;
}

}  // namespace

std::string with_underscores(std::string_view name) {
  std::string result(name);
  std::replace(result.begin(), result.end(), '-', '_');
  return result;
}

std::string unknown_option_text(std::string_view name) {
  const auto* const old =
      std::find_if(std::begin(kOldSpellings), std::end(kOldSpellings),
                   [name](const OldSpelling& spelling) { return spelling.name == name; });
  if (old != std::end(kOldSpellings)) {
    return fmt::format("{} is {}. See --help=all for all options.", name, old->remedy);
  }
  const std::vector<std::string> names = long_names();
  const std::string underscored = with_underscores(without_dashes(name));
  const std::string_view word = underscored;
  const std::vector<std::string> longer = begin_with(word, names);
  if (!longer.empty()) {
    return fmt::format(
        "{} is not an option, and abbreviations are taken where they begin one option of Paddle's "
        "alone: did you mean --{}? See --help for all options.",
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

// CLI11 parses the words by the option table. Three things it cannot give: that -m, --help and
// --version leave all that follows unread; that an option is no value of the one before it, but an
// empty text after '=' is; and messages that say what to write.

namespace {

// A lone dash is a word: python takes it for standard input.
bool looks_like_option(std::string_view word) { return word.size() > 1 && word.front() == '-'; }

// "--rank -1" is an option with its value, "--gpus --log_dir" is an option without one.
bool can_be_value(std::string_view word) {
  return !looks_like_option(word) || parse_whole_number(word).has_value();
}

std::string name_in(const std::string& word) { return word.substr(0, word.find('=')); }

// CLI11 takes "--servers=" for an option without a value, so that it would swallow the next word,
// "--gpus=--x" for the same as "--gpus --x", and an empty word for the name of an option group. A
// mark before what follows the sign, and in an empty word, tells them apart.
constexpr char kMark = '\1';

std::vector<std::string> marked_from_the_back(const std::vector<std::string>& argv) {
  std::vector<std::string> words(argv.rbegin(), argv.rend() - (argv.empty() ? 0 : 1));
  for (std::string& word : words) {
    const std::size_t equals = looks_like_option(word) ? word.find('=') : std::string::npos;
    if (equals != std::string::npos) word.insert(equals + 1, 1, kMark);
    if (word.empty()) word = kMark;
  }
  return words;
}

// Thrown out of CLI11 by -m, --help and --version: it leaves what follows them unread.
struct ReadNoFurther {
  const Option* option;
};

// Thrown as well: where the word stands that is no option.
struct UnknownOption {
  std::size_t place;
};

class LineReader {
 public:
  explicit LineReader(const std::vector<std::string>& argv)
      : argv_(argv), unread_(marked_from_the_back(argv)) {
    app_.set_help_flag();
    app_.prefix_command();
    declare();
  }

  TypedLine read() {
    try {
      app_.parse(unread_);
      take_rest(app_.remaining());
    } catch (const ReadNoFurther& end) {
      act(*end.option);
    } catch (const CLI::ArgumentMismatch&) {
      refuse_last_word();
    } catch (const CLI::ParseError& error) {
      throw UsageError(fmt::format("{}. See --help=all for all options.", error.what()));
    }
    for (const Spelling& spelling : spellings_) take_values(spelling);
    return std::move(line_);
  }

 private:
  struct Spelling {
    const Option* option;
    std::string_view name;
    CLI::Option* parsed;
  };

  // Each spelling is an option of its own: messages name what the user typed. CLI11 compares every
  // new option with all of its group: by the groups of the table 0.1 ms of a start, and 0.2
  // without.
  void declare() {
    std::vector<CLI::App*> groups;
    for (const OptionGroupTitle& group : option_groups()) {
      groups.push_back(app_.add_option_group(std::string(group.title)));
    }
    for (const Option& option : all_options()) {
      for (const std::string_view name : names_of(option)) {
        CLI::App& group = *groups.at(static_cast<std::size_t>(option.group));
        spellings_.push_back({&option, name, declare(group, option, name)});
      }
    }
  }

  static CLI::Option* declare(CLI::App& group, const Option& option, std::string_view name) {
    const bool ends = std::holds_alternative<ActsAtOnce>(option.rule);
    CLI::Option* const parsed = ends ? group.add_option(std::string(name),
                                                        [&option](const CLI::results_t&) -> bool {
                                                          throw ReadNoFurther{&option};
                                                        })
                                     : group.add_option(std::string(name));
    const bool stands_alone = value_when_bare(option) || (ends && option.metavar.empty());
    parsed->expected(stands_alone ? 0 : 1)->allow_extra_args(false);
    parsed->multi_option_policy(CLI::MultiOptionPolicy::TakeAll)->trigger_on_parse(ends);
    return parsed;
  }

  // What CLI11 could not place: an unknown option, or the script and all that follows it.
  void take_rest(const std::vector<std::string>& rest) {
    if (rest.empty()) return;
    const bool any_script = rest.front() == "--";
    if (!any_script && looks_like_option(rest.front())) {
      throw UnknownOption{argv_.size() - rest.size()};
    }
    const std::size_t next = argv_.size() - rest.size() + (any_script ? 1 : 0);
    if (next == argv_.size()) return;
    take_script(next);
    std::vector<std::string>& args = line_.script_args;
    if (!any_script && !args.empty() && args.front() == "--") args.erase(args.begin());
  }

  void take_script(std::size_t place) {
    line_.script = argv_[place];
    if (line_.script.empty()) {
      throw UsageError(
          "training_script is an empty word: give the path of a script, or leave out "
          "the empty quotes (an unset shell variable?)");
    }
    line_.script_args.assign(argv_.begin() + static_cast<std::ptrdiff_t>(place) + 1, argv_.end());
  }

  void act(const Option& option) {
    const std::size_t last = argv_.size() - unread_.size() - 1;
    const bool is_module = key_of(option) == "m";
    if (is_module && argv_[last - 1] == "-m") return take_module(last);
    const std::string& word = argv_[last];
    const std::string name = name_in(word);
    if (find_option(name) != &option) throw UsageError(unknown_option_text(name));  // "-hx"
    if (name != word) refuse_unless_known(option, name, word.substr(name.size() + 1));
    line_.asks_version = name == "--version";
    line_.asks_help = !line_.asks_version;
    line_.asks_full_help = line_.asks_help && name != word;
  }

  void take_module(std::size_t place) {
    if (argv_[place].empty() || looks_like_option(argv_[place])) refuse_module();
    line_.is_module = true;
    take_script(place);
  }

  [[noreturn]] static void refuse_module() {
    throw UsageError(
        "-m needs the name of a Python module after it: write it as in -m package.train");
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

  // The one option that CLI11 finds without a value is the one that nothing follows.
  [[noreturn]] void refuse_last_word() const {
    const Option* const option = find_option(argv_.back());
    if (option == nullptr || key_of(*option) == "m") refuse_module();
    refuse_without_value(*option, argv_.back(), "the command line ends after it");
  }

  [[noreturn]] static void refuse_without_value(const Option& option, std::string_view name,
                                                std::string_view found) {
    throw UsageError(
        fmt::format("{0} needs a value, and {1}: write {0}={2}", name, found, option.metavar));
  }

  void take_values(const Spelling& spelling) {
    if (spelling.parsed->count() == 0 || std::holds_alternative<ActsAtOnce>(spelling.option->rule))
      return;
    TypedOption typed{spelling.option, std::string(spelling.name), {}};
    for (const std::string& result : spelling.parsed->results()) {
      typed.values.push_back(value_of(spelling, result));
    }
    line_.options.push_back(std::move(typed));
  }

  static std::string value_of(const Spelling& spelling, const std::string& result) {
    const bool is_marked = !result.empty() && result.front() == kMark;
    if (is_marked && std::holds_alternative<Flag>(spelling.option->rule)) {
      throw UsageError(fmt::format("{0}={1}: {0} takes no value; write {0} alone, or leave it out",
                                   spelling.name, result.substr(1)));
    }
    if (is_marked) return result.substr(1);
    if (auto bare = value_when_bare(*spelling.option)) return std::move(*bare);
    if (can_be_value(result)) return result;
    refuse_without_value(*spelling.option, spelling.name, fmt::format("{} follows it", result));
  }

  const std::vector<std::string>& argv_;
  std::vector<std::string> unread_;  // by CLI11, which reads from the back
  CLI::App app_;
  std::vector<Spelling> spellings_;
  TypedLine line_;
};

// The word with the whole name of its option, as the table has it.
std::string spelled_out(const std::string& word, std::vector<std::string>& notices) {
  const std::string typed = name_in(word);
  const bool is_long = typed.starts_with("--");
  const std::string name = is_long ? "--" + with_underscores(typed.substr(2)) : typed;
  if (is_long && find_option(name) != nullptr) return name + word.substr(typed.size());
  const std::string whole = is_long ? name_of_abbreviation(name) : "";
  if (whole.empty()) throw UsageError(unknown_option_text(typed));
  notices.push_back(fmt::format("{} is taken for {}", typed, whole));
  return whole + word.substr(typed.size());
}

bool is_empty_list(const Option& option, std::string_view value) {
  return value.empty() && may_be_empty(option.rule);
}

}  // namespace

// The reader stops at the first word that it does not know, so no word behind the script is looked
// at.
TypedLine read_typed_line(const std::vector<std::string>& argv) {
  std::vector<std::string> words = argv;
  std::vector<std::string> notices;
  for (;;) {
    try {
      TypedLine line = LineReader(words).read();
      line.notices = std::move(notices);
      return line;
    } catch (const UnknownOption& unknown) {
      words[unknown.place] = spelled_out(words[unknown.place], notices);
    }
  }
}

GivenOptions accept_typed(const std::vector<TypedOption>& options,
                          std::vector<std::string>& warnings) {
  GivenOptions given;
  for (const auto& [option, name, values] : options) {
    if (is_empty_list(*option, values.back())) continue;
    GivenOption last = accept(*option, name, values.back(), false);
    if (const GivenOption* const twin = given.find(key_of(*option))) {
      refuse_together(*twin, last, "they are two spellings of one option");
    }
    if (std::any_of(values.begin(), values.end(),
                    [&last_word = values.back()](const std::string& value) {
                      return value != last_word;
                    })) {
      warnings.push_back(
          fmt::format("{} was given {} times with different values; the last one counts: {}", name,
                      values.size(), said(last)));
    }
    given.add(std::move(last));
  }
  return given;
}

}  // namespace paddle_launch
