// SPDX-License-Identifier: Apache-2.0
// A job of bench_trainers in which one trainer dies, under one launcher or several: who was gone
// when. Trainers are seen by pidfds, so nothing of a launcher has to be believed.
#pragma once

#include <memory>
#include <vector>

#include "benchmarks/child.h"
#include "benchmarks/scratch.h"

namespace paddle_launch {

struct Course {
  Clock::time_point death;        // of the failing trainer, in its own words
  Clock::time_point last_gone;    // the last trainer's end
  size_t alive = 0;               // trainers, when the last launcher had ended
  std::vector<Ending> endings{};  // of the launchers, in their order

  Clock::time_point last_end() const;
};

class FallingJob {
 public:
  // The word {scratch} in a launcher's command becomes the scratch directory, where the trainers
  // look for their FIFOs. All launchers run there.
  FallingJob(const std::vector<Argv>& launchers, size_t trainers);

  // Lets the failing trainer die once all are there, and watches until every launcher has ended.
  // Throws what went wrong when that takes longer than `patience`.
  Course fall(std::chrono::seconds patience);

  // "exit status 2: <its last words>"
  std::string describe(const Ending& ending) const;

 private:
  struct Fifo {
    explicit Fifo(const std::string& path);
    UniqueFd fd;
  };

  std::vector<UniqueFd> meet_trainers(Clock::time_point deadline);
  void throw_if_a_launcher_ended();
  Course watch(const std::vector<UniqueFd>& trainers, Clock::time_point deadline);

  Scratch scratch_;
  size_t trainers_;
  Fifo hello_;
  Fifo go_;
  std::vector<std::unique_ptr<Child>> launchers_;
};

}  // namespace paddle_launch
