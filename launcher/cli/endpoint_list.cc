// SPDX-License-Identifier: Apache-2.0
// See endpoint_list.h.
#include "launcher/cli/endpoint_list.h"

#include <algorithm>
#include <set>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "launcher/cli/value_rule.h"
#include "launcher/text/endpoint.h"
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
    return {{}, "it takes endpoints with one comma between two, and an entry is empty"};
  }
  const bool lacks_port = entry.find(':') == std::string_view::npos;
  if (lacks_port && !rule.may_lack_ports) {
    return {{},
            fmt::format("{} has no port, and it takes HOST:PORT with a port from 1 to {}", entry,
                        kHighestPort)};
  }
  ValueReading reading =
      lacks_port ? ValueReading{std::string(entry), {}} : read_value(HostAndPort(), entry);
  if (!reading.problem.empty()) {
    return {{}, fmt::format("{} is no endpoint: {}", entry, reading.problem)};
  }
  std::string problem = problem_of_host(host_of(entry));
  if (!problem.empty()) return {{}, std::move(problem)};
  return reading;
}

// One list, from which the stages of another are made.
class ListReader {
 public:
  explicit ListReader(EndpointList rule) : rule_(rule) {}

  // The text of one stage in one spelling.
  ValueReading read_stage(std::string_view text) {
    if (without_blanks(text).empty()) {
      return {{},
              rule_.has_stages ? "it takes endpoints in each stage, and a stage is empty"
                               : "it takes at least one endpoint"};
    }
    std::vector<std::string> entries;
    for (const std::string_view part : split(text, ',')) {
      ValueReading reading = read_endpoint(without_blanks(part), rule_);
      if (reading.problem.empty()) reading.problem = problem_among_others(reading.value);
      if (!reading.problem.empty()) return reading;
      entries.push_back(std::move(reading.value));
    }
    return {fmt::format("{}", fmt::join(entries, ",")), {}};
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
  std::set<std::string> seen_{};
  std::string with_port_{};     // the first such entry
  std::string without_port_{};  // likewise
};

}  // namespace

ValueReading read_endpoint_list(std::string_view text, EndpointList rule) {
  ListReader reader(rule);
  if (!rule.has_stages) return reader.read_stage(text);
  std::vector<std::string> stages;
  for (const std::string_view part : split(text, ';')) {
    ValueReading reading = reader.read_stage(part);
    if (!reading.problem.empty()) return reading;
    stages.push_back(std::move(reading.value));
  }
  return {fmt::format("{}", fmt::join(stages, ";")), {}};
}

ValueReading read_stage_numbers(std::string_view text) {
  std::vector<long long> numbers;
  long long sum = 0;
  for (const std::string_view part : split(text, ';')) {
    const auto number = parse_whole_number(without_blanks(part));
    if (number && *number >= 1 && *number <= kMostOnANode) sum += *number;
    if (!number || *number < 1 || *number > kMostOnANode || sum > kMostOnANode) {
      return {{},
              fmt::format("it takes a whole number from 1 to {0}, or one for each stage as in "
                          "1;2;3, together at most {0}",
                          kMostOnANode)};
    }
    numbers.push_back(*number);
  }
  return {fmt::format("{}", fmt::join(numbers, ";")), {}};
}

ValueReading read_stage_devices(std::string_view text) {
  std::vector<std::string_view> devices;
  for (const std::string_view part : split(text, ';')) {
    const std::string_view device = without_blanks(part);
    if (!is_among(device, kStageDeviceWords)) {
      return {{},
              fmt::format("'{}' is no device: it takes cpu, gpu or xpu for each stage, as in "
                          "cpu;gpu;cpu",
                          device)};
    }
    devices.push_back(device);
  }
  return {fmt::format("{}", fmt::join(devices, ";")), {}};
}

Stages stages_of_endpoints(std::string_view list) {
  Stages stages;
  for (const std::string_view stage : split(list, ';')) {
    const std::vector<std::string_view> entries = split(stage, ',');
    stages.emplace_back(entries.begin(), entries.end());
  }
  return stages;
}

std::vector<int> stages_of_numbers(std::string_view list) {
  std::vector<int> numbers;
  for (const std::string_view part : split(list, ';')) {
    numbers.push_back(static_cast<int>(parse_whole_number(part).value_or(0)));
  }
  return numbers;
}

std::vector<std::string> stages_of_devices(std::string_view list) {
  const std::vector<std::string_view> parts = split(list, ';');
  return {parts.begin(), parts.end()};
}

}  // namespace paddle_launch
