// SPDX-License-Identifier: Apache-2.0
// For users: docs/parameter-server.md.
#include "launcher/cli/endpoint_list.h"

#include <algorithm>
#include <set>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "launcher/cli/value_rule.h"
#include "launcher/text/ipv4.h"
#include "launcher/text/lists.h"
#include "launcher/text/number.h"

namespace paddle_launch {
namespace {

bool is_of_a_host(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' ||
         c == '_' || c == '.';
}

// Digits and dots alone cannot be a name: they are an address or a slip of the pen.
bool is_broken_address(std::string_view host) {
  return host.find_first_not_of("0123456789.") == std::string_view::npos &&
         !is_dotted_address(host);
}

// As a clause; empty: none.
std::string problem_of_host(std::string_view host) {
  if (!std::all_of(host.begin(), host.end(), is_of_a_host)) {
    return fmt::format("'{}' is no host name and no IPv4 address", host);
  }
  if (is_broken_address(host)) return fmt::format("{} is no IPv4 address", host);
  return {};
}

ValueReading read_endpoint(std::string_view entry, EndpointList rule) {
  if (entry.empty()) {
    return refused("it takes endpoints with one comma between two, and an entry is empty");
  }
  const bool lacks_port = entry.find(':') == std::string_view::npos;
  if (lacks_port && !rule.may_lack_ports) {
    return refused(fmt::format("{} has no port, and it takes HOST:PORT with a port from 1 to {}",
                               entry, kHighestPort));
  }
  ValueReading reading =
      lacks_port ? accepted(std::string(entry)) : read_value(HostAndPort(), entry);
  if (!reading.problem.empty()) {
    return refused(fmt::format("{} is no endpoint: {}", entry, reading.problem));
  }
  std::string problem = problem_of_host(host_of(entry));
  if (!problem.empty()) return refused(std::move(problem));
  return reading;
}

class ListReader {
 public:
  explicit ListReader(EndpointList rule) : rule_(rule) {}

  // Adds the entries of one stage; returns what is wrong with them, empty: nothing.
  std::string read_stage(std::string_view text) {
    if (without_blanks(text).empty()) {
      return rule_.has_stages ? "it takes endpoints in each stage, and a stage is empty"
                              : "it takes at least one endpoint";
    }
    std::vector<std::string>& entries = stages_.emplace_back();
    for (const std::string_view part : split(text, ',')) {
      ValueReading reading = read_endpoint(without_blanks(part), rule_);
      if (reading.problem.empty()) reading.problem = problem_among_others(reading.text);
      if (!reading.problem.empty()) return reading.problem;
      entries.push_back(std::move(reading.text));
    }
    return {};
  }

  ValueReading reading() && {
    std::vector<std::string> texts;
    for (const auto& stage : stages_) texts.push_back(fmt::format("{}", fmt::join(stage, ",")));
    return accepted(fmt::format("{}", fmt::join(texts, ";")), std::move(stages_));
  }

 private:
  std::string problem_among_others(const std::string& entry) {
    const bool has_port = entry.find(':') != std::string::npos;
    std::string& alike = has_port ? with_port_ : without_port_;
    if (alike.empty()) alike = entry;
    if (!with_port_.empty() && !without_port_.empty()) {
      return fmt::format(
          "{} has a port and {} has none: it takes a port for each entry or for none", with_port_,
          without_port_);
    }
    // Addresses alone get a port each, so several may be on one host.
    if (has_port && !seen_.insert(entry).second) {
      return fmt::format("{} is there twice, and every process has its own endpoint", entry);
    }
    return {};
  }

  EndpointList rule_;
  Stages stages_{};
  std::set<std::string> seen_{};
  std::string with_port_{};     // the first such entry
  std::string without_port_{};  // likewise
};

}  // namespace

ValueReading read_endpoint_list(std::string_view text, EndpointList rule) {
  ListReader reader(rule);
  const std::vector<std::string_view> stages =
      rule.has_stages ? split(text, ';') : std::vector<std::string_view>{text};
  for (const std::string_view stage : stages) {
    std::string problem = reader.read_stage(stage);
    if (!problem.empty()) return refused(std::move(problem));
  }
  return std::move(reader).reading();
}

ValueReading read_stage_numbers(std::string_view text) {
  std::vector<int> numbers;
  long long sum = 0;
  for (const std::string_view part : split(text, ';')) {
    const auto number = parse_whole_number(without_blanks(part));
    if (number && *number >= 1 && *number <= kMostOnANode) sum += *number;
    if (!number || *number < 1 || *number > kMostOnANode || sum > kMostOnANode) {
      return refused(
          fmt::format("it takes a whole number from 1 to {0}, or one for each stage as in "
                      "1;2;3, together at most {0}",
                      kMostOnANode));
    }
    numbers.push_back(static_cast<int>(*number));
  }
  std::string list = fmt::format("{}", fmt::join(numbers, ";"));
  return accepted(std::move(list), std::move(numbers));
}

ValueReading read_stage_devices(std::string_view text) {
  std::vector<std::string> devices;
  for (const std::string_view part : split(text, ';')) {
    const std::string_view device = without_blanks(part);
    if (!is_among(device, kStageDeviceWords)) {
      return refused(
          fmt::format("'{}' is no device: it takes cpu, gpu or xpu for each stage, as in "
                      "cpu;gpu;cpu",
                      device));
    }
    devices.emplace_back(device);
  }
  std::string list = fmt::format("{}", fmt::join(devices, ";"));
  return accepted(std::move(list), std::move(devices));
}

}  // namespace paddle_launch
