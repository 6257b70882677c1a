// SPDX-License-Identifier: Apache-2.0
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>

#include <cerrno>
#include <system_error>

#include <gtest/gtest.h>

#include "launcher/os/idle_listener.h"
#include "launcher/os/sockets.h"
#include "launcher/text/ipv4.h"

namespace paddle_launch {
namespace {

using std::chrono::seconds;

constexpr std::uint32_t kOtherLoopback = 0x7f000009U;

sockaddr_in own_end(int fd) {
  sockaddr_in address{};
  socklen_t size = sizeof address;
  EXPECT_EQ(getsockname(fd, reinterpret_cast<sockaddr*>(&address), &size), 0);
  return address;
}

int port_of(int fd) { return ntohs(own_end(fd).sin_port); }

bool is_ready(int fd, short events) {
  pollfd waiting{fd, events, 0};
  return poll(&waiting, 1, 30'000) == 1;
}

int option(int fd, int level, int name) {
  int value = -1;
  socklen_t size = sizeof value;
  EXPECT_EQ(getsockopt(fd, level, name, &value, &size), 0);
  return value;
}

// The errno of what `attempt` throws; 0: nothing.
template <class Attempt>
int error_of(Attempt attempt) {
  try {
    attempt();
  } catch (const std::system_error& error) {
    return error.code().value();
  }
  return 0;
}

TEST(ListenOn, GivesANonBlockingSocketThatNoTrainerInherits) {
  const UniqueFd listener = listen_on(kLoopback, 0, 8);
  EXPECT_NE(fcntl(listener.get(), F_GETFD) & FD_CLOEXEC, 0);
  EXPECT_NE(fcntl(listener.get(), F_GETFL) & O_NONBLOCK, 0);
  EXPECT_EQ(option(listener.get(), SOL_SOCKET, SO_REUSEADDR), 1);
  EXPECT_EQ(local_address(listener.get()), kLoopback);
}

TEST(ListenOn, APortInUseIsToldByItsErrno) {
  const UniqueFd listener = listen_on(kLoopback, 0, 8);
  const int port = port_of(listener.get());
  EXPECT_EQ(error_of([port] { listen_on(kLoopback, port, 8); }), EADDRINUSE);
  EXPECT_EQ(error_of([port] { listen_on(0, port, 8); }), EADDRINUSE);
  EXPECT_EQ(error_of([port] { listen_on(kOtherLoopback, port, 8); }), 0);
}

TEST(ListenOn, AnAddressOfAnotherMachineIsRefused) {
  EXPECT_EQ(error_of([] { listen_on(0xc0000201U, 0, 8); }), EADDRNOTAVAIL);
}

TEST(ListenOn, AllAddressesAreNoLocalAddress) {
  const UniqueFd listener = listen_on(0, 0, 8);
  EXPECT_EQ(local_address(listener.get()), std::nullopt);
}

TEST(BeginConnect, BothEndsKnowEachOther) {
  const UniqueFd listener = listen_on(kLoopback, 0, 8);
  const UniqueFd client = begin_connect(kLoopback, port_of(listener.get()), kOtherLoopback);
  EXPECT_NE(fcntl(client.get(), F_GETFD) & FD_CLOEXEC, 0);
  EXPECT_NE(fcntl(client.get(), F_GETFL) & O_NONBLOCK, 0);
  ASSERT_TRUE(is_ready(client.get(), POLLOUT));
  EXPECT_EQ(connect_result(client.get()), 0);
  EXPECT_EQ(local_address(client.get()), kOtherLoopback);
  ASSERT_TRUE(is_ready(listener.get(), POLLIN));
  const Accepted served = accept_next(listener.get());
  EXPECT_NE(fcntl(served.socket.get(), F_GETFD) & FD_CLOEXEC, 0);
  EXPECT_NE(fcntl(served.socket.get(), F_GETFL) & O_NONBLOCK, 0);
  EXPECT_EQ(served.address, kOtherLoopback);
  EXPECT_EQ(served.port, port_of(client.get()));
}

// A connection that is reset as soon as it is there, as load balancers and scanners do.
int connect_and_reset(int port) {
  const UniqueFd client = begin_connect(kLoopback, port);
  EXPECT_TRUE(is_ready(client.get(), POLLOUT));
  const linger at_once{.l_onoff = 1, .l_linger = 0};
  setsockopt(client.get(), SOL_SOCKET, SO_LINGER, &at_once, sizeof at_once);
  return port_of(client.get());
}

TEST(AcceptNext, WhoHasGoneIsKnownByItsAddress) {
  const UniqueFd listener = listen_on(kLoopback, 0, 8);
  const int port = connect_and_reset(port_of(listener.get()));
  ASSERT_TRUE(is_ready(listener.get(), POLLIN));
  const Accepted gone = accept_next(listener.get());
  ASSERT_TRUE(gone.socket);
  EXPECT_EQ(gone.address, kLoopback);
  EXPECT_EQ(gone.port, port);
  set_no_delay(gone.socket.get());
  set_keep_alive(gone.socket.get(), keep_alive_for(seconds(10)));
  char byte = 0;
  EXPECT_EQ(recv(gone.socket.get(), &byte, 1, 0), -1);
  EXPECT_EQ(errno, ECONNRESET);
}

TEST(AcceptNext, NobodyIsTheKernelsErrno) {
  const UniqueFd listener = listen_on(kLoopback, 0, 8);
  EXPECT_FALSE(accept_next(listener.get()).socket);
  EXPECT_EQ(errno, EAGAIN);
}

TEST(IdleListener, TurnsAwayWhoComesWhileNobodyServes) {
  EventLoop loop;
  IdleListener idle(loop, listen_on(kLoopback, 0, 8));
  const UniqueFd early = begin_connect(kLoopback, idle.port());
  connect_and_reset(idle.port());
  bool is_closed = false;
  loop.on_readable(early.get(), [&is_closed] { is_closed = true; });
  loop.run_until([&is_closed] { return is_closed; });
  char byte = 0;
  EXPECT_EQ(recv(early.get(), &byte, 1, 0), 0) << "it was not closed";
  const UniqueFd late = begin_connect(kLoopback, idle.port());
  const UniqueFd listener = idle.take();
  ASSERT_TRUE(is_ready(listener.get(), POLLIN));
  EXPECT_EQ(accept_next(listener.get()).port, port_of(late.get()));
  EXPECT_FALSE(accept_next(listener.get()).socket);
}

TEST(BeginConnect, WhereNobodyListensItIsRefusedAtOnceOrLater) {
  const int port = port_of(listen_on(kLoopback, 0, 8).get());
  EXPECT_EQ(error_of([port] {
              const UniqueFd attempt = begin_connect(kLoopback, port);
              ASSERT_TRUE(is_ready(attempt.get(), POLLOUT));
              throw std::system_error(connect_result(attempt.get()), std::generic_category());
            }),
            ECONNREFUSED);
}

TEST(BeginConnect, AForeignSourceAddressIsRefused) {
  EXPECT_EQ(error_of([] { begin_connect(kLoopback, 9, 0xc0000201U); }), EADDRNOTAVAIL);
}

TEST(ConnectResult, ASocketThatMetItselfWasRefused) {
  const UniqueFd lonely(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(kLoopback);
  ASSERT_EQ(bind(lonely.get(), reinterpret_cast<sockaddr*>(&address), sizeof address), 0);
  address = own_end(lonely.get());
  connect(lonely.get(), reinterpret_cast<sockaddr*>(&address), sizeof address);
  ASSERT_TRUE(is_ready(lonely.get(), POLLOUT));
  sockaddr_in peer{};
  socklen_t size = sizeof peer;
  ASSERT_EQ(getpeername(lonely.get(), reinterpret_cast<sockaddr*>(&peer), &size), 0);
  EXPECT_EQ(peer.sin_port, address.sin_port) << "it did not meet itself";
  EXPECT_EQ(connect_result(lonely.get()), ECONNREFUSED);
}

TEST(ConnectResult, AnAttemptThatIsNotOverIsNotConnected) {
  const UniqueFd fresh(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  EXPECT_EQ(connect_result(fresh.get()), ENOTCONN);
  EXPECT_EQ(connect_result(-1), EBADF);
}

TEST(KeepAlive, FitsIntoFourFifthsOfTheHeartbeat) {
  EXPECT_EQ(keep_alive_for(seconds(10)), (KeepAlive{3, 1, 5, 8000}));
  EXPECT_EQ(keep_alive_for(seconds(2)), (KeepAlive{1, 1, 1, 2000}));
  EXPECT_EQ(keep_alive_for(seconds(1)), (KeepAlive{1, 1, 1, 2000}));
  EXPECT_EQ(keep_alive_for(seconds(0)), (KeepAlive{1, 1, 1, 2000}));
  for (int heartbeat = 3; heartbeat <= 5000; ++heartbeat) {
    const KeepAlive found = keep_alive_for(seconds(heartbeat));
    EXPECT_GE(found.idle_s, 1) << heartbeat;
    EXPECT_GE(found.interval_s, 1) << heartbeat;
    EXPECT_GE(found.count, 1) << heartbeat;
    const int total = found.idle_s + found.interval_s * found.count;
    EXPECT_LE(total * 5, heartbeat * 4) << heartbeat;
    EXPECT_EQ(found.user_timeout_ms, total * 1000) << heartbeat;
  }
}

TEST(KeepAlive, TheKernelTakesIt) {
  const UniqueFd fd(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  for (const seconds heartbeat : {seconds(2), seconds(10), seconds::max()}) {
    const KeepAlive wanted = keep_alive_for(heartbeat);
    set_keep_alive(fd.get(), wanted);
    EXPECT_EQ(option(fd.get(), SOL_SOCKET, SO_KEEPALIVE), 1);
    EXPECT_EQ(option(fd.get(), IPPROTO_TCP, TCP_KEEPIDLE), wanted.idle_s);
    EXPECT_EQ(option(fd.get(), IPPROTO_TCP, TCP_KEEPINTVL), wanted.interval_s);
    EXPECT_EQ(option(fd.get(), IPPROTO_TCP, TCP_KEEPCNT), wanted.count);
    EXPECT_EQ(option(fd.get(), IPPROTO_TCP, TCP_USER_TIMEOUT), wanted.user_timeout_ms);
  }
  set_no_delay(fd.get());
  EXPECT_NE(option(fd.get(), IPPROTO_TCP, TCP_NODELAY), 0);
}

}  // namespace
}  // namespace paddle_launch
