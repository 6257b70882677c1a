// SPDX-License-Identifier: Apache-2.0
// What a launcher shows of itself to anyone who connects, before anything is proved: enough for a
// person to see which job was met, nothing that would be a secret.
#pragma once

#include <string>

namespace paddle_launch {

struct JobCard {
  std::string version{};  // of the launcher
  std::string user{};
  std::string job{};   // --job_id, or the name of the script; never its arguments
  std::string host{};  // where the launcher runs
  // Two jobs with the same name differ here nearly always: a few bits of what makes a job itself.
  // The same tag and another secret mean another token.
  std::string tag{};
  // The job's secret in a form that only its own user can open (MUNGE); empty: there is none.
  std::string sealed_secret{};

  bool operator==(const JobCard&) const = default;
};

}  // namespace paddle_launch
