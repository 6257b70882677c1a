// SPDX-License-Identifier: Apache-2.0
#include "launcher/site/ports.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <set>
#include <tuple>

#include <gtest/gtest.h>

#include "launcher/job/errors.h"
#include "launcher/site/port_users.h"
#include "tests/unit/site/fake_root.h"

namespace paddle_launch {
namespace {

PortWish wish_for(int count) { return {count, {}, "", {}}; }

PortWish wish_from(int count, int start) { return {count, start, "--start_port", {}}; }

sockaddr_in loopback(int port) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  address.sin_port = htons(static_cast<std::uint16_t>(port));
  return address;
}

// A listener on a port of the kernel's choice; with SO_REUSEADDR, as trainers have it.
struct Listener {
  UniqueFd fd{socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)};
  int port = 0;

  Listener() {
    const int yes = 1;
    setsockopt(fd.get(), SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
    auto address = loopback(0);
    socklen_t size = sizeof address;
    EXPECT_EQ(bind(fd.get(), reinterpret_cast<sockaddr*>(&address), size), 0);
    EXPECT_EQ(listen(fd.get(), 4), 0);
    EXPECT_EQ(getsockname(fd.get(), reinterpret_cast<sockaddr*>(&address), &size), 0);
    port = ntohs(address.sin_port);
  }
};

std::set<int> ports_of(const PortLease& lease) {
  std::set<int> ports(lease.trainers.begin(), lease.trainers.end());
  ports.insert(lease.master);
  return ports;
}

std::string launch_error(const PortWish& wish) {
  std::vector<std::string> warnings;
  try {
    lease_ports(wish, warnings);
  } catch (const LaunchError& error) {
    return error.what();
  }
  return "no error";
}

bool says(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

TEST(LeasePorts, GivesEachTrainerAndTheMasterAPortOutsideTheEphemeralRange) {
  const FakeRoot proc;
  proc.write("sys/net/ipv4/ip_local_port_range", "32768\t60999\n");
  std::vector<std::string> warnings;
  const auto lease = lease_ports(wish_for(8), warnings, proc.path());
  EXPECT_EQ(lease.trainers.size(), 8U);
  EXPECT_EQ(ports_of(lease).size(), 9U);
  for (const int port : ports_of(lease)) {
    EXPECT_TRUE((port >= 20000 && port < 32768) || port > 60999) << port;
  }
  EXPECT_TRUE(warnings.empty());
  for (const auto& lock : lease.locks) EXPECT_NE(fcntl(lock.get(), F_GETFD) & FD_CLOEXEC, 0);
}

TEST(LeasePorts, TwoLeasesAtOnceNeverShareAPort) {
  std::vector<std::string> warnings;
  PortWish wish = wish_for(100);
  wish.range = {{21000, 21999}};
  std::vector<PortLease> leases;
  std::set<int> all;
  for (int launcher = 0; launcher < 4; ++launcher) {
    leases.push_back(lease_ports(wish, warnings));
    for (const int port : ports_of(leases.back())) EXPECT_TRUE(all.insert(port).second) << port;
  }
  EXPECT_EQ(all.size(), 404U);
}

TEST(LeasePorts, ALeaseThatEndsGivesItsPortsBack) {
  const int port = Listener().port;
  std::vector<std::string> warnings;
  std::ignore = lease_ports(wish_from(1, port), warnings);
  EXPECT_EQ(lease_ports(wish_from(1, port), warnings).trainers, std::vector<int>{port});
}

TEST(LeasePorts, SkipsPortsInUse) {
  const Listener listener;
  PortWish wish = wish_for(1);
  wish.range = {{listener.port, listener.port}};
  EXPECT_TRUE(says(launch_error(wish), "2 needed")) << launch_error(wish);
  EXPECT_TRUE(says(launch_error(wish), "0 free in")) << launch_error(wish);
}

TEST(LeasePorts, WhereReservationsLeaveTooFewTheBindTestDecidesAndTheHolderIsNamed) {
  std::vector<std::string> warnings;
  PortWish wish = wish_for(3);
  wish.range = {{22010, 22013}};
  const PortLease other = lease_ports(wish, warnings);
  ASSERT_EQ(warnings, std::vector<std::string>());
  const PortLease lease = lease_ports(wish, warnings);
  EXPECT_EQ(ports_of(lease).size(), 4U);
  ASSERT_EQ(warnings.size(), 1U);
  const std::string holder = "is reserved by process " + std::to_string(getpid()) + " (";
  EXPECT_TRUE(says(warnings[0], holder)) << warnings[0];
}

TEST(LeasePorts, OwnPortsAreNotTakenTwiceWhereReservationsLeaveTooFew) {
  std::vector<std::string> warnings;
  PortWish wish = wish_from(2, 22020);
  wish.range = {{22020, 22021}};
  EXPECT_TRUE(says(launch_error(wish), "0 free in")) << launch_error(wish);
}

TEST(LeasePorts, TooSmallARangeIsALaunchErrorWithItsNumbers) {
  PortWish wish = wish_for(4);
  wish.range = {{22000, 22001}};
  const auto text = launch_error(wish);
  EXPECT_TRUE(says(text, "not enough free ports: 5 needed")) << text;
  EXPECT_TRUE(says(text, "in 22000-22001")) << text;
  EXPECT_TRUE(says(text, "--port_range=LOW:HIGH")) << text;
}

TEST(LeasePorts, AnEphemeralRangeOverEverythingStillGivesFreePortsWithOneWarning) {
  const FakeRoot proc;
  proc.write("sys/net/ipv4/ip_local_port_range", "1024\t65535\n");
  std::vector<std::string> warnings;
  const auto lease = lease_ports(wish_for(3), warnings, proc.path());
  EXPECT_EQ(ports_of(lease).size(), 4U);
  ASSERT_EQ(warnings.size(), 1U);
  EXPECT_TRUE(says(warnings[0], "1024-65535")) << warnings[0];
  EXPECT_TRUE(says(warnings[0], "--port_range")) << warnings[0];
}

TEST(LeasePorts, ThereIsOneForTheStoreWhereOneIsLeft) {
  std::vector<std::string> warnings;
  PortWish wish = wish_for(2);
  EXPECT_EQ(lease_ports(wish, warnings).store, 0);
  wish.store = true;
  const auto lease = lease_ports(wish, warnings);
  EXPECT_NE(lease.store, 0);
  EXPECT_EQ(ports_of(lease).count(lease.store), 0U);
  EXPECT_EQ(lease.locks.size(), 4U);
}

TEST(LeasePorts, AStartNamesTheFirstTrainersPort) {
  std::vector<std::string> warnings;
  const auto free = lease_ports(wish_for(1), warnings).trainers[0];
  const auto lease = lease_ports(wish_from(1, free), warnings);
  EXPECT_EQ(lease.trainers, std::vector<int>{free});
  EXPECT_NE(lease.master, free);
}

TEST(LeasePorts, AStartWhosePortsDoNotExistIsWrongUse) {
  std::vector<std::string> warnings;
  EXPECT_THROW(lease_ports(wish_from(9, 65530), warnings), UsageError);
  EXPECT_THROW(lease_ports(wish_from(1, 0), warnings), UsageError);
  PortWish wish = wish_for(1);
  wish.range = {{30000, 20000}};
  EXPECT_THROW(lease_ports(wish, warnings), UsageError);
}

TEST(LeasePorts, AnOccupiedStartNamesItsOwner) {
  const Listener listener;
  const auto text = launch_error(wish_from(1, listener.port));
  EXPECT_TRUE(says(text, "port " + std::to_string(listener.port) + " of trainer 0")) << text;
  EXPECT_TRUE(says(text, "--start_port=" + std::to_string(listener.port))) << text;
  EXPECT_TRUE(says(text, "is in use by process " + std::to_string(getpid()) + " (")) << text;
}

TEST(LeasePorts, APortOfAnotherLauncherNamesThatLauncher) {
  std::vector<std::string> warnings;
  const auto lease = lease_ports(wish_for(1), warnings);
  const auto text = launch_error(wish_from(1, lease.trainers[0]));
  EXPECT_TRUE(says(
      text, "is reserved by another paddle-launch, process " + std::to_string(getpid()) + " ("))
      << text;
}

TEST(LeasePorts, AStartInTimeWaitIsFine) {
  int port = 0;
  {
    const Listener listener;
    port = listener.port;
    auto address = loopback(port);
    const UniqueFd client(socket(AF_INET, SOCK_STREAM, 0));
    ASSERT_EQ(connect(client.get(), reinterpret_cast<sockaddr*>(&address), sizeof address), 0);
    UniqueFd served(accept(listener.fd.get(), nullptr, nullptr));
    served.reset();  // the server's side closes first and goes into TIME_WAIT
    char byte = 0;
    EXPECT_EQ(read(client.get(), &byte, 1), 0);
  }
  std::vector<std::string> warnings;
  EXPECT_EQ(lease_ports(wish_from(1, port), warnings).trainers, std::vector<int>{port});
}

TEST(PortCandidates, GoDownTo10000OnlyWhereTheEphemeralRangeLeavesNoChoice) {
  const FakeRoot proc;
  std::vector<std::string> warnings;
  using Spans = std::vector<PortSpan>;
  const auto spans = [&](const std::string& range) {
    proc.write("sys/net/ipv4/ip_local_port_range", range);
    return port_candidates(wish_for(8), 9, warnings, proc.path());
  };
  EXPECT_EQ(spans("32768\t60999\n"), (Spans{{20000, 32767}, {61000, 65535}}));
  EXPECT_EQ(spans("16384 65535\n"), (Spans{{10000, 16383}}));
  EXPECT_EQ(spans("1024 50000\n"), (Spans{{50001, 65535}}));
  EXPECT_EQ(spans("nonsense"), (Spans{{20000, 32767}, {61000, 65535}}));
  EXPECT_TRUE(warnings.empty());
  EXPECT_EQ(spans("1024 65530\n"), (Spans{{20000, 65535}}));
  EXPECT_EQ(warnings.size(), 1U);
}

TEST(PortCandidates, SpansAreCountedAsOneRow) {
  const std::vector<PortSpan> spans{{10, 12}, {20, 21}};
  EXPECT_EQ(count_ports(spans), 5);
  EXPECT_EQ(port_at(spans, 2), 12);
  EXPECT_EQ(port_at(spans, 3), 20);
  EXPECT_EQ(format_spans(spans), "10-12, 20-21");
}

TEST(DescribePortOwner, NamesTheUserWhereTheProcessIsHidden) {
  const FakeRoot proc;
  proc.write(
      "net/tcp",
      "  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout "
      "inode\n"
      "   0: 0100007F:17B6 0100007F:9C40 01 00000000:00000000 00:00000000 00000000  1000  0 7 1\n"
      "   1: 00000000:17B6 00000000:0000 0A 00000000:00000000 00:00000000 00000000  1001  0 8 1\n"
      "   2: 0100007F:17B7 0100007F:9C40 06 00000000:00000000 00:00000000 00000000  0  0 0 1\n");
  EXPECT_EQ(describe_port_owner(6070, proc.path()), "a process of user id 1001");
  EXPECT_TRUE(says(describe_port_owner(6071, proc.path()), "TIME_WAIT"));
  EXPECT_EQ(describe_port_owner(6072, proc.path()), "an unknown process");
}

TEST(DescribePortOwner, ShowsCommandsWithoutControlBytes) {
  const FakeRoot proc;
  proc.write("net/unix",
             "Num RefCount Protocol Flags Type St Inode Path\n0: 2 0 0 0002 01 77 "
             "@paddle-launch/port/6070\n");
  proc.write("42/cmdline", std::string("fleet\x1b[31m\0train.py\0", 19));
  std::filesystem::create_directories(proc.path() + "/42/fd");
  ASSERT_EQ(symlink("socket:[77]", (proc.path() + "/42/fd/5").c_str()), 0);
  EXPECT_EQ(describe_lock_owner(6070, proc.path()), "process 42 (fleet?[31m train.py)");
  EXPECT_EQ(describe_lock_owner(607, proc.path()), "an unknown process");
}

}  // namespace
}  // namespace paddle_launch
