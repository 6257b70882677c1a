// SPDX-License-Identifier: Apache-2.0
// The short-lived process that meets the other tasks through MPI and PMIx, and ends before the
// first trainer starts. mpirun and srun accept it as the task's client; the launcher stays an
// ordinary process without their threads, descriptors and handlers, and can give up on a call that
// hangs.
//
//   child      Doing Note …       what it is about to do, for the message when that hangs
//   child      Opened or NoWay    this task's number, or why no plugin could be loaded
//   launcher   Gather             bytes to everyone; as often as it likes
//   launcher   Share              bytes of task 0 to everyone; once it has them
//   launcher   Close              the child lets go of everything and ends
//
// The child answers Gather and Share with Answer, and anything with Failed. docs/decisions/0018.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "launcher/os/frames.h"

namespace paddle_launch {

// Which plugins, and where they may be.
struct MeetingOrder {
  std::vector<std::string> plugins{};      // see Choice
  std::vector<std::string> directories{};  // the first that has the file
  bool must_use_mpi = false;               // see Choice
  bool never_mpi_alone = false;            // there is another way where the first plugin is missing
  std::string host{};                      // of this task, for what others are told about it
};

// The first byte of each frame between the two. Both are the same program and trust each other.
enum class MeetingWord : std::uint8_t {
  Doing,            // child: what it is about to do
  Opened,           // child: "task tasks"
  Note,             // child: which library it took, and why; for who wants to know
  Remark,           // child: what everybody should know
  NoWay,            // child: a line for each path with its reason
  Failed,           // child: what failed
  Answer,           // child: what gather or share gave
  Gather,           // launcher: these bytes to everyone
  GatherBeforeIds,  // launcher: the same; then MPI, if all tasks say this word and can use it
  Share,            // launcher: task 0's bytes to everyone
  Close,            // launcher: let go of everything and end
};

struct MeetingFrame {
  MeetingWord word = MeetingWord::Doing;
  std::string bytes{};
};

// Of a frame as it comes.
inline MeetingFrame meeting_frame(std::string_view frame) {
  return {static_cast<MeetingWord>(frame.at(0)), std::string(frame.substr(1))};
}

std::string pack_list(const std::vector<std::string>& list);
std::optional<std::vector<std::string>> unpack_list(std::string_view bytes);

// In the child, until it is told to close.
[[noreturn]] void attend_meeting(FramePipe launcher, const MeetingOrder& order);

}  // namespace paddle_launch
