// SPDX-License-Identifier: Apache-2.0
// Runs a function of this program as a distributed PaddlePaddle job: in several forked processes,
// each with the environment of a trainer that paddle-launch started.
//
//   paddle_launch::spawn([] { train(std::getenv("PADDLE_TRAINER_ID")); }, {.nprocs = 4});
#pragma once

#include <sys/types.h>

#include <chrono>
#include <functional>
#include <memory>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#define PADDLE_LAUNCH_API __attribute__((visibility("default")))

namespace paddle_launch {

struct SpawnOptions {
  // Processes on this node. -1: one for each visible card, and on a machine without cards one for
  // each CPU. With cards the first so many of them are used.
  int nprocs = -1;
  std::string gpus{};     // "4,5": these cards, one process each; "cpu": none
  std::string ips{};      // "192.168.0.16,192.168.0.17": all nodes; the program runs on each
  std::string log_dir{};  // workerlog.<rank> go there; empty: no files, output stays where it is
  std::chrono::milliseconds grace{
      10'000};       // between SIGTERM and SIGKILL when processes are stopped
  bool join = true;  // wait for the end; false: the returned handle does
};

// How a process failed, or why there was none.
struct SpawnFailure {
  int rank = -1;          // of the process that failed first; -1: it was not a process that failed
  int exit_code = 0;      // when signal is 0
  int signal = 0;         // the signal that ended it
  std::string message{};  // what() of the exception that its function threw; empty: it threw none
  int status = 1;         // what paddle-launch would have ended with; 2: wrong use
};

class PADDLE_LAUNCH_API SpawnError : public std::runtime_error {
 public:
  SpawnError(const std::string& what, SpawnFailure failure)
      : std::runtime_error(what), failure_(std::move(failure)) {}

  int rank() const { return failure_.rank; }
  int exit_code() const { return failure_.exit_code; }
  int signal() const { return failure_.signal; }
  const std::string& message() const { return failure_.message; }
  int status() const { return failure_.status; }

 private:
  SpawnFailure failure_;
};

// The running processes. Belongs to the process that called spawn().
class PADDLE_LAUNCH_API Spawned {
 public:
  class State;

  explicit Spawned(std::unique_ptr<State> state);
  Spawned(Spawned&& other) noexcept;
  Spawned& operator=(Spawned&& other) noexcept;
  Spawned(const Spawned&) = delete;
  Spawned& operator=(const Spawned&) = delete;
  // Stops what still runs.
  ~Spawned();

  // Waits for the end of all processes. Throws SpawnError when one failed.
  void join();
  // The same for so long. False: they still run.
  bool join_for(std::chrono::milliseconds time);
  // Of the processes of this node, in the order of their ranks; waits until all are started.
  std::vector<pid_t> pids() const;
  // SIGTERM, the grace, SIGKILL; returns when nothing is left. A later join() does not take this
  // for a failure.
  void stop();

 private:
  std::unique_ptr<State> state_;
};

// Throws SpawnError: when a process fails (with join), when the options or the machine do not allow
// the start, and when this program has more than one thread, since a fork would take only one
// along.
PADDLE_LAUNCH_API Spawned spawn(const std::function<void()>& function,
                                const SpawnOptions& options = {});

}  // namespace paddle_launch
