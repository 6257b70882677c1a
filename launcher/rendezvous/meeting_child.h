// SPDX-License-Identifier: Apache-2.0
// The short-lived process that meets the other tasks through MPI and PMIx, and ends before the
// first trainer starts. mpirun and srun accept it as the task's client; the launcher stays an
// ordinary process without their threads, descriptors and handlers, and can give up on a call that
// hangs.
#pragma once

#include <string>
#include <vector>

namespace paddle_launch {

// Which plugins, and where they may be.
struct MeetingOrder {
  std::vector<std::string> plugins{};      // see Choice
  std::vector<std::string> directories{};  // the first that has the file
  bool must_use_mpi = false;               // see Choice
  bool never_mpi_alone = false;            // there is another way where the first plugin is missing
  std::string host{};                      // of this task, for what others are told about it
};

// Speaks meeting_frames over the socket until it is told to close.
[[noreturn]] void attend_meeting(int socket, const MeetingOrder& order);

}  // namespace paddle_launch
