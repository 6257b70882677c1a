// SPDX-License-Identifier: Apache-2.0
// Whether somebody else started several launchers at once: mpirun, srun. Told by the environment
// alone.
#pragma once

#include <string>

#include "launcher/job/environment.h"

namespace paddle_launch {

struct Surroundings {
  std::string launched_by;  // "" (a person, a batch shell), "mpirun" or "srun"
  int tasks = 1;            // launchers started together; 0: not known, possibly several

  bool operator==(const Surroundings&) const = default;
};

Surroundings surroundings(const Environment& env);

}  // namespace paddle_launch
