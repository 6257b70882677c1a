// SPDX-License-Identifier: Apache-2.0
// Ports that the cluster has named one by one.
#include <netinet/in.h>
#include <sys/socket.h>

#include <gtest/gtest.h>

#include "launcher/job/errors.h"
#include "launcher/site/ports.h"

namespace paddle_launch {
namespace {

PortWish wish_for(int count, std::vector<int> given) {
  PortWish wish;
  wish.count = count;
  wish.given = std::move(given);
  wish.given_source = "DISTRIBUTED_TRAINER_ENDPOINTS";
  return wish;
}

std::vector<int> free_ports(int count) {
  std::vector<std::string> warnings;
  PortWish wish;
  wish.count = count;
  return lease_ports(wish, warnings).trainers;
}

template <class Error>
std::string error_of(const PortWish& wish) {
  std::vector<std::string> warnings;
  try {
    lease_ports(wish, warnings);
  } catch (const Error& error) {
    return error.what();
  }
  return "no error";
}

bool says(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

TEST(GivenPorts, TheFirstOfThemAreTheTrainers) {
  const auto ports = free_ports(4);
  std::vector<std::string> warnings;
  const auto lease = lease_ports(wish_for(3, {ports[3], ports[0], ports[2], ports[1]}), warnings);
  EXPECT_EQ(lease.trainers, (std::vector<int>{ports[3], ports[0], ports[2]}));
  EXPECT_EQ(lease.locks.size(), 4U);
  EXPECT_GT(lease.master, 0);
}

TEST(GivenPorts, TheyBeatAFirstPort) {
  const auto ports = free_ports(1);
  PortWish wish = wish_for(1, ports);
  wish.start = 1;
  std::vector<std::string> warnings;
  EXPECT_EQ(lease_ports(wish, warnings).trainers, ports);
}

TEST(GivenPorts, TooFewAreWrongUseWithBothNumbers) {
  const auto text = error_of<UsageError>(wish_for(8, {6170, 6171}));
  EXPECT_TRUE(says(text, "DISTRIBUTED_TRAINER_ENDPOINTS names 2 ports of this node for 8 trainers"))
      << text;
}

TEST(GivenPorts, ImpossibleAndRepeatedOnesAreWrongUse) {
  EXPECT_TRUE(says(error_of<UsageError>(wish_for(1, {65536})), "port 65536 of trainer 0"));
  EXPECT_TRUE(says(error_of<UsageError>(wish_for(1, {0})), "port 0 of trainer 0"));
  EXPECT_TRUE(says(error_of<UsageError>(wish_for(2, {6170, 6170})), "port 6170 of trainer 1 is"));
}

TEST(GivenPorts, AnOccupiedOneNamesTrainerSourceAndOwner) {
  const auto ports = free_ports(1);
  const UniqueFd listener(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_in address{};
  address.sin_family = AF_INET;
  socklen_t size = sizeof address;
  ASSERT_EQ(bind(listener.get(), reinterpret_cast<sockaddr*>(&address), size), 0);
  ASSERT_EQ(listen(listener.get(), 1), 0);
  ASSERT_EQ(getsockname(listener.get(), reinterpret_cast<sockaddr*>(&address), &size), 0);
  const int taken = ntohs(address.sin_port);
  const auto text = error_of<LaunchError>(wish_for(2, {ports[0], taken}));
  EXPECT_TRUE(says(text, "port " + std::to_string(taken) +
                             " of trainer 1 (DISTRIBUTED_TRAINER_ENDPOINTS) is in use by process " +
                             std::to_string(getpid())))
      << text;
}

TEST(GivenPorts, TheyAreReservedAmongLaunchers) {
  std::vector<std::string> warnings;
  const auto lease = lease_ports(wish_for(1, free_ports(1)), warnings);
  EXPECT_TRUE(says(error_of<LaunchError>(wish_for(1, lease.trainers)),
                   "is reserved by another paddle-launch, process"));
}

}  // namespace
}  // namespace paddle_launch
