// SPDX-License-Identifier: Apache-2.0
#include "launcher/os/frames.h"

#include <sys/socket.h>

#include <thread>

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

TEST(FramePipe, FramesOfAnyLengthArriveWholeThoughNobodyWaits) {
  int ends[2];
  ASSERT_EQ(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends), 0);
  FramePipe one{UniqueFd(ends[0])};
  FramePipe other{UniqueFd(ends[1])};
  const std::string big(3'000'000, 'x');
  one.push("first");
  one.push("");
  one.push(big);
  one.push("last");
  EXPECT_TRUE(one.has_backlog());
  std::vector<std::string> frames;
  while (frames.size() < 4) {
    one.flush();
    ASSERT_TRUE(other.receive());
    while (auto frame = other.next()) frames.push_back(std::move(*frame));
  }
  EXPECT_FALSE(one.has_backlog());
  EXPECT_EQ(frames, (std::vector<std::string>{"first", "", big, "last"}));
}

TEST(FramePipe, WhatCameBeforeTheEndIsStillThere) {
  int ends[2];
  ASSERT_EQ(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends), 0);
  FramePipe one{UniqueFd(ends[0])};
  {
    FramePipe other{UniqueFd(ends[1])};
    other.push("bye");
  }
  EXPECT_FALSE(one.receive());
  EXPECT_EQ(one.next(), "bye");
  EXPECT_FALSE(one.next());
  one.push("nobody hears");
  EXPECT_FALSE(one.has_backlog());
}

// A child that ends before it has read our last word resets the connection.
TEST(FramePipe, WhatCameBeforeAResetIsStillThere) {
  int ends[2];
  ASSERT_EQ(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends), 0);
  FramePipe one{UniqueFd(ends[0])};
  {
    FramePipe other{UniqueFd(ends[1])};
    one.push("unread");
    other.push("bye");
  }
  EXPECT_EQ(one.wait(), "bye");
  EXPECT_EQ(one.wait(), std::nullopt);
}

TEST(FramePipe, WaitingEndsAtItsTimeAndBothSidesMayWaitWithMuchToSay) {
  int ends[2];
  ASSERT_EQ(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends), 0);
  FramePipe one{UniqueFd(ends[0])};
  FramePipe other{UniqueFd(ends[1])};
  EXPECT_EQ(one.wait(FramePipe::Clock::now()), std::nullopt);
  const std::string big(3'000'000, 'x');
  other.push('w', big);
  std::thread sender([&other] { other.push_all(); });
  EXPECT_EQ(one.wait(FramePipe::Clock::now() + std::chrono::seconds(30)), "w" + big);
  sender.join();
}

}  // namespace
}  // namespace paddle_launch
