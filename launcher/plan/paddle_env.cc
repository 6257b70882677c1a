// SPDX-License-Identifier: Apache-2.0
// docs/compatibility.md tells where they differ from what the launcher of Paddle sets.
#include "launcher/plan/paddle_env.h"

#include <algorithm>
#include <iterator>
#include <set>

#include "launcher/plan/nccl_env.h"
#include "launcher/text/ipv4.h"

namespace paddle_launch {

// Recorded from Open MPI 4.1, MPICH 4.0 and Slurm 22.05; the rest from the
// sources of their later versions.

namespace {

constexpr std::string_view kMcaPrefix = "OMPI_MCA_";

// SLURM_NODELIST (SLURM_JOB_NODELIST stays): with it, but without PMIx, Open MPI 4.1 takes a
// process for one that srun started without PMI, and aborts. SLURM_STEP_NUM_TASKS: a launcher that
// a trainer starts would wait for the other tasks of the step.
constexpr std::string_view kNames[] = {"MPI_LOCALRANKID", "MPI_LOCALNRANKS", "SLURM_MPI_TYPE",
                                       "SLURM_NODELIST", "SLURM_STEP_NUM_TASKS"};
constexpr std::string_view kPrefixes[] = {"PMIX_",  "PMI_",  "PRTE_",      "ORTE_",
                                          "HYDRA_", "HYDI_", "SLURM_PMIX", "OMPI_"};

// Made by mpirun itself, among the OMPI_MCA_* of the user.
constexpr std::string_view kMcaNames[] = {"shmem_RUNTIME_QUERY_hint",
                                          "mpi_oversubscribe",
                                          "initial_wdir",
                                          "num_procs",
                                          "cpu_type",
                                          "routed",
                                          "hwloc_base_binding_policy"};
constexpr std::string_view kMcaPrefixes[] = {"orte_", "ess", "pmix", "rmaps_"};

template <typename List>
bool is_in(const List& names, std::string_view name) {
  return std::find(std::begin(names), std::end(names), name) != std::end(names);
}

template <typename List>
bool begins_with_one_of(const List& prefixes, std::string_view name) {
  return std::any_of(std::begin(prefixes), std::end(prefixes),
                     [name](std::string_view prefix) { return name.starts_with(prefix); });
}

}  // namespace

bool is_the_schedulers(std::string_view name) {
  if (name.starts_with("OMPI_ALLOW_RUN_AS_ROOT")) return false;
  if (name.starts_with(kMcaPrefix)) {
    const std::string_view parameter = name.substr(kMcaPrefix.size());
    return is_in(kMcaNames, parameter) || begins_with_one_of(kMcaPrefixes, parameter);
  }
  return is_in(kNames, name) || begins_with_one_of(kPrefixes, name);
}

namespace {

constexpr const char* kBackupVariable = "PADDLE_BACKUP_ENV_PATH";

std::string card_indices(const Trainer& trainer, char separator) {
  std::string text;
  for (const Card& card : trainer.cards) {
    if (!text.empty()) text += separator;
    text += card.index;
  }
  return text;
}

std::string all_endpoints(const WorldPlan& world) {
  std::string text;
  for (const Trainer& trainer : world.trainers) {
    if (!text.empty()) text += ',';
    text += trainer.endpoint;
  }
  return text;
}

// Ranks separated by commas, the cards of one rank by colons: "0,1" or "0:1,2:3"; two CPU ranks:
// ",".
std::string world_device_ids(const WorldPlan& world) {
  std::string text;
  for (const Trainer& trainer : world.trainers) {
    if (trainer.rank > 0) text += ',';
    text += card_indices(trainer, ':');
  }
  return text;
}

std::string resolved_backend(const WorldPlan& world, const std::string& wish) {
  if (wish != "auto") return wish;
  if (!world.card_kind) return "gloo";
  const CardWords& words = words_of(*world.card_kind);
  return std::string(words.custom.empty() ? words.backend : "xccl");
}

// Set by an outer launcher for its trainers, and wrong or dangerous for ours.
bool belongs_to_an_outer_job(const std::string& name) {
  return name == kBackupVariable || name == kNcclIdVariable || name == kNcclVersionVariable ||
         name.starts_with("FLAGS_selected_");
}

}  // namespace

void add_lists(std::vector<EnvVar> lists, const PaddleEnvSettings& settings, int number,
               const std::string& pod_name, PaddleEnv& env) {
  const bool too_long = std::any_of(lists.begin(), lists.end(), [](const EnvVar& list) {
    return list.second.size() >= kLongestValue;
  });
  if (too_long) {
    env.backup = std::move(lists);
    env.backup_path =
        settings.log_dir.empty()
            ? settings.temporary_dir + "/paddle-launch-backup_env-" + pod_name + ".json"
            : settings.log_dir + "/backup_env." + std::to_string(number) + ".json";
    env.common.emplace_back(kBackupVariable, env.backup_path);
  } else {
    env.common.insert(env.common.end(), lists.begin(), lists.end());
  }
}

void add_log_dir(const PaddleEnvSettings& settings, PaddleEnv& env) {
  if (!settings.log_dir.empty()) env.common.emplace_back("PADDLE_LOG_DIR", settings.log_dir);
}

void add_round(const RoundState& round, PaddleEnv& env) {
  env.common.emplace_back("PADDLE_RESTART_COUNT", std::to_string(round.restarts));
  env.common.emplace_back("PADDLE_LAUNCH_ROUND", std::to_string(round.number));
}

std::string gloo_folder(const PaddleEnvSettings& settings, const std::string& pod_name) {
  return settings.temporary_dir + "/paddle-launch-gloo-" + pod_name;
}

std::string hosts_of(const WorldPlan& world) {
  std::string hosts;
  for (const Trainer& trainer : world.trainers) {
    if (trainer.local_rank != 0) continue;
    if (!hosts.empty()) hosts += ',';
    hosts += host_of(trainer.endpoint);
  }
  return hosts;
}

namespace {

// What a platform said when the job began, and scripts read: its nodes are others now.
void add_nodes_of_round(const WorldPlan& world, const Environment& user, std::vector<EnvVar>& env) {
  for (const auto& [name, value] :
       {EnvVar("PADDLE_TRAINERS", hosts_of(world)),
        EnvVar("DISTRIBUTED_TRAINER_ENDPOINTS", all_endpoints(world))}) {
    if (user.count(name) != 0) env.emplace_back(name, value.size() < kLongestValue ? value : "");
  }
}

}  // namespace

PaddleEnv common_env(const WorldPlan& world, const PaddleEnvSettings& settings,
                     const Environment& user) {
  const std::string size = std::to_string(world.trainers.size());
  const std::string backend = resolved_backend(world, settings.backend);
  PaddleEnv env;
  env.common = {
      {"PADDLE_TRAINERS_NUM", size},
      {"PADDLE_GLOBAL_SIZE", size},
      {"PADDLE_LOCAL_SIZE", std::to_string(world.local_size)},
      {"PADDLE_NNODES", std::to_string(world.nodes)},
      {"PADDLE_DISTRI_BACKEND", backend},
      {"PADDLE_WITH_GLOO", lookup(user, "PADDLE_WITH_GLOO").value_or("0")},
      {"PADDLE_GLOO_RENDEZVOUS", "3"},
      {"PADDLE_GLOO_FS_PATH", gloo_folder(settings, world.pod_name)},
      {"PADDLE_AUTO_CLUSTER", "0"},
      {"POD_NAME", world.pod_name},
      {kJobVariable, settings.job_id},
  };
  if (backend == "xccl" && world.card_kind && !words_of(*world.card_kind).custom.empty()) {
    env.common.emplace_back(kCustomVariable, words_of(*world.card_kind).custom);
  }
  add_log_dir(settings, env);
  add_round(settings.round, env);
  if (settings.elastic) add_nodes_of_round(world, user, env.common);
  env.common.insert(env.common.end(), settings.more.begin(), settings.more.end());
  // --gpus names cards as nvidia-smi numbers them; CUDA's own default order is "fastest first".
  // Whoever set either variable has numbered the cards already.
  const bool numbered_by_us =
      world.card_kind == CardKind::Gpu && user.count("CUDA_VISIBLE_DEVICES") == 0;
  if (numbered_by_us && user.count("CUDA_DEVICE_ORDER") == 0) {
    env.common.emplace_back("CUDA_DEVICE_ORDER", "PCI_BUS_ID");
  }
  add_lists({{"PADDLE_TRAINER_ENDPOINTS", all_endpoints(world)},
             {"PADDLE_WORLD_DEVICE_IDS", world_device_ids(world)}},
            settings, world.first_mine, world.pod_name, env);
  return env;
}

std::vector<EnvVar> trainer_env(const WorldPlan& world, const Trainer& trainer, bool rpc) {
  const std::string rank = std::to_string(trainer.rank);
  const std::string local_rank = std::to_string(trainer.local_rank);
  const std::string cards = card_indices(trainer, ',');
  const bool is_inside = trainer.rank == 0 && !world.store.empty();
  std::vector<EnvVar> env = {
      {"PADDLE_TRAINER_ID", rank},
      {"PADDLE_GLOBAL_RANK", rank},
      {"PADDLE_RANK_IN_NODE", local_rank},
      {"PADDLE_LOCAL_RANK", local_rank},
      {"PADDLE_CURRENT_ENDPOINT", trainer.endpoint},
      {"PADDLE_LOCAL_DEVICE_IDS", cards},
      // The readers of rpc open a store of their own there, and know it by this name.
      {rpc ? "PADDLE_MASTER_ENDPOINT" : "PADDLE_MASTER", is_inside ? world.store : world.master},
  };
  if (rpc) env.emplace_back("PADDLE_WORKER_ENDPOINT", trainer.endpoint);
  if (!world.card_kind) return env;
  env.emplace_back(words_of(*world.card_kind).selected_flag, cards);
  env.emplace_back("FLAGS_selected_accelerators", cards);
  return env;
}

void add_threads(const PodMeans& means, std::size_t process, std::vector<EnvVar>& env) {
  if (process >= means.omp_threads.size()) return;
  env.emplace_back(kThreadsVariable, std::to_string(means.omp_threads[process]));
}

std::vector<EnvVar> inherited_env(const Environment& user, const std::vector<EnvVar>& common,
                                  const std::vector<EnvVar>& own, bool under_scheduler) {
  std::set<std::string_view> replaced;
  for (const EnvVar& variable : common) replaced.insert(variable.first);
  for (const EnvVar& variable : own) replaced.insert(variable.first);
  std::vector<EnvVar> result;
  for (const auto& [name, value] : user) {
    if (replaced.count(name) != 0 || belongs_to_an_outer_job(name)) continue;
    if (under_scheduler && is_the_schedulers(name)) continue;
    result.emplace_back(name, value);
  }
  return result;
}

}  // namespace paddle_launch
