// SPDX-License-Identifier: Apache-2.0
#include "launcher/launch.h"

#include <sys/resource.h>
#include <unistd.h>

#include <cstdio>
#include <filesystem>
#include <random>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "launcher/job/errors.h"
#include "launcher/plan/collective.h"
#include "launcher/plan/world.h"
#include "launcher/rendezvous/solo.h"
#include "launcher/round.h"
#include "launcher/run/terminal.h"
#include "launcher/site/choose_cards.h"
#include "launcher/site/machine.h"
#include "launcher/site/ports.h"
#include "launcher/site/program.h"
#include "launcher/site/surroundings.h"
#include "launcher/site/topology.h"
#include "launcher/tell/dry_run.h"

namespace paddle_launch {
namespace {

// Eight launchers under `mpirun -np 8` must never start eight worlds of one.
void refuse_several_tasks(const Surroundings& around) {
  if (around.tasks == 1) return;
  throw UsageError(fmt::format(
      "{} started {} launchers together, and joining them into one job is not built yet in this "
      "version; start one "
      "launcher, for example `{}`",
      around.launched_by, around.tasks == 0 ? "perhaps several" : std::to_string(around.tasks),
      around.launched_by == "srun" ? "srun --ntasks=1 paddle-launch …" : "paddle-launch …"));
}

// The name of this node in its endpoints, and who gave it, for messages.
std::pair<std::string, std::string> wished_host(const JobSpec& job) {
  const std::string& entry = job.ips.front();
  if (!job.host) return {entry, "--ips"};
  if (!job.ips_given) return {*job.host, job.host_source};
  // An option beats a variable; two options must agree.
  if (job.host_source == "--host" && *job.host != entry) {
    throw UsageError(
        fmt::format("--host {} is not in --ips {}; name the same node in both, or leave one out",
                    *job.host, entry));
  }
  return {entry, "--ips"};
}

std::string own_host(const JobSpec& job, const Machine& here) {
  const auto [host, source] = wished_host(job);
  if (is_mine(here, host)) return host;
  throw UsageError(
      fmt::format("{} {} is not an address of this machine ({}), which has {}; name one of them",
                  source, host, here.host_name, fmt::join(here.addresses, ", ")));
}

// Six lower-case letters, as Paddle's pods have.
std::string random_pod_name() {
  std::random_device entropy;
  std::uniform_int_distribution<int> letter('a', 'z');
  std::string name(6, ' ');
  for (char& c : name) c = static_cast<char>(letter(entropy));
  return name;
}

// Without dots and without a slash at the end.
std::string absolute_directory(const std::string& path) {
  const std::filesystem::path whole = std::filesystem::absolute(path).lexically_normal();
  return whole.has_filename() || whole == whole.root_path() ? whole : whole.parent_path();
}

PodOffer make_offer(const std::string& host, const ChosenCards& chosen,
                    std::vector<std::vector<Card>> cards, const PortLease& ports) {
  PodOffer offer{.name = random_pod_name(),
                 .host = host,
                 .card_kind = chosen.kind,
                 .trainers = {},
                 .master_port = ports.master};
  for (std::size_t i = 0; i < cards.size(); ++i) {
    offer.trainers.push_back({.cards = std::move(cards[i]), .port = ports.trainers.at(i)});
  }
  return offer;
}

// Port locks, logs and sockets of large pods need more descriptors than the usual soft limit
// allows. Returns what trainers are to get back; all zero when nothing was changed.
rlimit raise_open_files() {
  rlimit given{};
  if (getrlimit(RLIMIT_NOFILE, &given) != 0 || given.rlim_cur == given.rlim_max) return {};
  rlimit raised = given;
  raised.rlim_cur = given.rlim_max;
  setrlimit(RLIMIT_NOFILE, &raised);
  return given;
}

std::vector<std::string> cpu_warning(const Machine& here, std::size_t trainers) {
  if (here.cpus.size() >= trainers) return {};
  return {
      fmt::format("{} trainers share {} CPU{}: the launcher was given no more; ask for more CPUs "
                  "(--cpus-per-task under Slurm, taskset) or start fewer trainers",
                  trainers, here.cpus.size(), here.cpus.size() == 1 ? "" : "s")};
}

}  // namespace

int launch(const ParsedCommandLine& command, const Environment& env) {
  const JobSpec& job = command.job;
  refuse_several_tasks(surroundings(env));
  const Machine here = look_around();
  const Program program = find_program(job.script, env);
  const std::string host = own_host(job, here);
  const ChosenCards chosen =
      choose_cards(job, env, [&env](CardKind kind) { return find_cards_of(kind, env); });
  std::vector<std::vector<Card>> cards = deal_cards(chosen, job.nproc_per_node);
  std::vector<std::string> warnings = cpu_warning(here, cards.size());
  const std::vector<std::vector<int>> cpus = job.bind == Binding::Numa
                                                 ? cpus_for_trainers(cards, here.cpus)
                                                 : std::vector<std::vector<int>>{};
  const rlimit open_files_given = raise_open_files();
  const PortLease ports = lease_ports({.count = static_cast<int>(cards.size()),
                                       .start = job.start_port,
                                       .start_source = job.start_port_source,
                                       .range = job.port_range},
                                      warnings);

  Solo rendezvous;
  const Roster roster = rendezvous.meet(make_offer(host, chosen, std::move(cards), ports));
  const WorldPlan world = plan_world(roster);
  const bool give_stdin =
      job.stdin_to_rank_zero || (world.trainers.size() == 1 && isatty(STDIN_FILENO) == 1);
  CollectivePlan plan = plan_collective(world,
                                        {.backend = job.backend,
                                         .log_dir = absolute_directory(job.log_dir),
                                         .job_id = job.job_id,
                                         .temporary_dir = lookup(env, "TMPDIR").value_or("/tmp")},
                                        program, env, cpus, give_stdin);
  plan.processes.host = host;

  if (job.dry_run != DryRun::No) {
    const std::string text =
        job.dry_run == DryRun::Json ? dry_run_json(plan.processes) : dry_run_text(plan.processes);
    std::fputs(text.c_str(), stdout);
    return std::fflush(stdout) == 0 ? 0 : 1;
  }
  warnings.insert(warnings.begin(), command.warnings.begin(), command.warnings.end());
  return run_round(job, env, here, world, plan, {.notices = command.notices, .warnings = warnings},
                   open_files_given);
}

}  // namespace paddle_launch
