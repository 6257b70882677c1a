// SPDX-License-Identifier: Apache-2.0
// What the launcher finds when it is started: environment, secrets in it, standard descriptors,
// and whether somebody else started several launchers at once.
#pragma once

#include "launcher/job/environment.h"

namespace paddle_launch {

// Started with a closed stdin or stdout (`>&-`), the next file we open would take its place.
void hold_standard_descriptors();

// `entries`: of this process, as the C library has them.
Environment read_environment(char** entries);

// Secrets leave the environment before anything is started: neither a child nor a reader of /proc
// sees them.
void wipe_secrets(char** entries);
void drop_secrets(Environment& env);

// The password of --etcd_user=NAME:PASSWORD, where every user of the machine sees it (`ps`,
// /proc/PID/cmdline). `words`: of main(), once they are copied.
void hide_typed_password(char** words);

// mpirun, mpiexec or srun, told by the environment alone.
Surroundings surroundings(const Environment& env);

}  // namespace paddle_launch
