// SPDX-License-Identifier: Apache-2.0
// The secret that the pods of a job share: the token of the user, or sealed by MUNGE, which a Slurm
// cluster usually has; and who the user is.
#pragma once

#include <optional>
#include <string>

#include "launcher/job/environment.h"
#include "launcher/job/job_spec.h"

namespace paddle_launch {

struct Token {
  std::string secret;  // never shown
  std::string source;  // "PADDLE_LAUNCH_TOKEN", "--token_file /path", "/home/u/.config/…"; empty:
                       // there is none

  bool operator==(const Token&) const = default;
};

// --token_file, then PADDLE_LAUNCH_TOKEN, then the user's own file if it is there. A secret that
// others could read or have written, or that could be guessed, is wrong use.
Token find_token(const JobSpec& job, const Environment& env);

// Makes the user's own token, or this file, unless it is there. Returns what to tell the user, who
// has to bring it to the other nodes.
std::string make_token(const std::optional<std::string>& file, const Environment& env);

// Of the effective user; "uid 1000" where that has no name.
std::string user_name();

// MUNGE. Its library is opened in a side process, so a daemon that hangs holds up nothing.

// A credential that only this user can open, on any node of the cluster. None: MUNGE is not here.
std::optional<std::string> munge_seal(const std::string& secret, const Environment& env);

// None: it cannot be opened, or it is not from this user.
std::optional<std::string> munge_open(const std::string& credential, const Environment& env);

}  // namespace paddle_launch
