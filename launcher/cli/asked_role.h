// SPDX-License-Identifier: Apache-2.0
// One role of a job with parameter servers, as the options ask for it: a list of endpoints, or a
// number for each node.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "launcher/cli/endpoint_list.h"
#include "launcher/cli/environment_defaults.h"
#include "launcher/cli/given_options.h"

namespace paddle_launch {

struct RoleWords {
  std::string_view many;
  std::string_view list;          // keys of the options
  std::string_view newer_list{};  // empty: it has no second name
  std::string_view number{};
  std::string_view newer_number{};
};

inline constexpr RoleWords kServerWords{"servers", "servers", "", "server_num", ""};
inline constexpr RoleWords kWorkerWords{"workers", "workers", "trainers", "worker_num",
                                        "trainer_num"};
inline constexpr RoleWords kHeterWords{"heterogeneous workers", "heter_workers", "",
                                       "heter_worker_num", ""};

struct AskedRole {
  RoleWords words{};
  const GivenOption* list = nullptr;
  const GivenOption* number = nullptr;
  Stages endpoints{};          // servers and workers have one stage
  std::vector<int> numbers{};  // by stages, where there is no list

  int total() const;
  bool is_there() const { return total() > 0; }
};

// Throws UsageError where list and number contradict each other, or the two names of one option. A
// variable that loses against what was typed is dropped with a warning.
AskedRole asked_role(const RoleWords& words, GivenOptions& given, Remarks& remarks);

// Which of the two options counts; none: neither was given.
const GivenOption* under_either_name(std::string_view older, std::string_view newer,
                                     GivenOptions& given, Remarks& remarks);

// Addresses alone get the ports that Paddle's launcher gives them.
void add_ports(AskedRole& workers, int servers);

// "--server_num=N or --servers=HOST:PORT,…"
std::string how_to_ask(const RoleWords& words);

}  // namespace paddle_launch
