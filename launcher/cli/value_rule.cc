// SPDX-License-Identifier: Apache-2.0
#include "launcher/cli/value_rule.h"

#include <algorithm>
#include <cctype>
#include <cstddef>
#include <iterator>
#include <optional>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "launcher/cli/endpoint_list.h"
#include "launcher/cli/etcd_of_options.h"
#include "launcher/cli/restarts_of_job.h"
#include "launcher/text/lists.h"
#include "launcher/text/number.h"

namespace paddle_launch {
namespace {

struct LevelWord {
  std::string_view typed;
  std::string_view text;
  LogLevel level;
};

constexpr LevelWord kLevelWords[] = {
    {"DEBUG", "DEBUG", LogLevel::Debug},       {"INFO", "INFO", LogLevel::Info},
    {"WARNING", "WARNING", LogLevel::Warning}, {"WARN", "WARNING", LogLevel::Warning},
    {"ERROR", "ERROR", LogLevel::Error},       {"CRITICAL", "ERROR", LogLevel::Error},
    {"FATAL", "ERROR", LogLevel::Error},       {"NOTSET", "DEBUG", LogLevel::Debug},
    {"10", "DEBUG", LogLevel::Debug},          {"20", "INFO", LogLevel::Info},
    {"30", "WARNING", LogLevel::Warning},      {"40", "ERROR", LogLevel::Error},
    {"50", "ERROR", LogLevel::Error},
};

std::string in_case(std::string_view text, int (*change)(int)) {
  std::string result(text);
  std::transform(result.begin(), result.end(), result.begin(),
                 [change](unsigned char c) { return static_cast<char>(change(c)); });
  return result;
}

std::optional<int> number_within(std::string_view text, int low, int high) {
  const std::optional<long long> number = parse_whole_number(text);
  if (!number || *number < low || *number > high) return std::nullopt;
  return static_cast<int>(*number);
}

// "LOW:HIGH" with both ends in the range and in order.
std::optional<std::pair<int, int>> ordered_pair(std::string_view text, int low, int high) {
  const std::size_t colon = text.find(':');
  if (colon == std::string_view::npos) return std::nullopt;
  const auto first = number_within(text.substr(0, colon), low, high);
  const auto last = number_within(text.substr(colon + 1), low, high);
  if (!first || !last || *first > *last) return std::nullopt;
  return std::pair(*first, *last);
}

bool is_of_a_name(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' ||
         c == '_';
}

ValueReading read_address_list(std::string_view text) {
  if (text.empty()) return refused("it takes at least one address");
  std::vector<std::string> entries;
  for (const std::string_view part : split(text, ',')) {
    const std::string entry(without_blanks(part));
    if (entry.empty())
      return refused("it takes addresses with one comma between two, and an entry is empty");
    const auto colons = std::count(entry.begin(), entry.end(), ':');
    if (colons > 1) {
      return refused(
          fmt::format("{} is an IPv6 address, and Paddle cuts endpoints at their first "
                      "colon, so it takes IPv4 addresses or host names",
                      entry));
    }
    if (colons == 1) {
      return refused(
          fmt::format("{} has a port, and it takes addresses alone (the first port is "
                      "named by --start_port)",
                      entry));
    }
    if (std::find(entries.begin(), entries.end(), entry) != entries.end()) {
      return refused(fmt::format("{} is there twice, and every node has its own address", entry));
    }
    entries.push_back(entry);
  }
  std::string list = fmt::format("{}", fmt::join(entries, ","));
  return accepted(std::move(list), std::move(entries));
}

ValueReading read_host_and_port(std::string_view text) {
  const std::string_view place = without_blanks(text);
  const std::size_t scheme = place.find("://");
  if (scheme != std::string_view::npos) {
    return refused(
        fmt::format("it takes HOST:PORT alone, without {}", place.substr(0, scheme + 3)));
  }
  if (std::count(place.begin(), place.end(), ':') > 1) {
    return refused(
        "it takes HOST:PORT with an IPv4 address or a host name: Paddle cuts endpoints at their "
        "first colon, so IPv6 addresses do not work");
  }
  const std::size_t colon = std::min(place.find(':'), place.size());
  const std::string_view host = place.substr(0, colon);
  const auto port = number_within(place.substr(std::min(colon + 1, place.size())), 1, kHighestPort);
  if (host.empty() || !port) {
    return refused(fmt::format("it takes HOST:PORT with a port from 1 to {}", kHighestPort));
  }
  return accepted(fmt::format("{}:{}", host, *port), MeetingPoint{std::string(host), *port});
}

struct Reader {
  std::string_view text;

