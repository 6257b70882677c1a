// SPDX-License-Identifier: Apache-2.0
// Whether somebody else started several launchers at once: mpirun, mpiexec, srun. Told by the
// environment alone.
#pragma once

#include "launcher/job/environment.h"
#include "launcher/job/surroundings.h"

namespace paddle_launch {

Surroundings surroundings(const Environment& env);

}  // namespace paddle_launch
