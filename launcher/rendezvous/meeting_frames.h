// SPDX-License-Identifier: Apache-2.0
// What the launcher and its meeting child say to each other over a socket pair. Both are the same
// program and trust each other.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace paddle_launch {

enum class MeetingWord : std::uint8_t {
  Doing,            // child: what it is about to do, for the message when that hangs
  Opened,           // child: "task tasks"
  Note,             // child: which library it took, and why; for who wants to know
  Remark,           // child: what everybody should know
  NoWay,            // child: no plugin could be loaded; a line for each path with its reason
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

std::string frame_bytes(MeetingWord word, std::string_view bytes);

// Takes bytes as they come and gives whole frames.
class FrameReader {
 public:
  void feed(std::string_view bytes) { buffer_ += bytes; }
  std::optional<MeetingFrame> next();

 private:
  std::string buffer_;
};

std::string pack_list(const std::vector<std::string>& list);
std::optional<std::vector<std::string>> unpack_list(std::string_view bytes);

}  // namespace paddle_launch
