// SPDX-License-Identifier: Apache-2.0
#include "launcher/os/event_loop.h"

#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <stdexcept>
#include <string>

#include <gtest/gtest.h>

namespace paddle_launch {
namespace {

using std::chrono::milliseconds;

TEST(EventLoop, FiresTimersInTheirOrder) {
  EventLoop loop;
  std::string order;
  loop.after(milliseconds(20), [&] { order += "b"; });
  loop.after(milliseconds(1), [&] { order += "a"; });
  loop.run_until([&] { return order.size() == 2; });
  EXPECT_EQ(order, "ab");
}

TEST(EventLoop, DoesNotFireACancelledTimer) {
  EventLoop loop;
  bool fired = false;
  const auto timer = loop.after(milliseconds(1), [&] { fired = true; });
  loop.cancel(timer);
  EXPECT_FALSE(run_until(loop, milliseconds(10), [&] { return fired; }));
}

TEST(EventLoop, CallsBackWhenADescriptorIsReadable) {
  std::array<int, 2> ends{};
  ASSERT_EQ(pipe(ends.data()), 0);
  EventLoop loop;
  char seen = 0;
  loop.on_readable(ends[0], [&] { ASSERT_EQ(read(ends[0], &seen, 1), 1); });
  ASSERT_EQ(write(ends[1], "x", 1), 1);
  loop.run_until([&] { return seen != 0; });
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
  });
  run_until(loop, milliseconds(5), [] { return false; });
  EXPECT_EQ(calls, 1);
  close(ends[0]);
  close(ends[1]);
}

TEST(EventLoop, LooksAfterEveryCallbackWhetherItIsSo) {
  EventLoop loop;
  int calls = 0;
  for (int i = 0; i < 3; ++i) loop.after(milliseconds(0), [&] { ++calls; });
  loop.run_until([&] { return calls == 2; });
  EXPECT_EQ(calls, 2);
  loop.run_until([&] { return calls == 3; });
}

TEST(EventLoop, NamesTheOwnerOfATimerThatThrowsAndGoesOn) {
  EventLoop loop;
  bool fired = false;
  const int line = __LINE__ + 1;
  loop.after(milliseconds(0), [] { throw std::out_of_range("no such rank"); });
  loop.after(milliseconds(1), [&] { fired = true; });
  try {
    loop.run_until([&] { return fired; });
    FAIL() << "nothing was thrown";
  } catch (const CallbackFailed& failed) {
    const std::string where = "event_loop_test.cc:" + std::to_string(line) + ": no such rank";
    EXPECT_NE(std::string(failed.what()).find(where), std::string::npos) << failed.what();
    EXPECT_THROW(std::rethrow_exception(failed.why), std::out_of_range);
  }
  loop.run_until([&] { return fired; });
}

TEST(EventLoop, ForgetsADescriptorWhoseCallbackThrows) {
  std::array<int, 2> ends{};
  ASSERT_EQ(pipe(ends.data()), 0);
  EventLoop loop;
  int calls = 0;
  loop.on_writable(ends[1], [&] {
    ++calls;
    throw 7;  // not even an exception of the library
  });
  EXPECT_THROW(loop.run_until([] { return false; }), CallbackFailed);
  EXPECT_FALSE(run_until(loop, milliseconds(5), [] { return false; }));
  EXPECT_EQ(calls, 1);
  loop.forget(ends[1]);  // its owner need not know
  close(ends[0]);
  close(ends[1]);
}

TEST(EventLoop, AnAlarmIsItsOwners) {
  EventLoop loop;
  Alarm alarm(loop);
  alarm.set(milliseconds(0), [] { throw std::runtime_error("late"); });
  try {
    loop.run_until([] { return false; });
    FAIL() << "nothing was thrown";
  } catch (const CallbackFailed& failed) {
    EXPECT_NE(std::string(failed.what()).find("event_loop_test.cc:"), std::string::npos);
  }
}

TEST(EventLoop, ACallbackMayEndTheWaitOnPurpose) {
  EventLoop loop;
  int calls = 0;
  loop.after(milliseconds(0), [&] {
    loop.end_wait(std::make_exception_ptr(std::domain_error("SIGTERM")));
    ++calls;  // it is not torn out of what it does
  });
  loop.after(milliseconds(0), [&] { ++calls; });
  EXPECT_THROW(loop.run_until([] { return false; }), std::domain_error);
  EXPECT_EQ(calls, 1);
  loop.run_until([&] { return calls == 2; });
}

}  // namespace
}  // namespace paddle_launch
