// SPDX-License-Identifier: Apache-2.0
// See scheduler_env.h. Recorded from Open MPI 4.1, MPICH 4.0 and Slurm 22.05; the rest from the
// sources of their later versions.
#include "launcher/plan/scheduler_env.h"

#include <algorithm>
#include <iterator>

namespace paddle_launch {
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

}  // namespace paddle_launch
