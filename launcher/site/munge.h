// SPDX-License-Identifier: Apache-2.0
// Sealed credentials between processes of one user on the nodes of a cluster: MUNGE, which a Slurm
// cluster usually has. Its library is opened in a side process, so a daemon that hangs holds up
// nothing.
#pragma once

#include <optional>
#include <string>

#include "launcher/job/environment.h"

namespace paddle_launch {

// A credential that only this user can open, on any node of the cluster. None: MUNGE is not here.
std::optional<std::string> munge_seal(const std::string& secret, const Environment& env);

// None: it cannot be opened, or it is not from this user.
std::optional<std::string> munge_open(const std::string& credential, const Environment& env);

}  // namespace paddle_launch
