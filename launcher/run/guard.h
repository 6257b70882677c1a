// SPDX-License-Identifier: Apache-2.0
// The launcher's end of the guard: the process that is the trainers' parent. It starts them, tells
// how each ended, and stops them on order, or by itself when the launcher is gone.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <string>
#include <vector>

#include "launcher/job/job_spec.h"
#include "launcher/job/plan.h"
#include "launcher/os/frames.h"
#include "launcher/os/signals.h"
#include "launcher/run/guard_wire.h"

namespace paddle_launch {

// A file that is there before the first process starts.
struct PodFile {
  std::string path;
  std::string text;
  mode_t mode = 0666;
  bool is_needed = false;  // false: the job goes on without it
};

struct GuardSettings {
  std::chrono::milliseconds grace{0};
  std::string log_dir{};  // made where it is missing; empty: there are no logs
  bool log_overwrite = false;
  bool must_own_logs = false;  // false: where another job does not let go of a log, both write
  bool is_named = false;       // --log_dir=auto: `latest` beside the directory points to it
  std::vector<PodFile> files{};
  bool own_session = true;     // false: a trainer needs the terminal, which belongs to our session
  bool lend_terminal = false;  // the trainer with stdin becomes the terminal's foreground group
  Inherited inherited{};       // what trainers get back
  std::vector<std::string>
      start_lines;              // the first line of each log, in the order of the processes
  std::string remove_at_end{};  // a file that has served when the last process is gone
};

// But for what the launcher inherited and what depends on the terminal. Only the first round
// empties logs, or is refused one.
GuardSettings guard_settings(const JobSpec& job, const PodPlan& plan, bool is_first_round);

class Guard {
 public:
  // Forks; the guard opens all logs, then starts the processes, those that the plan holds back on
  // order. Whatever may hang on a disk is done there and not in the launcher.
  Guard(const ProcessPlan& plan, const GuardSettings& settings);
  Guard(Guard&&) = default;
  // Whatever unwinds past a guard leaves no trainer behind: it is told to stop them, and waited
  // for.
  ~Guard();

  int fd() const { return guard_.fd(); }
  pid_t pid() const { return pid_; }
  std::chrono::milliseconds grace() const { return grace_; }
  void order(GuardOrder::Kind kind, int signal = 0);

  struct Words {
    GuardReport::Kind kind;
    std::string text;
  };
  struct Reports {
    std::vector<Words> words;  // said before what stands in `reports`
    std::vector<GuardReport> reports;
    bool guard_is_gone = false;
  };
  Reports receive();

  // After its last report the guard only has to be taken in, so that not even a zombie stays. One
  // that hangs while it closes a log is left behind.
  void wait_for_end();

 private:
  FramePipe guard_;
  pid_t pid_ = -1;  // none: it was taken in
  std::chrono::milliseconds grace_;
};

}  // namespace paddle_launch
