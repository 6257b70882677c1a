// SPDX-License-Identifier: Apache-2.0
// docs/running-under-mpi.md and docs/running-under-slurm.md say what schedulers set.
#include "launcher/site/start_environment.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <initializer_list>
#include <limits>
#include <numeric>
#include <string>
#include <string_view>

#include "launcher/text/node_list.h"
#include "launcher/text/number.h"

namespace paddle_launch {
namespace {

constexpr std::array<std::string_view, 2> kSecrets = {"PADDLE_LAUNCH_TOKEN",
                                                      "PADDLE_ETCD_PASSWORD"};
// NAME or NAME:PASSWORD; the name stays.
constexpr std::string_view kUserVariable = "PADDLE_ETCD_USER";
constexpr std::string_view kUserOption = "etcd_user";
constexpr char kHidden = '*';

std::size_t after_colon(std::string_view text, std::size_t from) {
  const std::size_t colon = text.find(':', from);
  return colon == std::string_view::npos ? text.size() : colon + 1;
}

// Where the secret of "NAME=VALUE" begins; at the end: there is none.
std::size_t secret_begins(std::string_view entry) {
  const std::size_t equals = entry.find('=');
  if (equals == std::string_view::npos) return entry.size();
  const std::string_view name = entry.substr(0, equals);
  if (name == kUserVariable) return after_colon(entry, equals);
  const bool is_secret = std::find(kSecrets.begin(), kSecrets.end(), name) != kSecrets.end();
  return is_secret ? equals + 1 : entry.size();
}

}  // namespace

void hold_standard_descriptors() {
  for (int fd = open("/dev/null", O_RDWR); fd >= 0; fd = open("/dev/null", O_RDWR)) {
    if (fd <= STDERR_FILENO) continue;
    close(fd);
    return;
  }
}

Environment read_environment(char** entries) {
  Environment env;
  for (char** entry = entries; entry != nullptr && *entry != nullptr; ++entry) {
    const std::string text(*entry);
    const std::size_t equals = text.find('=');
    if (equals != std::string::npos && equals > 0)
      env.emplace(text.substr(0, equals), text.substr(equals + 1));
  }
  return env;
}

void wipe_secrets(char** entries) {
  for (char** entry = entries; entry != nullptr && *entry != nullptr; ++entry) {
    const std::string_view text(*entry);
    const std::size_t begin = secret_begins(text);
    explicit_bzero(*entry + begin, text.size() - begin);
  }
}

void drop_secrets(Environment& env) {
  for (const std::string_view name : kSecrets) env.erase(std::string(name));
  const auto user = env.find(std::string(kUserVariable));
  if (user != env.end()) user->second = user->second.substr(0, user->second.find(':'));
}

// Words of the script that look alike lose nothing by it: the launcher has its own copy of all.
void hide_typed_password(char** words) {
  bool is_value = false;  // of the word before
  for (char** word = words; word != nullptr && *word != nullptr; ++word) {
    std::string_view text(*word);
    const std::size_t name = text.find_first_not_of('-');
    const bool is_option = name == 1 || name == 2;
    const std::size_t equals = std::min(text.find('='), text.size());
    std::string option(is_option ? text.substr(name, equals - name) : "");
    std::replace(option.begin(), option.end(), '-', '_');
    const bool is_user = option == kUserOption;
    if (is_value || (is_user && equals < text.size())) {
      const std::size_t begin = after_colon(text, is_value ? 0 : equals);
      std::fill(*word + begin, *word + text.size(), kHidden);
    }
    is_value = is_user && equals == text.size();
  }
}

// Order matters: inside a Slurm allocation mpirun and mpiexec show their ranks the SLURM_* values
// of their daemons' step, so PMIx, then OMPI_*, then PMI_*, then SLURM_*. Hydra shows even the PMIx
// of that step, which is its daemon's and not the rank's: so what only Hydra sets comes before
// PMIx.
namespace {

using Names = std::initializer_list<std::string_view>;

std::optional<std::string> first_of(const Environment& env, Names names) {
  for (const std::string_view name : names) {
    if (auto value = lookup(env, name); value && !value->empty()) return value;
  }
  return std::nullopt;
}

std::optional<int> number(const Environment& env, Names names) {
  const auto text = first_of(env, names);
  const auto value = text ? parse_whole_number(*text) : std::nullopt;
  if (!value || *value < 0 || *value > std::numeric_limits<int>::max()) return std::nullopt;
  return static_cast<int>(*value);
}

// 0: not known.
int count(const Environment& env, Names names) { return number(env, names).value_or(0); }

// A batch shell has SLURM_PROCID=0 as well; only a step knows its own number of tasks.
bool is_in_step(const Environment& env) {
  return env.contains("SLURM_STEP_NUM_TASKS") && env.contains("SLURM_PROCID") &&
         first_of(env, {"SLURM_STEP_ID", "SLURM_STEPID"}).has_value();
}

// None: srun does not tell enough, or contradicts itself, as in a step of several components.
std::optional<SlurmStep> step_of(const Environment& env, int tasks) {
  const auto nodes = expand_node_list(first_of(env, {"SLURM_STEP_NODELIST"}).value_or(""));
  const auto each = expand_task_counts(first_of(env, {"SLURM_STEP_TASKS_PER_NODE"}).value_or(""));
  const auto node = number(env, {"SLURM_NODEID"});
  const auto local = number(env, {"SLURM_LOCALID"});
  if (!nodes || !each || !node || !local || nodes->size() != each->size()) return std::nullopt;
  if (std::accumulate(each->begin(), each->end(), 0LL) != tasks) return std::nullopt;
  const auto place = static_cast<std::size_t>(*node);
  if (place >= nodes->size() || *local >= (*each)[place]) return std::nullopt;
  return SlurmStep{.job_id = first_of(env, {"SLURM_JOB_ID", "SLURM_JOBID"}).value_or(""),
                   .step_id = first_of(env, {"SLURM_STEP_ID", "SLURM_STEPID"}).value_or(""),
                   .node = *node,
                   .local = *local,
                   .nodes = *nodes,
                   .tasks_per_node = *each,
                   .node_name = first_of(env, {"SLURMD_NODENAME"})};
}

// What the step did counts more than what srun was asked for: with --gpu-bind=none every task sees
// all cards.
bool gives_cards_to_each_task(const Environment& env) {
  if (const auto bound = first_of(env, {"SLURMD_TRES_BIND", "SLURM_TRES_BIND"})) {
    if (bound->find("gpu:none") != std::string::npos) return false;
    if (bound->find("gpu:per_task") != std::string::npos) return true;
  }
  if (first_of(env, {"SLURM_GPUS_PER_TASK"})) return true;
  const std::string each = first_of(env, {"SLURM_TRES_PER_TASK"}).value_or("");
  return each.find("gres/gpu") != std::string::npos || each.find("gres:gpu") != std::string::npos;
}

Surroundings started_by_srun(const Environment& env) {
  Surroundings around{.launched_by = "srun"};
  around.tasks = count(env, {"SLURM_STEP_NUM_TASKS", "SLURM_NTASKS"});
  around.task = number(env, {"SLURM_PROCID"});
  around.step = step_of(env, around.tasks);
  around.cards_per_task = gives_cards_to_each_task(env);
  return around;
}

Surroundings started_with_pmix(const Environment& env, std::string_view space) {
  Surroundings around{.launched_by = "mpirun"};
  if (space.starts_with("slurm.pmix.")) {
    around = started_by_srun(env);
    around.mpi = MpiFamily::OpenMpi;
  } else if (env.contains("OMPI_COMM_WORLD_SIZE")) {
    around.tasks = count(env, {"OMPI_COMM_WORLD_SIZE"});
    around.mpi = MpiFamily::OpenMpi;
  } else {
    around.tasks = count(env, {"PMI_SIZE"});
  }
  around.task = number(env, {"PMIX_RANK"});
  around.has_pmix = true;
  return around;
}

// srun --mpi=pmi2 sets PMI_* as well, with the step's own numbers, but no MPI_LOCALRANKID.
bool is_hydra_for_sure(const Environment& env) {
  return env.contains("PMI_SIZE") && env.contains("MPI_LOCALRANKID") &&
         !env.contains("OMPI_COMM_WORLD_SIZE");
}

bool is_pmi_of_step(const Environment& env) {
  return is_in_step(env) && number(env, {"PMI_SIZE"}) == number(env, {"SLURM_STEP_NUM_TASKS"}) &&
         number(env, {"PMI_RANK"}) == number(env, {"SLURM_PROCID"});
}

Surroundings started_by_hydra(const Environment& env) {
  return {.launched_by = "mpiexec",
          .tasks = count(env, {"PMI_SIZE"}),
          .task = number(env, {"PMI_RANK"}),
          .mpi = MpiFamily::Mpich};
}

}  // namespace

Surroundings surroundings(const Environment& env) {
  if (is_hydra_for_sure(env)) return started_by_hydra(env);
  const auto space = lookup(env, "PMIX_NAMESPACE");
  if (space && env.contains("PMIX_RANK")) return started_with_pmix(env, *space);
  if (env.contains("OMPI_COMM_WORLD_SIZE")) {
    return {.launched_by = "mpirun",
            .tasks = count(env, {"OMPI_COMM_WORLD_SIZE"}),
            .task = number(env, {"OMPI_COMM_WORLD_RANK"}),
            .mpi = MpiFamily::OpenMpi};
  }
  if (env.contains("PMI_SIZE") && !is_pmi_of_step(env)) return started_by_hydra(env);
  if (is_in_step(env)) return started_by_srun(env);
  return {};
}

}  // namespace paddle_launch
