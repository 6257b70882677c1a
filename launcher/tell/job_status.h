// SPDX-License-Identifier: Apache-2.0
// What --status prints: where a job whose nodes come and go stands, for a person and for programs.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "launcher/job/ending.h"

namespace paddle_launch {

struct JobStatus {
  struct Node {
    std::string host{};
    std::string machine{};  // its host name; empty: not known
    int pid = 0;            // of its launcher; 0: not known
    int first_rank = 0;
    int trainers = 0;  // 0: it waits for a place
  };
  std::string job_id{};
  std::string wanted{};      // "2:4", "3"
  std::int64_t created = 0;  // seconds since 1970
  std::string hub{};         // the host that holds the job together; empty: none yet
  bool is_running = false;   // false: no round runs, every node waits
  RoundState round{};
  std::int64_t round_started = 0;  // 0: there was none yet
  std::vector<Node> nodes{};
};

// Lines for a terminal. `now`: seconds since 1970.
std::string job_status(const JobStatus& status, std::int64_t now);

// One JSON object and a newline.
std::string job_status_json(const JobStatus& status, std::int64_t now);

}  // namespace paddle_launch