  ValueReading operator()(AnyText) const {
    return text.empty() ? refused("it takes a value that is not empty")
                        : accepted(std::string(text));
  }
  ValueReading operator()(TextOrNothing) const { return accepted(std::string(text)); }
  ValueReading operator()(ActsAtOnce) const { return accepted(std::string(text)); }
  ValueReading operator()(Flag) const { return (*this)(Boolean()); }

  ValueReading operator()(Boolean) const {
    const std::string word = in_case(text, std::tolower);
    if (is_among(word, kTrueWords)) return accepted("True", true);
    if (is_among(word, kFalseWords)) return accepted("False", false);
    return refused("it takes y, yes, t, true, on, 1 or n, no, f, false, off, 0");
  }

  ValueReading operator()(WholeNumber range) const {
    const auto number = number_within(text, range.low, range.high);
    if (number) return accepted(std::to_string(*number), *number);
    if (!range.word.empty() && text == range.word)
      return accepted(std::string(text), range.low - 1);
    return refused(fmt::format("it takes a whole number from {} to {}{}{}", range.low, range.high,
                               range.word.empty() ? "" : ", or ", range.word));
  }

  ValueReading operator()(OneOf rule) const {
    std::vector<std::string_view> choices = split(rule.choices, '|');
    if (std::find(choices.begin(), choices.end(), text) != choices.end()) {
      return accepted(std::string(text));
    }
    if (choices.size() == 1) return refused(fmt::format("it takes {} only", choices.front()));
    const std::string_view last = choices.back();
    choices.pop_back();
    return refused(fmt::format("it takes {} or {}", fmt::join(choices, ", "), last));
  }

  ValueReading operator()(NodeCount) const {
    if (const auto nodes = number_within(text, 1, kMostNodes)) {
      return accepted(std::to_string(*nodes), NodeRange{*nodes, *nodes});
    }
    if (const auto range = ordered_pair(text, 1, kMostNodes)) {
      const auto [min, max] = *range;
      return accepted(fmt::format("{}:{}", min, max), NodeRange{min, max});
    }
    return refused(fmt::format(
        "it takes a number of nodes from 1 to {0}, or a range MIN:MAX of them", kMostNodes));
  }

  ValueReading operator()(AddressList) const { return read_address_list(text); }

  ValueReading operator()(EndpointList rule) const { return read_endpoint_list(text, rule); }
  ValueReading operator()(StageNumbers) const { return read_stage_numbers(text); }
  ValueReading operator()(StageDevices) const { return read_stage_devices(text); }

  ValueReading operator()(HostAndPort rule) const {
    const bool is_etcd = rule.or_etcd && without_blanks(text).starts_with(kEtcdScheme);
    return is_etcd ? read_etcd_master(text) : read_host_and_port(text);
  }

  ValueReading operator()(EtcdServers) const { return read_etcd_servers(text); }
  ValueReading operator()(RestartOn) const { return read_restart_causes(text); }

  ValueReading operator()(UserAndPassword) const {
    if (text.empty() || text.front() == ':') return refused("it takes NAME or NAME:PASSWORD");
    const std::size_t colon = text.find(':');
    UserTyped user{std::string(text.substr(0, colon)), std::nullopt};
    if (colon != std::string_view::npos) user.password = text.substr(colon + 1);
    return accepted(std::string(text), std::move(user));
  }

