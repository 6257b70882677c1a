// SPDX-License-Identifier: Apache-2.0
#include "launcher/run/store_relay.h"

#include <sys/resource.h>
#include <sys/socket.h>

#include <cerrno>
#include <chrono>
#include <filesystem>
#include <iterator>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "launcher/os/event_loop.h"
#include "launcher/os/sockets.h"
#include "launcher/text/ipv4.h"

namespace paddle_launch {
namespace {

constexpr std::chrono::seconds kDeadline{30};

int free_port() { return local_port(listen_on(kLoopback, 0, 1).get()); }

// A relay, the ranks before it and the store behind it, all in one process.
class StoreRelayTest : public testing::Test {
 protected:
  UniqueFd knock() { return begin_connect(kLoopback, settings_.port); }

  void open_store() { store_ = listen_on(kLoopback, settings_.store_port, 8); }

  // The store's end of the next rank.
  UniqueFd receive() {
    UniqueFd guest;
    EXPECT_TRUE(comes_true([&] {
      guest.reset(accept4(store_.get(), nullptr, nullptr, SOCK_NONBLOCK));
      return guest.get() >= 0;
    }));
    return guest;
  }

  template <class Condition>
  bool comes_true(Condition condition) {
    const auto deadline = std::chrono::steady_clock::now() + kDeadline;
    while (!condition()) {
      if (std::chrono::steady_clock::now() > deadline) return false;
      turn();
    }
    return true;
  }

  void turn() {
    run_until(loop_, std::chrono::milliseconds(1), [] { return false; });
  }

  static void say(int fd, const std::string& text) {
    EXPECT_EQ(send(fd, text.data(), text.size(), MSG_NOSIGNAL), static_cast<ssize_t>(text.size()));
  }

  // Everything up to the end, or to so many bytes.
  std::string heard(int fd, std::size_t size = std::string::npos) {
    std::string text;
    std::array<char, 4096> piece{};
    EXPECT_TRUE(comes_true([&] {
      const ssize_t got = recv(fd, piece.data(), piece.size(), MSG_DONTWAIT);
      if (got > 0) text.append(piece.data(), static_cast<std::size_t>(got));
      return got == 0 || (got < 0 && errno != EAGAIN) || text.size() >= size;
    })) << text.size()
        << " bytes came";
    return text;
  }

  bool is_refused() {
    try {
      const UniqueFd attempt = knock();
      int result = ENOTCONN;
      comes_true([&] { return (result = connect_result(attempt.get())) != ENOTCONN; });
      return result == ECONNREFUSED;
    } catch (const std::system_error& error) {
      return error.code().value() == ECONNREFUSED;
    }
  }

  bool is_closed(int fd) {
    char byte = 0;
    return comes_true([&] {
      const ssize_t got = recv(fd, &byte, 1, MSG_DONTWAIT);
      return got == 0 || (got < 0 && errno != EAGAIN);
    });
  }

  EventLoop loop_;
  StoreRelaySettings settings_{
      .address = kLoopback, .port = free_port(), .store_port = free_port()};
  StoreRelay relay_{loop_, settings_};
  UniqueFd store_;
};

TEST_F(StoreRelayTest, WhoComesEarlyIsHeldAndLosesNothing) {
  const UniqueFd first = knock();
  const UniqueFd second = knock();
  say(first.get(), "add 1");
  turn();
  open_store();
  const UniqueFd behind_first = receive();
  const UniqueFd behind_second = receive();
  EXPECT_EQ(heard(behind_first.get(), 5), "add 1");
  say(behind_first.get(), "one");
  say(behind_second.get(), "two");
  EXPECT_EQ(heard(first.get(), 3), "one");
  EXPECT_EQ(heard(second.get(), 3), "two");
}

TEST_F(StoreRelayTest, WhoComesLaterIsJoinedAtOnce) {
  open_store();
  const UniqueFd late = knock();
  const UniqueFd behind = receive();
  say(late.get(), "get key");
  EXPECT_EQ(heard(behind.get(), 7), "get key");
}

TEST_F(StoreRelayTest, MuchIsPassedOnToASlowReaderWholeAndInOrder) {
  open_store();
  const UniqueFd rank = knock();
  const UniqueFd behind = receive();
  std::string much;
  for (int i = 0; much.size() < 8'000'000; ++i) much += std::to_string(i) + " ";
  std::size_t sent = 0;
  ASSERT_TRUE(comes_true([&] {
    const ssize_t took =
        send(behind.get(), much.data() + sent, much.size() - sent, MSG_DONTWAIT | MSG_NOSIGNAL);
    if (took > 0) sent += static_cast<std::size_t>(took);
    return took < 0 || sent == much.size();
  }));
  for (int i = 0; i < 20; ++i) turn();  // the rank does not read, and the relay stops reading too
  std::string text;
  std::array<char, 65536> piece{};
  ASSERT_TRUE(comes_true([&] {
    const ssize_t took =
        send(behind.get(), much.data() + sent, much.size() - sent, MSG_DONTWAIT | MSG_NOSIGNAL);
    if (took > 0) sent += static_cast<std::size_t>(took);
    const ssize_t got = recv(rank.get(), piece.data(), piece.size(), MSG_DONTWAIT);
    if (got > 0) text.append(piece.data(), static_cast<std::size_t>(got));
    return text.size() == much.size();
  }));
  EXPECT_EQ(text, much);
}

TEST_F(StoreRelayTest, AnEndOnOneSideIsAnEndOnTheOther) {
  open_store();
  UniqueFd rank = knock();
  UniqueFd behind = receive();
  say(rank.get(), "bye");
  rank.reset();
  EXPECT_EQ(heard(behind.get()), "bye");
  const UniqueFd other = knock();
  UniqueFd behind_other = receive();
  say(behind_other.get(), "last word");
  behind_other.reset();
  EXPECT_EQ(heard(other.get()), "last word");
}

TEST_F(StoreRelayTest, HalfAnEndLeavesTheOtherHalf) {
  open_store();
  const UniqueFd rank = knock();
  const UniqueFd behind = receive();
  shutdown(rank.get(), SHUT_WR);
  EXPECT_EQ(heard(behind.get()), "");
  say(behind.get(), "answer");
  EXPECT_EQ(heard(rank.get(), 6), "answer");
}

TEST_F(StoreRelayTest, WhenRankZeroIsGoneNobodyWaitsInVain) {
  const UniqueFd waiting = knock();
  turn();
  relay_.rank_zero_is_gone();
  EXPECT_TRUE(is_closed(waiting.get()));
  EXPECT_TRUE(is_refused());
}

TEST_F(StoreRelayTest, WhenRankZeroIsGoneItsLastWordsArriveFirst) {
  open_store();
  const UniqueFd rank = knock();
  const UniqueFd behind = receive();  // kept: a child of rank 0 may hold a copy
  say(behind.get(), "the result");
  relay_.rank_zero_is_gone();
  EXPECT_EQ(heard(rank.get()), "the result");
}

TEST_F(StoreRelayTest, AStoreThatOpensAgainIsFoundAgain) {
  open_store();
  const UniqueFd before = knock();
  UniqueFd behind = receive();
  behind.reset();
  store_.reset();
  EXPECT_TRUE(is_closed(before.get()));
  const UniqueFd after = knock();
  turn();
  open_store();
  const UniqueFd behind_after = receive();
  say(after.get(), "again");
  EXPECT_EQ(heard(behind_after.get(), 5), "again");
}

TEST_F(StoreRelayTest, WithoutDescriptorsItRestsAndGoesOn) {
  rlimit before{};
  ASSERT_EQ(getrlimit(RLIMIT_NOFILE, &before), 0);
  open_store();
  const UniqueFd rank = knock();
  const rlimit none{.rlim_cur = 3, .rlim_max = before.rlim_max};
  ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &none), 0);
  for (int i = 0; i < 5; ++i) turn();
  ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &before), 0);
  const UniqueFd behind = receive();
  say(rank.get(), "hello");
  EXPECT_EQ(heard(behind.get(), 5), "hello");
}

