// SPDX-License-Identifier: Apache-2.0
// Which variables speak of the launcher's own place under mpirun, mpiexec or srun.
#pragma once

#include <string_view>

namespace paddle_launch {

// A trainer that inherits one of these takes itself for the launcher: its MPI connects as that rank
// or aborts, and on Slurm its crash ends the whole step. What the user set for an MPI of the
// trainers' own (OMPI_MCA_btl and the like) is not among them.
bool is_the_schedulers(std::string_view name);

}  // namespace paddle_launch
