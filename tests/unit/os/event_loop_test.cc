// SPDX-License-Identifier: Apache-2.0
#include "launcher/os/event_loop.h"

#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <string>

#include <gtest/gtest.h>

namespace paddle_launch {
namespace {

using std::chrono::milliseconds;

TEST(EventLoop, FiresTimersInTheirOrder) {
  EventLoop loop;
  std::string order;
  loop.after(milliseconds(20), [&] {
    order += "b";
    loop.stop();
  });
  loop.after(milliseconds(1), [&] { order += "a"; });
  loop.run();
  EXPECT_EQ(order, "ab");
}

TEST(EventLoop, DoesNotFireACancelledTimer) {
  EventLoop loop;
  bool fired = false;
  const auto timer = loop.after(milliseconds(1), [&] { fired = true; });
  loop.cancel(timer);
  loop.after(milliseconds(10), [&] { loop.stop(); });
  loop.run();
  EXPECT_FALSE(fired);
}

TEST(EventLoop, CallsBackWhenADescriptorIsReadable) {
  std::array<int, 2> ends{};
  ASSERT_EQ(pipe(ends.data()), 0);
  EventLoop loop;
  char seen = 0;
  loop.on_readable(ends[0], [&] {
    ASSERT_EQ(read(ends[0], &seen, 1), 1);
    loop.stop();
  });
  ASSERT_EQ(write(ends[1], "x", 1), 1);
  loop.run();
  EXPECT_EQ(seen, 'x');
  loop.forget(ends[0]);
  close(ends[0]);
  close(ends[1]);
}

TEST(EventLoop, ACallbackMayForgetItsOwnDescriptor) {
  std::array<int, 2> ends{};
  ASSERT_EQ(socketpair(AF_UNIX, SOCK_STREAM, 0, ends.data()), 0);
  EventLoop loop;
  int calls = 0;
  loop.on_writable(ends[0], [&] {
    ++calls;
    loop.forget(ends[0]);
    loop.after(milliseconds(5), [&] { loop.stop(); });
  });
  loop.run();
  EXPECT_EQ(calls, 1);
  close(ends[0]);
  close(ends[1]);
}

}  // namespace
}  // namespace paddle_launch
