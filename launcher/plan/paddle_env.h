// SPDX-License-Identifier: Apache-2.0
// The environment that Paddle 2.0 to 3.x reads. Every PADDLE_* name that a trainer gets is written
// in the .cc file, once.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "launcher/job/ending.h"
#include "launcher/job/environment.h"
#include "launcher/job/plan.h"

namespace paddle_launch {

// Which variables speak of the launcher's own place under mpirun, mpiexec or srun. A trainer that
// inherits one of these takes itself for the launcher: its MPI connects as that rank or aborts, and
// on Slurm its crash ends the whole step. What the user set for an MPI of the trainers' own
// (OMPI_MCA_btl and the like) is not among them.
bool is_the_schedulers(std::string_view name);

// A launcher that finds it was started by a trainer of another one.
constexpr const char* kJobVariable = "PADDLE_LAUNCH_JOB";

struct PaddleEnvSettings {
  std::string backend;  // --backend, "auto" included
  std::string log_dir;  // absolute; empty: there are no logs
  std::string job_id;
  std::string temporary_dir;
  bool under_scheduler = false;  // mpirun, mpiexec or srun started this launcher
  bool rpc = false;              // --run_mode rpc
  bool elastic = false;          // what a platform says of the nodes is out of date
  bool drop_proxies = false;
  RoundState round{};
  std::vector<EnvVar> more{};  // what the launcher hands over besides
};

struct PaddleEnv {
  std::vector<EnvVar> common;
  std::vector<EnvVar> backup;  // lists too long for one string of the kernel; they go into a file
  std::string backup_path;     // where; empty: nothing is too long
};

// A string of 128 KiB or more makes execve fail; lists of this size go into a file instead.
constexpr std::size_t kLongestValue = 120 * 1024;

// Adds the lists, or the name of the file where they are. `number`: tells this pod's file from
// others in one log directory; without one, `pod_name` does among the temporary files.
void add_lists(std::vector<EnvVar> lists, const PaddleEnvSettings& settings, int number,
               const std::string& pod_name, PaddleEnv& env);

// Where there is such a directory.
void add_log_dir(const PaddleEnvSettings& settings, PaddleEnv& env);

// Which try this is: a script that resumes from a checkpoint may want to know.
void add_round(const RoundState& round, PaddleEnv& env);

// Only named, never made: rendezvous 3 is HTTP and does not use it, but readers want it set.
std::string gloo_folder(const PaddleEnvSettings& settings, const std::string& pod_name);

// One for each node, as they stand in the endpoints; with commas.
std::string hosts_of(const WorldPlan& world);

PaddleEnv common_env(const WorldPlan& world, const PaddleEnvSettings& settings,
                     const Environment& user);
std::vector<EnvVar> trainer_env(const WorldPlan& world, const Trainer& trainer, bool rpc = false);

// As Paddle's launcher does by loading Paddle. `process`: among this pod's own.
void add_threads(const PodMeans& means, std::size_t process, std::vector<EnvVar>& env);

// The user's environment less what an outer launcher set for its own trainers, less every name that
// `common` or `own` sets, and `under_scheduler` less what is the launcher's own place there.
std::vector<EnvVar> inherited_env(const Environment& user, const std::vector<EnvVar>& common,
                                  const std::vector<EnvVar>& own, bool under_scheduler = false);

}  // namespace paddle_launch
