// SPDX-License-Identifier: Apache-2.0
// What the options ask for of a job with parameter servers.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "launcher/cli/choose_mode.h"
#include "launcher/cli/endpoint_list.h"
#include "launcher/cli/given_options.h"
#include "launcher/job/job_spec.h"

namespace paddle_launch {

// One role of a job with parameter servers, as the options ask for it: a list of endpoints, or a
// number for each node.
struct RoleOptions {
  std::string_view many;
  std::string_view list;          // keys of the options
  std::string_view newer_list{};  // empty: it has no second name
  std::string_view number{};
  std::string_view newer_number{};
};

inline constexpr RoleOptions kServerOptions{"servers", "servers", "", "server_num", ""};
inline constexpr RoleOptions kWorkerOptions{"workers", "workers", "trainers", "worker_num",
                                            "trainer_num"};
inline constexpr RoleOptions kHeterOptions{"heterogeneous workers", "heter_workers", "",
                                           "heter_worker_num", ""};

struct AskedRole {
  RoleOptions options{};
  const GivenOption* list = nullptr;
  const GivenOption* number = nullptr;
  Stages endpoints{};          // servers and workers have one stage
  std::vector<int> numbers{};  // by stages, where there is no list

  int total() const;
  bool is_there() const { return total() > 0; }
};

// Throws UsageError where list and number contradict each other, or the two names of one option. A
// variable that loses against what was typed is dropped with a warning.
AskedRole asked_role(const RoleOptions& options, GivenOptions& given, Remarks& remarks);

// Which of the two options counts; none: neither was given.
const GivenOption* under_either_name(std::string_view older, std::string_view newer,
                                     GivenOptions& given, Remarks& remarks);

// Addresses alone get the ports that Paddle's launcher gives them.
void add_ports(AskedRole& workers, int servers);

// "--server_num=N or --servers=HOST:PORT,…"
std::string how_to_ask(const RoleOptions& options);

// Throws UsageError for roles that are missing or contradict each other. Drops variables that do
// not count, with a warning.
ServerSpec servers_of_job(const ModeChoice& mode, GivenOptions& given, Remarks& remarks);

// Gloo's port, --server_wait and --legacy_env.
void fill_server_settings(GivenOptions& given, ServerSpec& spec, Remarks& remarks);

// Each host of the lists once, in the order of servers, workers and heterogeneous workers.
std::vector<std::string> hosts_of(const ServerSpec& spec);

// The options or variables that name endpoints, in the same order.
std::vector<const GivenOption*> endpoint_options(const GivenOptions& given);

// "--servers, --workers and --heter_workers"
std::string in_words(const std::vector<std::string>& names);

}  // namespace paddle_launch
