// SPDX-License-Identifier: Apache-2.0
// See asked_role.h.
#include "launcher/cli/asked_role.h"

#include <map>
#include <numeric>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "launcher/job/errors.h"
#include "launcher/text/endpoint.h"

namespace paddle_launch {
namespace {

constexpr int kPortOfPaddle = 6170;

std::vector<int> sizes_of(const Stages& stages) {
  std::vector<int> sizes;
  for (const auto& stage : stages) sizes.push_back(static_cast<int>(stage.size()));
  return sizes;
}

// Only the number is dropped for what was typed: without the list the job would be another one.
void check_number(AskedRole& role, GivenOptions& given, Remarks& remarks) {
  const std::vector<int> sizes = sizes_of(role.endpoints);
  if (role.number == nullptr || stages_of_numbers(role.number->value) == sizes) return;
  if (role.number->from_environment && !role.list->from_environment) {
    remarks.warnings.push_back(fmt::format("{} is not used: {} names the {}", said(*role.number),
                                           said(*role.list), role.words.many));
    given.drop(key_of(*role.number->option));
    role.number = nullptr;
    return;
  }
  const std::string_view many = role.words.many;
  const std::string_view counted = role.total() == 1 ? many.substr(0, many.size() - 1) : many;
  refuse_together(*role.number, *role.list,
                  fmt::format("the list has {} {}", fmt::join(sizes, ";"), counted));
}

void check_number_on_a_host(const AskedRole& role) {
  std::map<std::string_view, int> on_host;
  for (const auto& stage : role.endpoints) {
    for (const std::string& entry : stage) {
      const std::string_view host = host_of(entry);
      if (++on_host[host] <= kMostOnANode) continue;
      throw UsageError(fmt::format(
          "{} has more than {} {} on {}, which is more than a node can start. Correct {}.",
          role.list->name, kMostOnANode, role.words.many, host, role.list->name));
    }
  }
}

}  // namespace

int AskedRole::total() const {
  const std::vector<int> by_stages = list != nullptr ? sizes_of(endpoints) : numbers;
  return std::accumulate(by_stages.begin(), by_stages.end(), 0);
}

const GivenOption* under_either_name(std::string_view older, std::string_view newer,
                                     GivenOptions& given, Remarks& remarks) {
  const GivenOption* const one = given.find(older);
  const GivenOption* const other = given.find(newer);
  if (one == nullptr || other == nullptr) return one != nullptr ? one : other;
  if (one->value == other->value) return one;
  // The older names have no variables.
  if (!other->from_environment) {
    refuse_together(*one, *other, "they are two names of one option");
  }
  remarks.warnings.push_back(
      fmt::format("{} is not used: the command line says {}, and an option beats a variable",
                  said(*other), said(*one)));
  given.drop(newer);
  return one;
}

AskedRole asked_role(const RoleWords& words, GivenOptions& given, Remarks& remarks) {
  AskedRole role;
  role.words = words;
  role.list = under_either_name(words.list, words.newer_list, given, remarks);
  role.number = under_either_name(words.number, words.newer_number, given, remarks);
  if (role.list != nullptr) {
    role.endpoints = stages_of_endpoints(role.list->value);
    check_number(role, given, remarks);
    check_number_on_a_host(role);
  } else if (role.number != nullptr) {
    role.numbers = stages_of_numbers(role.number->value);
  }
  return role;
}

void add_ports(AskedRole& workers, int servers) {
  int port = kPortOfPaddle + servers;
  for (auto& stage : workers.endpoints) {
    for (std::string& entry : stage) {
      if (entry.find(':') != std::string::npos) return;
      if (port > kHighestPort) {
        throw UsageError(fmt::format(
            "{}: its entries have no ports, and those from {} on do not suffice for {} of them. "
            "Write HOST:PORT for each.",
            workers.list->name, kPortOfPaddle + servers, workers.total()));
      }
      entry += fmt::format(":{}", port++);
    }
  }
}

std::string how_to_ask(const RoleWords& words) {
  return fmt::format("--{}=N or --{}=HOST:PORT,…", words.number, words.list);
}

}  // namespace paddle_launch
