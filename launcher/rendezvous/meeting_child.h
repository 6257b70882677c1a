// SPDX-License-Identifier: Apache-2.0
// The short-lived process that meets the other tasks through MPI and PMIx, and ends before the
// first trainer starts. mpirun and srun accept it as the task's client; the launcher stays an
// ordinary process without their threads, descriptors and handlers, and can give up on a call that
// hangs.
#pragma once

#include <string>
#include <vector>

namespace paddle_launch {

// Which plugins, in the order of preference, and where they may be.
struct MeetingOrder {
  std::vector<std::string> plugins{};      // "mpi-openmpi", "pmix"
  std::vector<std::string> directories{};  // the first that has the file
  bool all_are_asked = false;              // see Choice
  std::string host{};                      // of this task, for what others are told about it
};

// Speaks meeting_frames over the socket until it is told to close.
[[noreturn]] void attend_meeting(int socket, const MeetingOrder& order);

}  // namespace paddle_launch
