// SPDX-License-Identifier: Apache-2.0
#include "launcher/rendezvous/meeting_frames.h"

#include "launcher/text/wire.h"

namespace paddle_launch {
namespace {

constexpr std::size_t kHeader = 9;  // the word, then the length

}  // namespace

std::string frame_bytes(MeetingWord word, std::string_view bytes) {
  WireWriter out;
  out.byte(static_cast<std::uint8_t>(word));
  out.fixed64(bytes.size());
  return out.take().append(bytes);
}

std::optional<MeetingFrame> FrameReader::next() {
  if (buffer_.size() < kHeader) return std::nullopt;
  WireReader in(buffer_);
  const auto word = static_cast<MeetingWord>(in.byte());
  const std::size_t size = in.fixed64();
  if (buffer_.size() - kHeader < size) return std::nullopt;
  MeetingFrame frame{word, buffer_.substr(kHeader, size)};
  buffer_.erase(0, kHeader + size);
  return frame;
}

std::string pack_list(const std::vector<std::string>& list) {
  WireWriter out;
  out.varint(list.size());
  for (const std::string& entry : list) out.text(entry);
  return out.take();
}

std::optional<std::vector<std::string>> unpack_list(std::string_view bytes) {
  WireReader in(bytes);
  std::vector<std::string> list(in.count());
  for (std::string& entry : list) entry = in.text(in.left());
  if (!in.finished_well()) return std::nullopt;
  return list;
}

}  // namespace paddle_launch
