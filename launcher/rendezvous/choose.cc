// SPDX-License-Identifier: Apache-2.0
#include "launcher/rendezvous/choose.h"

#include <chrono>
#include <utility>

#include <fmt/format.h>

#include "launcher/job/errors.h"
#include "launcher/os/event_loop.h"
#include "launcher/rendezvous/elastic.h"
#include "launcher/rendezvous/slurm_step.h"
#include "launcher/rendezvous/solo.h"
#include "launcher/rendezvous/tasks.h"
#include "launcher/rendezvous/tcp.h"

namespace paddle_launch {
namespace {

// What needs no library of MPI comes first, if there is such a thing.
std::vector<std::string> plugins_for(const Surroundings& around) {
  std::vector<std::string> plugins;
  if (around.has_pmix) {
    plugins.emplace_back("pmix");
  } else if (around.mpi == MpiFamily::Mpich) {
    plugins.emplace_back("pmi");
  }
  if (around.mpi) plugins.emplace_back("mpi");
  return plugins;
}

// Somebody asked for this one, so nothing takes its place.
Choice exactly(std::string plugin) { return {.way = Way::Tasks, .plugins = {std::move(plugin)}}; }

Choice over_tcp(const JobSpec& job, const Surroundings& around) {
  if (job.has_several_nodes()) return {.way = Way::Tcp};
  if (around.step && around.may_be_several()) return {.way = Way::SlurmStep};
  throw UsageError(
      "--bootstrap=tcp: nothing says where the nodes meet; give --ips=ADDRESS,ADDRESS,… or "
      "--master=HOST:PORT --nnodes=N, or start the launchers with srun, or leave out --bootstrap");
}

Choice with_pmix(const Surroundings& around) {
  if (around.has_pmix) return exactly("pmix");
  throw UsageError(
      "--bootstrap=pmix: there is no PMIx server (PMIX_NAMESPACE and PMIX_RANK are not both set); "
      "start the launchers with mpirun or with srun --mpi=pmix, or leave out --bootstrap");
}

Choice with_mpi(const Surroundings& around) {
  if (around.mpi) {
    return {.way = Way::Tasks, .plugins = plugins_for(around), .must_use_mpi = true};
  }
  throw UsageError(
      "--bootstrap=mpi: nothing says that an MPI launcher started this one (no "
      "OMPI_COMM_WORLD_SIZE, no PMI_SIZE, no PMIx of Slurm); start the launchers with mpirun, "
      "mpiexec or srun --mpi=pmix, or leave out --bootstrap");
}

Choice by_surroundings(const JobSpec& job, const Surroundings& around) {
  if (!around.may_be_several()) return {.way = job.has_several_nodes() ? Way::Tcp : Way::Solo};
  if (auto plugins = plugins_for(around); !plugins.empty()) {
    return {.way = Way::Tasks,
            .plugins = std::move(plugins),
            .else_slurm_step = around.step.has_value()};
  }
  if (around.step) return {.way = Way::SlurmStep};
  throw UsageError(fmt::format(
      "{} started {} launchers together, and they cannot be joined: there is neither PMIx nor MPI, "
      "and the step does not tell its nodes. Start them with srun --mpi=pmix or with mpirun, or "
      "name the nodes with --bootstrap=tcp --ips=ADDRESS,ADDRESS,… and start one on each.",
      around.launched_by, around.tasks == 0 ? "perhaps several" : std::to_string(around.tasks)));
}

Choice by_option(const JobSpec& job, const Surroundings& around) {
  if (job.bootstrap == "auto") return by_surroundings(job, around);
  if (job.bootstrap == "solo") return {};
  if (job.bootstrap == "tcp") return over_tcp(job, around);
  if (job.bootstrap == "pmix") return with_pmix(around);
  if (job.bootstrap == "mpi") return with_mpi(around);
  return exactly(job.bootstrap);
}

// What names every process of the job leaves nothing for a scheduler to give out: its launchers
// know their addresses only when they have met.
void refuse_scheduled(const ServerSpec& spec, const Surroundings& around) {
  const std::string who = around.launched_by.empty() ? "somebody" : around.launched_by;
  if (spec.as_it_is && around.may_be_several()) {
    throw UsageError(fmt::format(
        "{} started several launchers together, and this job is one process; start the launcher by "
        "itself, or one task alone",
        who));
  }
  if (spec.as_it_is || (spec.servers.empty() && spec.workers.empty())) return;
  throw UsageError(fmt::format(
      "{} started the launchers together, and the lists of servers and workers name nodes of their "
      "own: give --server_num and --worker_num, which count for each node, or start one launcher "
      "on each node of the lists and add --bootstrap=tcp",
      who));
}

}  // namespace

Choice choose_way(const JobSpec& job, const Surroundings& around) {
  if (job.elastic) return {.way = Way::Elastic};
  Choice choice = by_option(job, around);
  if (job.servers && choice.way == Way::Solo && job.has_several_nodes()) {
    throw UsageError(fmt::format(
        "--bootstrap=solo: {} name several nodes, and a launcher by itself has one; leave out "
        "--bootstrap",
        job.master ? "--master and --nnodes" : job.ips_source));
  }
  const bool is_scheduled = choice.way == Way::Tasks || choice.way == Way::SlurmStep;
  if (job.servers && is_scheduled) refuse_scheduled(*job.servers, around);
  return choice;
}

namespace {

// What hinders us hinders the first task as well, as a rule: it says so, ends, and whoever started
// us ends us with it. Only where it does not, the trouble is this node's own.
constexpr std::chrono::seconds kForTheFirstTask{3};

[[noreturn]] void refuse_plugins(const Launch& launch, const std::string& reasons) {
  const Surroundings& around = launch.around;
  const std::string text = fmt::format(
      "{} started {} launchers together, and on {} none of the plugins that join them can be "
      "used:\n{}\n"
      "Install paddle-launch with its plugins and the MPI or PMIx library on every node, say with "
      "PADDLE_LAUNCH_PLUGIN_DIR where the plugins are, or name the nodes with --bootstrap=tcp and "
      "--ips.",
      around.launched_by.empty() ? "somebody" : around.launched_by,
      around.tasks == 0 ? "perhaps several" : std::to_string(around.tasks), launch.here.host_name,
      reasons);
  if (around.task.value_or(0) != 0) run_until(launch.loop, kForTheFirstTask, [] { return false; });
  throw LaunchError(text);
}

std::unique_ptr<Rendezvous> join_tasks(const Launch& launch, const Choice& choice,
                                       Narrator& narrator) {
  auto tasks = std::make_unique<Tasks>(launch, choice, narrator);
  if (tasks->open()) return tasks;
  if (!choice.else_slurm_step) refuse_plugins(launch, tasks->reasons());
  return std::make_unique<SlurmStepRendezvous>(launch, narrator);
}

}  // namespace

std::unique_ptr<Rendezvous> choose_rendezvous(const Launch& launch, Narrator& narrator) {
  const Choice choice = choose_way(launch.job, launch.around);
  switch (choice.way) {
    case Way::Tcp:
      return std::make_unique<Tcp>(launch, narrator);
    case Way::Tasks:
      return join_tasks(launch, choice, narrator);
    case Way::SlurmStep:
      return std::make_unique<SlurmStepRendezvous>(launch, narrator);
    case Way::Elastic:
      return std::make_unique<Elastic>(launch, narrator);
    case Way::Solo:
      break;
  }
  return std::make_unique<Solo>();
}

}  // namespace paddle_launch
