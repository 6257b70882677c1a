// SPDX-License-Identifier: Apache-2.0
// What this node finds out about itself before it meets the others: the program, its cards, CPUs
// and ports.
#pragma once

#include <string>
#include <vector>

#include "launcher/job/environment.h"
#include "launcher/job/job_spec.h"
#include "launcher/job/pod.h"
#include "launcher/job/start_method.h"
#include "launcher/plan/server_env.h"
#include "launcher/site/machine.h"
#include "launcher/site/ports.h"

namespace paddle_launch {

struct Preparation {
  Program program{};
  // Absolute; empty: there are no logs. With --log_dir=auto the parent, until its name is known.
  std::string log_dir{};
  bool has_named_logs = false;  // --log_dir=auto, and the name is known
  PodOffer offer{};
  std::vector<std::vector<int>> cpus{};  // --bind: of each trainer
  CardsOfNode cards{};                   // in a job with parameter servers: for the workers
  PortLease ports{};
  std::vector<std::string> warnings{};
};

// The part of it that is asked of a disk, once for all rounds. `is_awaited`: by other pods, which
// are not to wait in vain for one that cannot write its logs.
Preparation prepare_files(const JobSpec& job, const Environment& env, bool is_awaited);

// Between two rounds, aside and for a limited time: whether the program is still there. Throws if
// it is not.
void look_for_program_again(const JobSpec& job, const Environment& env);

// The rest, for each round. `host`: this node's name in the endpoints; empty: not known yet.
// `share`: of this launcher in its node. `is_first`: this may be the first pod of the job. Throws
// what is wrong here.
void prepare(const JobSpec& job, const Environment& env, const Machine& here,
             const std::string& host, const NodeShare& share, bool is_first, Preparation& ready);

}  // namespace paddle_launch
