// SPDX-License-Identifier: Apache-2.0
// Children that go on in our own program, and how every one of them begins:
//
//   launcher   makes a socket pair, blocks all signals, forks, takes its own mask back
//   child      dies with the launcher, takes its name, leaves the terminal's session, closes what
//              it has no use for, does its work, and ends without running anybody's exit handlers
//
// Signals are blocked in the child from before the fork on: a handler of the launcher's must not
// run there, where the descriptor it writes to belongs to something else, and nothing but SIGKILL
// ends the child before the launcher does. A child that waits in a loop makes an epoll set of its
// own: the launcher's is shared across a fork. Trainers are not made by this recipe but by clone
// (run/start_process), since a fork costs the more the larger the launcher is.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <functional>
#include <vector>

#include "launcher/os/frames.h"

namespace paddle_launch {

struct ChildRecipe {
  // Which of the launcher's descriptors the child goes on with, beside those in `kept`.
  enum class Descriptors {
    All,       // and SIGCHLD may be ignored in it: everything is as it was
    Standard,  // 0, 1 and 2
    Errors,    // stderr, where its stdout goes as well; 0 is /dev/null
    None,      // 0, 1 and 2 are /dev/null
  };

  const char* name = nullptr;      // as ps shows it; none: the launcher's
  bool dies_with_launcher = true;  // by SIGKILL; false: it sees to its end itself
  bool own_session = false;        // Ctrl-C and a hang-up of the terminal are not for it
  bool blocks_signals = true;      // false: the mask is the launcher's
  Descriptors descriptors = Descriptors::None;
  std::vector<int> kept{};
};

// Returns in the launcher only. `work` that returns ends the child with 0, work that throws with 1.
// Throws std::system_error.
pid_t fork_child(const ChildRecipe& recipe, const std::function<void()>& work);

// The same with frames between the two; the child has its end above 2, whatever was open.
struct Child {
  pid_t pid = -1;
  FramePipe pipe{};
};
Child start_child(ChildRecipe recipe, const std::function<void(FramePipe launcher)>& work);

// Reaps it if it is dead. True as well for what somebody else has reaped: it is no child of ours
// any more, and its number may be a stranger's, who must not be killed.
bool is_gone(pid_t child, int* status = nullptr);
bool is_gone_within(pid_t child, std::chrono::milliseconds patience, int* status = nullptr);

// Keeps 0, 1, 2 and the given ones.
void close_all_but(std::vector<int> kept);

// The same as close_all_but, one by one: what it does on kernels without close_range (before 5.9).
void close_one_by_one_but(const std::vector<int>& kept);

}  // namespace paddle_launch
