// SPDX-License-Identifier: Apache-2.0
// See command_line.h: the steps of this room in their order.
#include "launcher/cli/command_line.h"

#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "launcher/cli/choose_mode.h"
#include "launcher/cli/config_file.h"
#include "launcher/cli/elastic_of_job.h"
#include "launcher/cli/environment_defaults.h"
#include "launcher/cli/help_text.h"
#include "launcher/cli/job_from_options.h"
#include "launcher/cli/job_order.h"
#include "launcher/cli/nodes_of_job.h"
#include "launcher/cli/paddle_cloud.h"
#include "launcher/cli/role_variables.h"
#include "launcher/cli/servers_of_job.h"
#include "launcher/cli/typed_line.h"
#include "launcher/cli/unused_options.h"
#include "launcher/job/errors.h"

namespace paddle_launch {
namespace {

std::string program_name(const std::vector<std::string>& argv) {
  if (argv.empty() || argv.front().empty()) return "paddle-launch";
  const std::string& typed = argv.front();
  return typed.substr(typed.rfind('/') + 1);
}

[[noreturn]] void refuse_without_script(std::string_view program) {
  throw UsageError(
      fmt::format("training_script is missing: the command line names no script to run; {} (see "
                  "--help for the options)",
                  usage_line(program)));
}

MakeToken token_order(const GivenOptions& typed, const GivenOption& asked,
                      std::string_view script) {
  if (!script.empty()) {
    throw UsageError(fmt::format("{}: it makes a token and starts nothing; leave out {}, or {}",
                                 said(asked), script, how_to_drop(asked)));
  }
  for (const auto& [key, option] : typed) {
    if (&option == &asked || key == "token_file") continue;
    throw UsageError(
        fmt::format("{} and {}: the first starts nothing, so the second has nothing to "
                    "say; {}",
                    said(asked), said(option), how_to_drop(option)));
  }
  return {typed.text("token_file")};
}

JobFrame frame_of_job(const Environment& env, GivenOptions& given, Remarks& remarks) {
  const ModeChoice mode = choose_mode(given);
  JobFrame frame;
  frame.elastic = elastic_of_job(mode, env, given, remarks);
  frame.mode = mode.mode;
  frame.servers = servers_of_variables(mode, env, given, remarks);
  if (frame.servers && frame.elastic) refuse_elastic_servers(*frame.elastic);
  if (frame.servers) {
    frame.mode = Mode::ParameterServer;
  } else if (has_servers(mode.mode)) {
    frame.servers = servers_of_job(mode, given, remarks);
  }
  return frame;
}

}  // namespace

std::optional<std::string> typed_report(const std::vector<std::string>& argv) try {
  for (const TypedOption& typed : read_typed_line(argv).options) {
    if (typed.name == "--report") return typed.values.back();
  }
  return std::nullopt;
} catch (const UsageError&) {
  return std::nullopt;
}

CommandLine parse_command_line(const std::vector<std::string>& argv, const Environment& env,
                               bool started_together) {
  const std::string program = program_name(argv);
  TypedLine line = read_typed_line(argv);
  if (line.asks_full_help) return PrintAndExit{full_help(program)};
  if (line.asks_help) return PrintAndExit{everyday_help(program)};
  if (line.asks_version) return PrintAndExit{version_text()};

  Remarks remarks{.notices = std::move(line.notices), .warnings = {}};
  GivenOptions given = accept_typed(line.options, remarks.warnings);
  if (const GivenOption* const make = given.find("make_token")) {
    return token_order(given, *make, line.script);
  }
  if (line.script.empty()) {
    const GivenOption* const order = asked_order(given);
    if (order != nullptr) return order_of_options(*order, env, given);
    refuse_without_script(program);
  }
  refuse_order_with_script(given, line.script);
  add_config_file(given);
  add_environment_defaults(env, given, remarks);
  add_elastic_variables(env, given, remarks);
  refuse_for_good(given);
  JobFrame frame = frame_of_job(env, given, remarks);
  frame.started_together = started_together;
  // In an elastic job etcd names the nodes, not the platform.
  const bool in_cloud = frame.mode == Mode::Collective && !frame.elastic && is_paddle_cloud(env);
  if (in_cloud) add_cloud_nodes(env, given);
  if (!in_cloud && !frame.elastic && !frame.servers) add_meeting_point(env, given, remarks);
  if (!frame.elastic) {
    choose_list_or_master(given, frame.servers, remarks);
    add_platform_rank(env, given, remarks);
  }

  ParsedCommandLine parsed;
  parsed.job = job_from_options(
      given, std::move(frame), env,
      {std::move(line.script), line.is_module, std::move(line.script_args), std::nullopt});
  const bool cloud_names_nodes = in_cloud && parsed.job.ips_given;
  if (cloud_names_nodes) take_cloud_place(env, given, parsed.job, remarks);
  parsed.job.arguments = banner_arguments(given, parsed.job);
  for (std::string& notice : without_effect(given, parsed.job))
    remarks.notices.push_back(std::move(notice));
  parsed.notices = std::move(remarks.notices);
  parsed.warnings = std::move(remarks.warnings);
  return parsed;
}

}  // namespace paddle_launch
