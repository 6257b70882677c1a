// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "launcher/channel/judge.h"
#include "tests/unit/channel/sample_messages.h"

namespace paddle_launch {
namespace {

PodOffer with_trainers(std::size_t trainers) {
  PodOffer pod;
  pod.host = "n1";
  pod.trainers.resize(trainers);
  return pod;
}

PodOffer with_roles(const std::vector<ProcessName>& names) {
  PodOffer pod;
  pod.host = "n1";
  for (const ProcessName& name : names) {
    pod.roles.push_back({.role = name.role, .stage = 1, .index = name.index, .port = 0});
  }
  return pod;
}

std::vector<std::string> hosts(const Roster& roster) {
  std::vector<std::string> hosts;
  for (const PodAccount& account : open_accounts(roster)) hosts.push_back(account.host);
  return hosts;
}

TEST(OpenAccounts, KnowWhoHasWhichProcesses) {
  const Roster roster{.pods = {with_trainers(2), with_trainers(1)}};
  const std::vector<PodAccount> accounts = open_accounts(roster);
  EXPECT_EQ(accounts.at(0).names, names_of(Role::Trainer, {0, 1}));
  EXPECT_EQ(accounts.at(1).names, names_of(Role::Trainer, {2}));
  EXPECT_EQ(hosts(roster), (std::vector<std::string>{"n1", "n1"}));
}

TEST(OpenAccounts, TellLaunchersOfOneNodeApart) {
  const Roster roster{.pods = {with_trainers(2), with_trainers(2), with_trainers(1)},
                      .node_of = {0, 0, 0}};
  EXPECT_EQ(hosts(roster),
            (std::vector<std::string>{"n1 (launcher of ranks 0 to 1)",
                                      "n1 (launcher of ranks 2 to 3)", "n1 (launcher of rank 4)"}));
}

TEST(OpenAccounts, NameEveryRoleOfALauncher) {
  const Roster roster{
      .pods = {with_roles({{Role::Trainer, 0}, {Role::Server, 0}, {Role::Trainer, 1}}),
               with_roles({{Role::Server, 4}, {Role::Server, 1}, {Role::Server, 3}}),
               with_roles({{Role::HeterWorker, 0}}), with_roles({})},
      .node_of = {0, 0, 0, 0}};
  EXPECT_EQ(hosts(roster),
            (std::vector<std::string>{
                "n1 (launcher of server 0 and ranks 0 to 1)", "n1 (launcher of servers 1, 3 to 4)",
                "n1 (launcher of heter worker 0)", "n1 (launcher without processes)"}));
}

}  // namespace
}  // namespace paddle_launch
