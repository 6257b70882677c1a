// SPDX-License-Identifier: Apache-2.0
#include "launcher/channel/frame_queue.h"

#include <gtest/gtest.h>

namespace paddle_launch {
namespace {

TEST(IncomingFrames, GivesWholeFramesHoweverTheBytesCome) {
  const std::string bytes = framed("one") + framed("") + framed(std::string(1000, 'x'));
  IncomingFrames frames(1000);
  std::vector<std::string> got;
  for (const char byte : bytes) {
    frames.add({&byte, 1});
    while (const auto frame = frames.next()) got.emplace_back(*frame);
  }
  EXPECT_EQ(got, (std::vector<std::string>{"one", "", std::string(1000, 'x')}));
  EXPECT_FALSE(frames.is_oversize());
}

TEST(IncomingFrames, StopsAtAFrameThatIsTooLongBeforeItHasCome) {
  IncomingFrames frames(10);
  frames.add(framed("fine") + std::string("\xff\xff\xff\x7f", 4));
  EXPECT_EQ(frames.next(), "fine");
  EXPECT_FALSE(frames.next());
  EXPECT_TRUE(frames.is_oversize());
  frames.add(framed("more"));
  EXPECT_FALSE(frames.next());
}

TEST(OutgoingFrames, GoOutInOrderInWhateverPieces) {
  OutgoingFrames frames;
  frames.add("one");
  frames.add("two");
  std::string sent;
  while (!frames.empty()) {
    sent += frames.front(8).front().front();
    frames.written(1);
  }
  EXPECT_EQ(sent, framed("one") + framed("two"));
}

TEST(OutgoingFrames, SeveralGoOutTogether) {
  OutgoingFrames frames;
  for (const char* frame : {"one", "two", "three"}) frames.add(frame);
  frames.written(2);
  EXPECT_EQ(frames.front(2).size(), 2U);
  EXPECT_EQ(frames.front(2).front(), framed("one").substr(2));
  frames.written(framed("one").size() - 2 + framed("two").size() + 1);
  ASSERT_EQ(frames.front(8).size(), 1U);
  EXPECT_EQ(frames.front(8).front(), framed("three").substr(1));
}

}  // namespace
}  // namespace paddle_launch
