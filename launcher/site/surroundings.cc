// SPDX-License-Identifier: Apache-2.0
// Whether somebody else started several launchers at once. Order matters: inside a Slurm allocation
// mpirun shows its ranks the SLURM_* values of its daemons' step, so PMIx, then OMPI_*, then
// SLURM_*.
#include "launcher/site/surroundings.h"

#include <charconv>
#include <initializer_list>
#include <optional>
#include <string_view>
#include <system_error>

namespace paddle_launch {
namespace {

std::optional<int> positive_number(const Environment& env, std::string_view name) {
  const auto text = lookup(env, name);
  if (!text) return std::nullopt;
  int number = 0;
  const char* const end = text->data() + text->size();
  const auto [stopped, error] = std::from_chars(text->data(), end, number);
  if (error != std::errc{} || stopped != end || number < 1) return std::nullopt;
  return number;
}

int first_number(const Environment& env, std::initializer_list<std::string_view> names) {
  for (const auto name : names) {
    if (const auto number = positive_number(env, name)) return *number;
  }
  return 0;
}

}  // namespace

Surroundings surroundings(const Environment& env) {
  const auto space = lookup(env, "PMIX_NAMESPACE");
  if (space && env.contains("PMIX_RANK")) {
    if (space->starts_with("slurm.pmix.")) {
      return {"srun", first_number(env, {"SLURM_STEP_NUM_TASKS", "SLURM_NTASKS"})};
    }
    return {"mpirun", first_number(env, {"OMPI_COMM_WORLD_SIZE", "PMI_SIZE"})};
  }
  if (env.contains("OMPI_COMM_WORLD_SIZE") || env.contains("PMI_SIZE")) {
    return {"mpirun", first_number(env, {"OMPI_COMM_WORLD_SIZE", "PMI_SIZE"})};
  }
  // A batch shell has SLURM_PROCID=0 as well; only a step knows its own number of tasks.
  const int tasks = first_number(env, {"SLURM_STEP_NUM_TASKS"});
  if (tasks > 1 && env.contains("SLURM_PROCID") && env.contains("SLURM_STEP_ID")) {
    return {"srun", tasks};
  }
  return {};
}

}  // namespace paddle_launch
