// SPDX-License-Identifier: Apache-2.0
// For users: docs/parameter-server.md.
#include "launcher/cli/servers_of_job.h"

#include <algorithm>
#include <array>
#include <map>
#include <numeric>
#include <string_view>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "launcher/cli/nodes_of_job.h"
#include "launcher/job/errors.h"
#include "launcher/text/ipv4.h"

namespace paddle_launch {
namespace {

constexpr int kPortOfPaddle = 6170;

// How the options ask for one role: by a list of endpoints, or a number for each node.
struct RoleOptions {
  std::string_view one;
  std::string_view list;        // keys of the options
  std::string_view newer_list;  // empty: it has no second name
  std::string_view number;
  std::string_view newer_number;

  std::string many() const { return fmt::format("{}s", one); }
};

constexpr RoleOptions kRoleOptions[] = {
    {"worker", "workers", "trainers", "worker_num", "trainer_num"},
    {"server", "servers", "", "server_num", ""},
    {"heterogeneous worker", "heter_workers", "", "heter_worker_num", ""},
};

constexpr const RoleOptions& options_of(Role role) { return kRoleOptions[static_cast<int>(role)]; }

std::vector<int> sizes_of(const Stages& stages) {
  std::vector<int> sizes;
  for (const auto& stage : stages) sizes.push_back(static_cast<int>(stage.size()));
  return sizes;
}

// One role as it was asked for.
struct AskedRole {
  RoleOptions options{};
  const GivenOption* list = nullptr;
  const GivenOption* number = nullptr;
  Stages endpoints{};          // servers and workers have one stage
  std::vector<int> numbers{};  // by stages, where there is no list

  int total() const {
    const std::vector<int> by_stages = list != nullptr ? sizes_of(endpoints) : numbers;
    return std::accumulate(by_stages.begin(), by_stages.end(), 0);
  }
  bool is_there() const { return total() > 0; }
};

// By stages, where there may be some.
std::vector<int> numbers_in(const GivenOption& number) {
  const int* const one = std::get_if<int>(&number.value);
  return one != nullptr ? std::vector<int>{*one} : number.as<std::vector<int>>();
}

// A number from a variable gives way to a typed list. A list never gives way to a number: without
// the list the job would have other processes.
void check_number(AskedRole& role, GivenOptions& given, Remarks& remarks) {
  const std::vector<int> sizes = sizes_of(role.endpoints);
  if (role.number == nullptr || numbers_in(*role.number) == sizes) return;
  if (role.number->from_environment && !role.list->from_environment) {
    drop_unused(*role.number, fmt::format("{} names the {}", said(*role.list), role.options.many()),
                given, remarks);
    role.number = nullptr;
    return;
  }
  refuse_together(*role.number, *role.list,
                  fmt::format("the list has {} {}{}", fmt::join(sizes, ";"), role.options.one,
                              role.total() == 1 ? "" : "s"));
}

void check_number_on_a_host(const AskedRole& role) {
  std::map<std::string_view, int> on_host;
  for (const auto& stage : role.endpoints) {
    for (const std::string& entry : stage) {
      const std::string_view host = host_of(entry);
      if (++on_host[host] <= kMostOnANode) continue;
      throw UsageError(fmt::format(
          "{} has more than {} {} on {}, which is more than a node can start. Correct {}.",
          role.list->name, kMostOnANode, role.options.many(), host, role.list->name));
    }
  }
}

// Which of two names of one option counts; null: neither was given.
const GivenOption* under_either_name(std::string_view older, std::string_view newer,
                                     GivenOptions& given, Remarks& remarks) {
  const GivenOption* const one = given.find(older);
  const GivenOption* const other = given.find(newer);
  if (one == nullptr || other == nullptr) return one != nullptr ? one : other;
  if (one->text == other->text) return one;
  // The older names have no variables.
  if (!other->from_environment) {
    refuse_together(*one, *other, "they are two names of one option");
  }
  drop_unused(*other, option_comes_first(*one), given, remarks);
  return one;
}

// As in Paddle's newer launcher, so by its names, which bring its defaults. Lists name all
// processes: beside one nothing is added.
void add_missing_numbers(GivenOptions& given, Remarks& remarks) {
  if (given.first_of({"servers", "workers", "trainers", "heter_workers"}) != nullptr) return;
  for (const Role role : {Role::Server, Role::Trainer}) {
    const RoleOptions& options = options_of(role);
    if (given.first_of({options.number, options.newer_number}) != nullptr) continue;
    const std::string name = role == Role::Server ? "--server_num" : "--trainer_num";
    given.add(accept(*find_option(name), name, "1", true));
    remarks.notices.push_back(
        fmt::format("{} is not given: each node has one {}", name, options.one));
  }
}

AskedRole asked_role(Role asked, GivenOptions& given, Remarks& remarks) {
  const RoleOptions& options = options_of(asked);
  AskedRole role{.options = options};
  role.list = under_either_name(options.list, options.newer_list, given, remarks);
  role.number = under_either_name(options.number, options.newer_number, given, remarks);
  if (role.list != nullptr) {
    role.endpoints = role.list->as<Stages>();
    check_number(role, given, remarks);
    check_number_on_a_host(role);
  } else if (role.number != nullptr) {
    role.numbers = numbers_in(*role.number);
  }
  return role;
}

// Addresses alone get the ports that Paddle's launcher gives them.
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

std::string how_to_ask(const RoleOptions& options) {
  return fmt::format("--{}=N or --{}=HOST:PORT,…", options.number, options.list);
}

struct Roles {
  AskedRole servers{};
  AskedRole workers{};
  AskedRole heter{};