  ValueReading operator()(LogLevelWord) const {
    const std::string word = in_case(text, std::toupper);
    const auto* const found =
        std::find_if(std::begin(kLevelWords), std::end(kLevelWords),
                     [&word](const LevelWord& level) { return level.typed == word; });
    if (found != std::end(kLevelWords)) return accepted(std::string(found->text), found->level);
    return refused("it takes DEBUG, INFO, WARNING or ERROR, or Python's 10, 20, 30 or 40");
  }

  ValueReading operator()(PortRange) const {
    if (const auto range = ordered_pair(text, 1, kHighestPort)) {
      return accepted(fmt::format("{}:{}", range->first, range->second), *range);
    }
    return refused(fmt::format("it takes LOW:HIGH, two ports from 1 to {} in order", kHighestPort));
  }

  ValueReading operator()(Seconds) const {
    const std::optional<long long> thousandths = parse_thousandths(text);
    if (thousandths && *thousandths <= kMostSeconds * 1000LL) {
      return accepted(std::string(text), std::chrono::milliseconds(*thousandths));
    }
    return refused(
        fmt::format("it takes seconds from 0 to {}, decimals allowed (2.5)", kMostSeconds));
  }

  ValueReading operator()(PluginName) const {
    if (!text.empty() && std::all_of(text.begin(), text.end(), is_of_a_name)) {
      return accepted(std::string(text));
    }
    return refused(
        fmt::format("it takes {}, or the name of a plugin of this site: letters, digits, - and _",
                    fmt::join(kWaysToMeet, ", ")));
  }
};

}  // namespace

ValueReading read_value(const ValueRule& rule, std::string_view text) {
  return std::visit(Reader{text}, rule);
}

bool may_be_empty(const ValueRule& rule) {
  return std::holds_alternative<TextOrNothing>(rule) ||
         std::holds_alternative<EndpointList>(rule) || std::holds_alternative<StageNumbers>(rule) ||
         std::holds_alternative<StageDevices>(rule);
}

std::string shown_value(const ValueRule& rule, std::string_view value) {
  const bool has_secret = std::holds_alternative<UserAndPassword>(rule);
  return std::string(has_secret ? value.substr(0, value.find(':')) : value);
}

std::string_view without_blanks(std::string_view text) {
  const std::size_t first = text.find_first_not_of(" \t");
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(" \t") - first + 1);
}

namespace {

using Words = std::vector<std::string>;

constexpr int kMostNumbersOffered = 4;

Words all_of(std::span<const std::string_view> words) { return {words.begin(), words.end()}; }

struct Offer {
  Words operator()(Boolean) const {
    return {std::string(kTrueWords[0]), std::string(kFalseWords[0])};
  }

  Words operator()(WholeNumber range) const {
    Words numbers;
    if (!range.word.empty()) numbers.emplace_back(range.word);
    if (range.high - range.low >= kMostNumbersOffered) return numbers;
    for (int number = range.low; number <= range.high; ++number) {
      numbers.push_back(std::to_string(number));
    }
    return numbers;
  }

  // Without the word that the option means by itself.
  Words operator()(OneOf rule) const {
    Words words = all_of(split(rule.choices, '|'));
    std::erase(words, rule.bare);
    return words;
  }

  Words operator()(LogLevelWord) const {
    Words levels;
    for (const LevelWord& word : kLevelWords) {
      if (word.typed == word.text) levels.emplace_back(word.typed);
    }
    return levels;
  }

  Words operator()(StageDevices) const { return all_of(kStageDeviceWords); }
  Words operator()(RestartOn) const { return all_of(kWholeCauses); }
  Words operator()(PluginName) const { return all_of(kWaysToMeet); }
  Words operator()(ActsAtOnce rule) const { return all_of(split(rule.after_equals, '|')); }

  template <typename OtherRule>
  Words operator()(const OtherRule& /*rule*/) const {
    return {};
  }
};

}  // namespace

std::vector<std::string> words_of(const ValueRule& rule) { return std::visit(Offer(), rule); }

}  // namespace paddle_launch
