// SPDX-License-Identifier: Apache-2.0
#include "spawn/command.h"

#include <algorithm>
#include <variant>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "launcher/job/card.h"
#include "launcher/job/errors.h"
#include "launcher/site/found_cards.h"
#include "launcher/site/machine.h"

namespace paddle_launch {
namespace {

constexpr int kAll = -1;
constexpr std::string_view kNoCards = "cpu";

std::string number_option(std::size_t processes) {
  return fmt::format("--nproc_per_node={}", processes);
}

std::size_t processes_on_cpu(const SpawnOptions& options, std::size_t cpus) {
  if (options.nprocs != kAll) return static_cast<std::size_t>(options.nprocs);
  return std::max<std::size_t>(cpus, 1);
}

std::vector<std::string> named_cards(const SpawnOptions& options) {
  const auto named =
      static_cast<std::size_t>(std::count(options.gpus.begin(), options.gpus.end(), ',')) + 1;
  if (options.nprocs != kAll && static_cast<std::size_t>(options.nprocs) != named) {
    throw UsageError(fmt::format(
        "The number of selected devices({}) is not equal to the number of spawn processes({}), "
        "please ensure that the correct `nprocs` and `gpus` arguments are passed.",
        named, options.nprocs));
  }
  return {"--gpus=" + options.gpus, number_option(named)};
}

std::vector<std::string> first_cards(const SpawnOptions& options, const ChosenCards& visible) {
  const std::size_t all = visible.cards.size();
  const std::size_t wanted =
      options.nprocs == kAll ? all : static_cast<std::size_t>(options.nprocs);
  if (wanted > all) {
    throw UsageError(fmt::format(
        "the number of visible devices({}) is less than the number of spawn processes({}), please "
        "ensure that the correct `nprocs` argument is passed or the environment variable `{}` is "
        "correctly configured.",
        all, wanted, words_of(*visible.kind).visible_variable));
  }
  std::vector<std::string> names;
  for (std::size_t i = 0; i < wanted; ++i) names.push_back(visible.cards[i].name);
  return {fmt::format("--{}={}", words_of(*visible.kind).option, fmt::join(names, ",")),
          number_option(wanted)};
}

ParsedCommandLine parsed(const std::vector<std::string>& options, const Environment& env,
                         const std::string& program) {
  std::vector<std::string> argv = {"spawn"};
  argv.insert(argv.end(), options.begin(), options.end());
  argv.insert(argv.end(), {"--", program});
  return std::get<ParsedCommandLine>(parse_command_line(argv, env));
}

// Those that a launcher without a word about cards would use.
ChosenCards visible_cards(const Environment& env, const std::string& program) {
  return choose_cards(parsed({}, env, program).job, env,
                      [&env](CardKind kind) { return find_cards_of(kind, env); });
}

}  // namespace

std::vector<std::string> options_of_cards(const SpawnOptions& options, const ChosenCards& visible,
                                          std::size_t cpus) {
  if (options.nprocs != kAll && options.nprocs < 1) {
    throw UsageError(fmt::format(
        "nprocs is {}: give the number of processes, or -1 for one on each card (without cards on "
        "each CPU)",
        options.nprocs));
  }
  if (options.gpus == kNoCards)
    return {"--gpus=cpu", number_option(processes_on_cpu(options, cpus))};
  if (!options.gpus.empty()) return named_cards(options);
  if (visible.kind) return first_cards(options, visible);
  return {number_option(processes_on_cpu(options, cpus))};
}

ParsedCommandLine command_of_spawn(const SpawnOptions& options, const Environment& env,
                                   const std::string& program) {
  const ChosenCards visible = options.gpus.empty() ? visible_cards(env, program) : ChosenCards{};
  std::vector<std::string> argv = options_of_cards(options, visible, look_around().cpus.size());
  if (options.grace.count() < 0) {
    throw UsageError(fmt::format("grace is {} ms: give 0 ms or more", options.grace.count()));
  }
  argv.push_back(
      fmt::format("--grace={}.{:03}", options.grace.count() / 1000, options.grace.count() % 1000));
  if (!options.ips.empty()) argv.push_back("--ips=" + options.ips);
  // The calling program may itself be a task of mpirun or srun; what it spawns is not.
  const bool has_others = options.ips.find(',') != std::string::npos;
  argv.emplace_back(has_others ? "--bootstrap=tcp" : "--bootstrap=solo");
  argv.push_back(options.log_dir.empty() ? "--console=direct" : "--log_dir=" + options.log_dir);
  argv.emplace_back("--quiet");
  return parsed(argv, env, program);
}

}  // namespace paddle_launch
