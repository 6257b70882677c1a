// SPDX-License-Identifier: Apache-2.0
// What may stand after an option: the rules that the option table names, their words, and the one
// reader for values of the command line and of environment variables alike.
#pragma once

#include <algorithm>
#include <chrono>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "launcher/job/job_spec.h"
#include "launcher/job/pod.h"

namespace paddle_launch {

struct AnyText {};  // anything but nothing
struct TextOrNothing {
};                  // empty counts as not given: Paddle's parameter-server lists default to ''
struct Boolean {};  // a value in Python's strtobool words
struct Flag {};     // takes no value
struct WholeNumber {
  int low;
  int high;
  std::string_view word = "";  // may stand in its place, and reads as low - 1
};
struct OneOf {
  std::string_view choices;    // "collective|ps"
  std::string_view bare = "";  // what the option means without "=value"; it then takes no next word
};
struct NodeCount {};    // N or MIN:MAX
struct AddressList {};  // --ips
struct EndpointList {   // HOST:PORT,HOST:PORT; empty counts as not given
  bool may_lack_ports = false;
  bool has_stages = false;  // a semicolon between two
};
struct StageNumbers {};  // "1;2;3"; empty counts as not given
struct StageDevices {};  // "cpu;gpu"; empty counts as not given
struct HostAndPort {
  bool or_etcd = false;  // or etcd://HOST:PORT, several with commas
};
struct EtcdServers {};      // --elastic_server
struct RestartOn {};        // --restart_on
struct UserAndPassword {};  // NAME or NAME:PASSWORD
struct LogLevelWord {};     // DEBUG … or Python's numbers
struct PortRange {};        // LOW:HIGH
struct Seconds {};          // decimals allowed
struct PluginName {};       // --bootstrap: letters, digits, '-' and '_', so nothing like a path
struct ActsAtOnce {         // -m, --help, --version: dealt with where the command line is cut
  std::string_view after_equals = "";  // the one word that may follow it so
};

using ValueRule =
    std::variant<AnyText, TextOrNothing, Boolean, Flag, WholeNumber, OneOf, NodeCount, AddressList,
                 EndpointList, StageNumbers, StageDevices, HostAndPort, EtcdServers, RestartOn,
                 UserAndPassword, LogLevelWord, PortRange, Seconds, PluginName, ActsAtOnce>;

inline constexpr int kHighestPort = kLastPort;
inline constexpr int kMostNodes = 100000;
inline constexpr int kMostSeconds = 86400;  // a day
inline constexpr int kMostOnANode = 4096;   // processes of one role

using Stages = std::vector<std::vector<std::string>>;

// --elastic_server, or --master=etcd://….
struct EtcdServersTyped {
  std::string scheme{};  // "https://"; empty: none was typed
  std::vector<std::string> endpoints{};

  bool operator==(const EtcdServersTyped&) const = default;
};

// --etcd_user.
struct UserTyped {
  std::string name{};
  std::optional<std::string> password{};

  bool operator==(const UserTyped&) const = default;
};

// What a rule reads out of a text. Words and names are nothing but their text: monostate.
using Value =
    std::variant<std::monostate, bool, int, std::chrono::milliseconds, LogLevel, NodeRange,
                 std::pair<int, int>, MeetingPoint, EtcdServersTyped, UserTyped,
                 std::vector<std::string>, std::vector<int>, Stages, RestartCauses>;

struct ValueReading {
  std::string text{};  // in one spelling: True/False, digits without leading zeros, no blanks
  Value value{};
  std::string problem{};  // not empty: why the text is refused, as a clause ("it takes …")
};

inline ValueReading accepted(std::string text, Value value = {}) {
  return {std::move(text), std::move(value), {}};
}
inline ValueReading refused(std::string problem) { return {{}, {}, std::move(problem)}; }

ValueReading read_value(const ValueRule& rule, std::string_view text);

// An empty value of such an option counts as if the option were not there.
bool may_be_empty(const ValueRule& rule);

// As messages and the banner may show it: without a password.
std::string shown_value(const ValueRule& rule, std::string_view value);

std::string_view without_blanks(std::string_view text);  // around it

// The words that rules of value_rule.h take, once: for their readers, and for the shells that offer
// them.
inline constexpr std::string_view kTrueWords[] = {"true", "yes", "y", "t", "on", "1"};
inline constexpr std::string_view kFalseWords[] = {"false", "no", "n", "f", "off", "0"};

inline constexpr std::string_view kWaysToMeet[] = {"auto", "solo", "tcp", "mpi", "pmix"};
inline constexpr std::string_view kStageDeviceWords[] = {"cpu", "gpu", "xpu"};

inline bool is_among(std::string_view word, std::span<const std::string_view> words) {
  return std::find(words.begin(), words.end(), word) != words.end();
}

// What a shell can offer after the option, one spelling of each: all that the rule takes where that
// is a short list, the known words where it takes others too, and none where there is no list.
std::vector<std::string> words_of(const ValueRule& rule);

}  // namespace paddle_launch
