// SPDX-License-Identifier: Apache-2.0
#include "launcher/steps/preparation.h"

#include <exception>
#include <filesystem>
#include <functional>
#include <utility>

#include <fmt/format.h>

#include "launcher/job/errors.h"
#include "launcher/job/pod.h"
#include "launcher/os/files.h"
#include "launcher/os/inherited.h"
#include "launcher/os/side_process.h"
#include "launcher/site/choose_cards.h"
#include "launcher/site/find_program.h"
#include "launcher/site/log_place.h"
#include "launcher/site/report_file.h"
#include "launcher/site/topology.h"
#include "launcher/steps/server_preparation.h"
#include "launcher/text/number.h"

namespace paddle_launch {
namespace {

// The first byte of what a child answers that found wrong use.
constexpr char kWrongUse = '\x02';

// Without dots and without a slash at the end.
std::string absolute_directory(const std::string& path) {
  const std::filesystem::path whole = std::filesystem::absolute(path).lexically_normal();
  return whole.has_filename() || whole == whole.root_path() ? whole : whole.parent_path();
}

PodOffer make_offer(const std::string& host, const ChosenCards& chosen,
                    std::vector<std::vector<Card>> cards, const PortLease& ports) {
  PodOffer offer{.name = {},
                 .host = host,
                 .card_kind = chosen.kind,
                 .trainers = {},
                 .master_port = ports.master};
  for (std::size_t i = 0; i < cards.size(); ++i) {
    offer.trainers.push_back({.cards = std::move(cards[i]), .port = ports.trainers.at(i)});
  }
  return offer;
}

std::vector<std::string> cpu_warning(const Machine& here, std::size_t processes,
                                     std::string_view word) {
  if (here.cpus.size() >= processes) return {};
  return {fmt::format(
      "{0} {1} share {2} CPU{3}: the launcher was given no more; ask for more CPUs "
      "(--cpus-per-task under Slurm, --bind-to none under mpirun, taskset) or start fewer {1}",
      processes, word, here.cpus.size(), here.cpus.size() == 1 ? "" : "s")};
}

std::string own_cards_warning(CardKind kind) {
  return fmt::format(
      "each launcher sees only {} of its own, so trainers of one node cannot reach each other's "
      "cards directly (peer-to-peer, NVLink); give all launchers of a node the same list: srun "
      "--gpus-per-node=N instead of --gpus-per-task, or one launcher a node",
      words_of(kind).option);
}

// Under --gpu-bind=none Slurm does not say which cards are ours, and on a shared node all of them
// are found.
std::vector<std::string> more_cards_than_given(const Environment& env, const ChosenCards& chosen) {
  const auto given = parse_whole_number(lookup(env, "SLURM_GPUS_ON_NODE").value_or(""));
  if (!given || static_cast<long long>(chosen.cards.size()) <= *given) return {};
  return {fmt::format(
      "Slurm gave this job {} cards of this node (SLURM_GPUS_ON_NODE) and {} are used: some may "
      "belong to another job; leave out --gpu-bind=none, or name yours with --gpus",
      *given, chosen.cards.size())};
}

void prepare_trainers(const JobSpec& job, const Environment& env, const Machine& here,
                      const std::string& host, const NodeShare& share, Preparation& ready) {
  const ChosenCards chosen =
      choose_cards(job, env, [&env](CardKind kind) { return find_cards_of(kind, env); });
  std::vector<std::vector<Card>> cards = deal_cards(chosen, job.nproc_per_node, share);
  const int trainers = static_cast<int>(cards.size());
  ready.warnings = cpu_warning(here, cards.size(), "trainers");
  for (std::string& text : more_cards_than_given(env, chosen)) {
    ready.warnings.push_back(std::move(text));
  }
  if (share.own_cards && share.launchers > 1 && chosen.kind) {
    ready.warnings.push_back(own_cards_warning(*chosen.kind));
  }
  std::optional<int> start = job.start_port;
  if (start) *start += first_of_share(share, trainers);
  if (job.bind == Binding::Numa) ready.cpus = cpus_for_trainers(cards, here.cpus);
  ready.ports = lease_ports({.count = trainers,
                             .start = start,
                             .start_source = job.start_port_source,
                             .range = job.port_range,
                             .given = job.given_ports,
                             .given_source = "DISTRIBUTED_TRAINER_ENDPOINTS",
                             .store = job.store_door && job.mode != Mode::Rpc},
                            ready.warnings);
  ready.offer = make_offer(host, chosen, std::move(cards), ready.ports);
}

// Throws what `work` throws. False: the disk has not answered in time.
bool done_aside(const std::function<void()>& work) {
  const auto problem = run_aside(kPatienceWithDisk, [&work] {
    try {
      work();
    } catch (const UsageError& error) {
      return kWrongUse + std::string(error.what());
    } catch (const std::exception& error) {
      return std::string(error.what());
    }
    return std::string();
  });
  if (!problem) return false;
  if (problem->empty()) return true;
  if (problem->front() == kWrongUse) throw UsageError(problem->substr(1));
  throw LaunchError(*problem);
}

void look_at_log_directory(const std::string& directory) {
  if (done_aside([&directory] { prepare_log_directory(directory); })) return;
  throw LaunchError(
      fmt::format("--log_dir={}: could not be looked at within {} s; name a directory whose disk "
                  "answers",
                  directory, kPatienceWithDisk.count()));
}

}  // namespace

Preparation prepare_files(const JobSpec& job, const Environment& env, bool is_awaited) {
  Preparation ready;
  ready.program = find_program(job.script, env, own_directory().string());
  if (job.console != ConsoleMode::Direct) {
    const bool is_named = job.log_dir == kNamedLogs;
    ready.log_dir = absolute_directory(is_named ? std::string(kParentOfNamedLogs) : job.log_dir);
  }
  if (job.report) check_report_file(*job.report);
  raise_open_files();
  if (is_awaited && job.dry_run == DryRun::No && !job.check && !ready.log_dir.empty()) {
    look_at_log_directory(ready.log_dir);
  }
  return ready;
}

void look_for_program_again(const JobSpec& job, const Environment& env) {
  done_aside([&] { find_program(job.script, env, own_directory().string()); });
}

void prepare(const JobSpec& job, const Environment& env, const Machine& here,
             const std::string& host, const NodeShare& share, bool is_first, Preparation& ready) {
  ready.warnings.clear();
  if (job.servers) {
    prepare_roles(job, env, host, share, is_first, ready);
    for (std::string& text : cpu_warning(here, ready.offer.roles.size(), "processes")) {
      ready.warnings.push_back(std::move(text));
    }
  } else {
    prepare_trainers(job, env, here, host, share, ready);
  }
  ready.offer.name = random_pod_name();
}

}  // namespace paddle_launch
