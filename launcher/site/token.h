// SPDX-License-Identifier: Apache-2.0
// The secret that the nodes of a job share, and who the user is.
#pragma once

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

// Of the effective user; "uid 1000" where that has no name.
std::string user_name();

}  // namespace paddle_launch
