// SPDX-License-Identifier: Apache-2.0
// Which way the launchers of this job meet: a table of what was asked for and what is seen around.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "launcher/job/environment.h"
#include "launcher/job/job_spec.h"
#include "launcher/rendezvous/rendezvous.h"
#include "launcher/site/launch_values.h"
#include "launcher/tell/narrator.h"

namespace paddle_launch {

enum class Way {
  Solo,       // one launcher
  Tcp,        // --ips or --master says where
  Tasks,      // whoever started the launchers together joins them, through a plugin
  SlurmStep,  // over TCP; the step says where
  Elastic,    // etcd says who there is
};

struct Choice {
  Way way = Way::Solo;
  // For Way::Tasks: everything is gathered through the first one. MPI may follow, which is opened
  // inside it only where there is something for it to carry.
  std::vector<std::string> plugins{};
  bool must_use_mpi = false;     // it was asked for: it is opened, and nothing takes its place
  bool else_slurm_step = false;  // Way::SlurmStep serves where the first plugin cannot be used

  bool operator==(const Choice&) const = default;
};

// Never Solo by itself where the surroundings speak of several launchers: each would start a world
// of its own. UsageError where nothing fits.
Choice choose_way(const JobSpec& job, const Surroundings& around);

// The one that serves this job. Where a scheduler started tasks it waits until every one has said
// where it is. Throws what hinders it.
std::unique_ptr<Rendezvous> choose_rendezvous(const Launch& launch, Narrator& narrator);

}  // namespace paddle_launch
