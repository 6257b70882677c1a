// SPDX-License-Identifier: Apache-2.0
// The process environment as a value, which main.cc alone reads; and who started this launcher, as
// far as the environment tells: a person, or a scheduler that started several launchers together.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace paddle_launch {

using Environment = std::map<std::string, std::string, std::less<>>;

inline std::optional<std::string> lookup(const Environment& env, std::string_view name) {
  const auto found = env.find(name);
  if (found == env.end()) return std::nullopt;
  return found->second;
}

// Their binary interfaces differ.
enum class MpiFamily { OpenMpi, Mpich };

// This task's place in a step of Slurm (srun).
struct SlurmStep {
  std::string job_id{};
  std::string step_id{};
  int node = 0;                            // SLURM_NODEID
  int local = 0;                           // SLURM_LOCALID
  std::vector<std::string> nodes{};        // in the step's order
  std::vector<int> tasks_per_node{};       // of each of them
  std::optional<std::string> node_name{};  // SLURMD_NODENAME

  bool operator==(const SlurmStep&) const = default;
};

struct Surroundings {
  std::string launched_by{};       // "" (a person, a batch shell), "mpirun", "mpiexec" or "srun"
  int tasks = 1;                   // launchers started together; 0: not known, possibly several
  std::optional<int> task{};       // this launcher's number among them, where it is known
  bool has_pmix = false;           // there is a PMIx server to talk to
  std::optional<MpiFamily> mpi{};  // whose MPI would understand who started us
  std::optional<SlurmStep> step{};
  bool cards_per_task = false;  // each task was given cards of its own (srun --gpus-per-task)

  bool may_be_several() const { return tasks != 1; }
  bool operator==(const Surroundings&) const = default;
};

}  // namespace paddle_launch
