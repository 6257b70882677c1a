// SPDX-License-Identifier: Apache-2.0
#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <gtest/gtest.h>

#include "launcher/os/unique_fd.h"
#include "launcher/site/port_users.h"
#include "tests/unit/site/fake_root.h"

namespace paddle_launch {
namespace {

using Ports = std::set<int>;

const std::string kHeadings =
    "  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout "
    "inode\n";

std::string line(const std::string& address, const std::string& state) {
  return "   0: " + address + " 00000000:0000 " + state +
         " 00000000:00000000 00:00000000 00000000  1000        0 8 1 0 100 0 0 10 0\n";
}

TEST(ListeningPorts, AreFoundInBothTables) {
  const FakeRoot proc;
  proc.write("net/tcp", kHeadings + line("0100007F:17B6", "0A") + line("0100007F:17B7", "01"));
  proc.write("net/tcp6", kHeadings + line("00000000000000000000000000000000:17B8", "0A"));
  EXPECT_EQ(listening_ports({6070, 6071, 6072, 6073}, proc.path()), (Ports{6070, 6072}));
  EXPECT_EQ(listening_ports({6070}, proc.path()), Ports{6070});
  EXPECT_EQ(listening_ports({}, proc.path()), Ports{});
}

TEST(ListeningPorts, OnLoopbackAloneAreTold) {
  const FakeRoot proc;
  proc.write("net/tcp", kHeadings + line("0101007F:17B6", "0A") + line("00000000:17B7", "0A") +
                            line("0100007F:17B8", "0A"));
  proc.write("net/tcp6", kHeadings + line("00000000000000000000000000000000:17B8", "0A") +
                             line("00000000000000000000000001000000:17B9", "0A"));
  EXPECT_EQ(ports_on_loopback_alone({6070, 6071, 6072, 6073}, proc.path()), (Ports{6070, 6073}));
}

TEST(ListeningPorts, AreNoneWhereTheTablesAreMissingOrTorn) {
  const FakeRoot proc;
  EXPECT_EQ(listening_ports({6070}, proc.path()), Ports{});
  proc.write("net/tcp", "nonsense\n   0: 0100007F:17B6 0A\n   1: x:17zz y 0A 1 2 3 4 5 6 7\n");
  EXPECT_EQ(listening_ports({6070}, proc.path()), Ports{});
}

TEST(ListeningPorts, OfThisMachineAreFound) {
  const UniqueFd fd(socket(AF_INET6, SOCK_STREAM | SOCK_CLOEXEC, 0));
  const UniqueFd old(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  const int own = fd ? fd.get() : old.get();
  ASSERT_EQ(listen(own, 1), 0) << "on a port of the kernel's choice";
  sockaddr_in6 address{};  // the port stands where it stands in sockaddr_in
  socklen_t size = sizeof address;
  ASSERT_EQ(getsockname(own, reinterpret_cast<sockaddr*>(&address), &size), 0);
  const int port = ntohs(address.sin6_port);
  EXPECT_EQ(listening_ports({1, port}), Ports{port});
}

}  // namespace
}  // namespace paddle_launch