  std::array<const AskedRole*, 3> all() const { return {&servers, &workers, &heter}; }
};

bool runs_alone(const Roles& roles) {
  return roles.servers.list == nullptr && roles.servers.number != nullptr &&
         !roles.servers.is_there() && roles.workers.list == nullptr && roles.workers.total() == 1;
}

ServerSpec alone(const Roles& roles, const GivenOptions& given, Remarks& remarks) {
  const GivenOption* const nodes = given.find("nnodes");
  if (nodes != nullptr && number_of_nodes(given) > 1) {
    refuse_together(*nodes, *roles.servers.number, "without servers the script runs alone");
  }
  remarks.notices.push_back(
      fmt::format("{} and {}: there are no servers and one worker: the script runs alone, as "
                  "python train.py would, without the variables of a distributed job",
                  said(*roles.servers.number), said(*roles.workers.number)));
  ServerSpec spec;
  spec.worker_num = 1;
  spec.as_it_is = ProcessName{Role::Trainer, 0};
  return spec;
}

void refuse_missing(const ModeChoice& mode, const Roles& roles) {
  std::vector<std::string> missing;
  std::vector<std::string> remedies;
  for (const AskedRole* const role : roles.all()) {
    const bool is_needed = role != &roles.heter || mode.mode == Mode::ParameterServerHeter;
    if (!is_needed || role->is_there()) continue;
    const std::string zero =
        role->number == nullptr ? "" : fmt::format(" ({})", said(*role->number));
    missing.push_back(fmt::format("no {}{}", role->options.many(), zero));
    remedies.push_back(how_to_ask(role->options));
  }
  if (missing.empty()) return;
  throw UsageError(fmt::format(
      "{} asks for a job with parameter servers{}, and it has {}. Give {}, or {} to run a "
      "collective job.",
      said(*mode.because),
      mode.mode == Mode::ParameterServerHeter ? " and heterogeneous workers" : "",
      in_words(missing), fmt::join(remedies, ", and "), how_to_drop(*mode.because)));
}

void refuse_shared_endpoints(const Roles& roles) {
  std::map<std::string_view, const AskedRole*> owners;
  for (const AskedRole* const role : roles.all()) {
    for (const auto& stage : role->endpoints) {
      for (const std::string& endpoint : stage) {
        const auto [owner, is_new] = owners.emplace(endpoint, role);
        if (is_new) continue;
        throw UsageError(fmt::format(
            "{} and {}: {} is an endpoint of both, and every process has its own. Give one of them "
            "another port.",
            said(*owner->second->list), said(*role->list), endpoint));
      }
    }
  }
}

// A number does not say on which of several hosts.
void refuse_numbers_among_hosts(const Roles& roles, const std::vector<std::string>& hosts) {
  if (hosts.size() < 2) return;
  for (const AskedRole* const role : roles.all()) {
    if (role->list != nullptr || !role->is_there()) continue;
    throw UsageError(
        fmt::format("{}: the job has several hosts ({}), and a number does not say on which of "
                    "them the {} run. Name the endpoints of every role: write --{}=HOST:PORT,… in "
                    "place of {}.",
                    said(*role->number), fmt::join(hosts, ", "), role->options.many(),
                    role->options.list, role->number->name));
  }
}

// Where lists name every port, --start_port and --port_range have nothing to choose.
void settle_ports(const Roles& roles, GivenOptions& given, Remarks& remarks) {
  for (const AskedRole* const role : roles.all()) {
    if (role->list == nullptr && role->is_there()) return;
  }
  for (const std::string_view key : {"start_port", "port_range"}) {
    const GivenOption* const port = given.find(key);
    if (port == nullptr) continue;
    if (!port->from_environment) {
      refuse_together(*port, *roles.servers.list, "the lists name the ports");
    }
    drop_unused(*port, fmt::format("{} names the ports", roles.servers.list->name), given, remarks);
  }
}

void fill_roles(const Roles& roles, ServerSpec& spec) {
  const auto first_number = [](const AskedRole& role) {
    return role.numbers.empty() ? 0 : role.numbers.front();
  };
  if (roles.servers.list != nullptr) spec.servers = roles.servers.endpoints.front();
  if (roles.workers.list != nullptr) spec.workers = roles.workers.endpoints.front();
  spec.heter_workers = roles.heter.endpoints;
  spec.server_num = first_number(roles.servers);
  spec.worker_num = first_number(roles.workers);
  spec.heter_worker_num = roles.heter.numbers;
}

void fill_heter_devices(const Roles& roles, const GivenOptions& given, ServerSpec& spec,
                        Remarks& remarks) {
  const auto stages = static_cast<std::size_t>(spec.heter_stages());
  const GivenOption* const devices = given.find("heter_devices");
  if (devices == nullptr) {
    spec.heter_devices.assign(stages, "cpu");
    if (stages > 0) {
      remarks.notices.emplace_back(
          "--heter_devices is not given: the heterogeneous workers of each stage use the cpu");
    }
    return;
  }
  spec.heter_devices = devices->as<std::vector<std::string>>();
  if (spec.heter_devices.size() == stages) return;
  const AskedRole& heter = roles.heter;
  refuse_together(
      *devices, heter.list != nullptr ? *heter.list : *heter.number,
      fmt::format("the first is for {} stage{}, the second for {}", spec.heter_devices.size(),
                  spec.heter_devices.size() == 1 ? "" : "s", stages));
}

// Gloo's peers meet on the first server's node, at a port that no process there may have.
void refuse_taken_http_port(const Roles& roles, const ServerSpec& spec, const GivenOptions& given) {
  if (!spec.http_port || spec.servers.empty()) return;
  const std::string meeting = fmt::format("{}:{}", host_of(spec.servers.front()), *spec.http_port);
  for (const AskedRole* const role : roles.all()) {
    for (const auto& stage : role->endpoints) {
      if (std::find(stage.begin(), stage.end(), meeting) == stage.end()) continue;
      throw UsageError(fmt::format(
          "{}: Gloo's peers would meet at {}, which is in {}. Choose another port.",
          said(*given.first_of({"http_port", "gloo_port"})), meeting, role->list->name));
    }
  }
}

std::string joined(const std::vector<std::string>& list) {
  return fmt::format("{}", fmt::join(list, ","));
}

std::string list_or_number(std::string_view list_option, const std::vector<std::string>& list,
                           std::string_view number_option, int number) {
  return list.empty() ? fmt::format("--{}={}", number_option, number)
                      : fmt::format("--{}={}", list_option, joined(list));
}

std::string heter_text(const ServerSpec& spec) {
  if (spec.heter_stages() == 0) return "";
  std::vector<std::string> stages;
  for (const auto& stage : spec.heter_workers) stages.push_back(joined(stage));
  const std::string devices =
      fmt::format(" --heter_devices={}", fmt::join(spec.heter_devices, ";"));
  if (stages.empty()) {
    return fmt::format(" --heter_worker_num={}{}", fmt::join(spec.heter_worker_num, ";"), devices);
  }
  return fmt::format(" --heter_workers={}{}", fmt::join(stages, ";"), devices);
}

std::string layout_of(const ServerSpec& spec) {
  std::string text = list_or_number("servers", spec.servers, "server_num", spec.server_num);
  text += " " + list_or_number("workers", spec.workers, "worker_num", spec.worker_num);
  text += heter_text(spec);
  if (spec.http_port) text += fmt::format(" {}={}", spec.http_port_source, *spec.http_port);
  return text + fmt::format(" --with_gloo={}", spec.with_gloo);
}

}  // namespace

ServerSpec servers_of_job(const ModeChoice& mode, GivenOptions& given, Remarks& remarks) {
  add_missing_numbers(given, remarks);
  Roles roles{asked_role(Role::Server, given, remarks), asked_role(Role::Trainer, given, remarks),
              asked_role(Role::HeterWorker, given, remarks)};
  ServerSpec spec;
  if (mode.mode == Mode::ParameterServer && runs_alone(roles)) {
    spec = alone(roles, given, remarks);
  } else {
    refuse_missing(mode, roles);
    add_ports(roles.workers, roles.servers.total());
    refuse_shared_endpoints(roles);
    fill_roles(roles, spec);
    refuse_numbers_among_hosts(roles, hosts_of(spec));
    settle_ports(roles, given, remarks);
    fill_heter_devices(roles, given, spec, remarks);
  }
  fill_server_settings(given, spec, remarks);
  refuse_taken_http_port(roles, spec, given);
  spec.layout = layout_of(spec);
  return spec;
}

void fill_server_settings(GivenOptions& given, ServerSpec& spec, Remarks& remarks) {
  if (const GivenOption* const port = under_either_name("http_port", "gloo_port", given, remarks)) {
    spec.http_port = port->as<int>();
    spec.http_port_source = port->name;
  }
  // Paddle's older launcher leaves Gloo off and its newer one uses it.
  const bool is_newer = given.first_of({"trainers", "trainer_num", "gloo_port"}) != nullptr;
  spec.with_gloo = given.text("with_gloo").value_or(is_newer ? "1" : "0");
  spec.server_wait =
      given.value<std::chrono::milliseconds>("server_wait").value_or(spec.server_wait);
  spec.legacy_env = spec.single || given.is_true("legacy_env");
}

std::string name_in_words(ProcessName name) {
  return fmt::format("{} {}", options_of(name.role).one, name.index);
}

std::vector<std::string> hosts_of(const ServerSpec& spec) {
  std::vector<std::string> hosts;
  const auto add = [&hosts](const std::vector<std::string>& endpoints) {
    for (const std::string& endpoint : endpoints) {
      std::string host(host_of(endpoint));
      if (std::find(hosts.begin(), hosts.end(), host) == hosts.end()) {
        hosts.push_back(std::move(host));
      }
    }
  };
  add(spec.servers);
  add(spec.workers);
  for (const auto& stage : spec.heter_workers) add(stage);
  return hosts;
}

std::vector<const GivenOption*> endpoint_options(const GivenOptions& given) {
  std::vector<const GivenOption*> options;
  for (const GivenOption* const option :
       {given.find("servers"), given.first_of({"workers", "trainers"}),
        given.find("heter_workers")}) {
    if (option != nullptr) options.push_back(option);
  }
  return options;
}

std::string in_words(const std::vector<std::string>& names) {
  if (names.size() < 2) return names.empty() ? std::string() : names.front();
  return fmt::format("{} and {}", fmt::join(names.begin(), names.end() - 1, ", "), names.back());
}

}  // namespace paddle_launch