int open_descriptors() {
  const std::filesystem::directory_iterator all("/proc/self/fd");
  return static_cast<int>(std::distance(begin(all), end(all)));
}

TEST_F(StoreRelayTest, WhoGoesWithoutAWordIsLetGo) {
  turn();
  const int before = open_descriptors();
  for (int i = 0; i < 50; ++i) {
    const UniqueFd stranger = knock();
    const linger at_once{.l_onoff = 1, .l_linger = 0};
    if (i % 2 == 0) setsockopt(stranger.get(), SOL_SOCKET, SO_LINGER, &at_once, sizeof at_once);
    turn();
  }
  EXPECT_TRUE(comes_true([&] { return open_descriptors() == before; })) << open_descriptors();
}

TEST_F(StoreRelayTest, WhoHasSpokenAndSaysNoMoreIsServedAllTheSame) {
  const UniqueFd rank = knock();
  say(rank.get(), "get key");
  shutdown(rank.get(), SHUT_WR);
  for (int i = 0; i < 10; ++i) turn();
  open_store();
  const UniqueFd behind = receive();
  EXPECT_EQ(heard(behind.get()), "get key");
  say(behind.get(), "value");
  EXPECT_EQ(heard(rank.get(), 5), "value");
}

TEST(StoreRelay, ALimitIsToldOnceAndHoldsNobodyUpWhoComesAfterwards) {
  rlimit before{};
  ASSERT_EQ(getrlimit(RLIMIT_NOFILE, &before), 0);
  const rlimit few{.rlim_cur = 64, .rlim_max = before.rlim_max};
  EventLoop loop;
  int told = 0;
  StoreRelaySettings settings{.address = kLoopback,
                              .port = free_port(),
                              .store_port = free_port(),
                              .tell = [&told](const std::string&) { ++told; }};
  ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &few), 0);
  const StoreRelay relay(loop, settings);
  ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &before), 0);
  std::vector<UniqueFd> strangers;
  for (int i = 0; i < 40; ++i) strangers.push_back(begin_connect(kLoopback, settings.port));
  for (int i = 0; i < 20; ++i) run_until(loop, std::chrono::milliseconds(1), [] { return false; });
  EXPECT_EQ(told, 1);
  const UniqueFd store = listen_on(kLoopback, settings.store_port, 64);
  std::vector<UniqueFd> served;
  const auto deadline = std::chrono::steady_clock::now() + kDeadline;
  while (served.size() < strangers.size() && std::chrono::steady_clock::now() < deadline) {
    run_until(loop, std::chrono::milliseconds(1), [] { return false; });
    UniqueFd one(accept4(store.get(), nullptr, nullptr, SOCK_NONBLOCK));
    if (one) served.push_back(std::move(one));
  }
  EXPECT_EQ(served.size(), strangers.size());
  EXPECT_EQ(told, 1);
}

TEST(StoreRelay, APortInUseIsToldByItsErrno) {
  EventLoop loop;
  const UniqueFd taken = listen_on(kLoopback, 0, 1);
  try {
    const StoreRelay relay(loop, {.address = kLoopback, .port = local_port(taken.get())});
    ADD_FAILURE() << "opened";
  } catch (const std::system_error& error) {
    EXPECT_EQ(error.code().value(), EADDRINUSE);
  }
}

}  // namespace
}  // namespace paddle_launch
