// SPDX-License-Identifier: Apache-2.0
#include "launcher/rendezvous/meeting_frames.h"

#include <gtest/gtest.h>

namespace paddle_launch {
namespace {

TEST(FrameReader, GivesWholeFramesHoweverTheBytesCome) {
  const std::string bytes =
      frame_bytes(MeetingWord::Gather, "mine") + frame_bytes(MeetingWord::Close, "");
  FrameReader reader;
  std::vector<MeetingFrame> frames;
  for (const char byte : bytes) {
    reader.feed({&byte, 1});
    while (auto frame = reader.next()) frames.push_back(std::move(*frame));
  }
  ASSERT_EQ(frames.size(), 2U);
  EXPECT_EQ(frames[0].word, MeetingWord::Gather);
  EXPECT_EQ(frames[0].bytes, "mine");
  EXPECT_EQ(frames[1].word, MeetingWord::Close);
}

TEST(UnpackList, IsTheReverseOfPackList) {
  const std::vector<std::string> list = {"", "one", std::string(70'000, 'x')};
  EXPECT_EQ(unpack_list(pack_list(list)), list);
  EXPECT_EQ(unpack_list(pack_list({})), std::vector<std::string>{});
}

TEST(UnpackList, RefusesWhatIsCutOff) {
  const std::string packed = pack_list({"one", "two"});
  EXPECT_EQ(unpack_list(packed.substr(0, packed.size() - 1)), std::nullopt);
  EXPECT_EQ(unpack_list(packed + "x"), std::nullopt);
}

}  // namespace
}  // namespace paddle_launch
