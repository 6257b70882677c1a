// SPDX-License-Identifier: Apache-2.0
// What launcher and guard say to each other over their socket pair. Both are the same program on
// the same machine, so plain structs travel.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>

namespace paddle_launch {

constexpr std::size_t kReportsInOneMessage = 64;
// Whoever is still there then is stuck in the kernel, and is reported as a survivor.
constexpr std::chrono::seconds kPatienceWithSigkill{30};

struct GuardOrder {
  enum class Kind : std::uint8_t {
    Stop,       // SIGTERM to each trainer, the grace, SIGKILL to all that is left
    Kill,       // SIGKILL to everything now
    Signal,     // `signal` to each living trainer
    Freeze,     // SIGSTOP to the trainers' groups (Ctrl-Z)
    Thaw,       // SIGCONT to them; the trainer with the terminal gets it back
    StartRest,  // the processes that were held back; too late after Stop or Kill
  };
  Kind kind = Kind::Stop;
  std::int32_t signal = 0;
};

struct GuardReport {
  enum class Kind : std::uint8_t {
    Exited,
    NotStarted,
    Frozen,     // the order Freeze is carried out: every trainer stands still
    Suspended,  // the trainer that has the terminal was stopped there
    Survivor,   // SIGKILL did not end this process within our patience
    Drained,    // wait() says that no child is left, or survivors were given up
  };
  Kind kind = Kind::Exited;
  bool core_dumped = false;
  bool was_told_to_stop = false;
  bool exec = false;
  bool log_failed = false;  // NotStarted: it was the log file that could not be opened
  std::int32_t worker = -1;
  std::int32_t pid = 0;
  std::int32_t code = 0;
  std::int32_t signal = 0;
  std::int32_t error = 0;
  std::int64_t started_ns = 0;  // CLOCK_MONOTONIC
  std::int64_t ended_ns = 0;
};

}  // namespace paddle_launch
