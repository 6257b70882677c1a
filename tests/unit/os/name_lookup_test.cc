// SPDX-License-Identifier: Apache-2.0
#include "launcher/os/name_lookup.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <stdexcept>
#include <tuple>

#include <gtest/gtest.h>

#include "launcher/os/processes.h"
#include "launcher/text/ipv4.h"

namespace paddle_launch {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using std::chrono::steady_clock;

NameAnswer hang(const std::string& /*host*/) {
  for (;;) pause();
}

bool is_readable(const NameLookup& lookup, int patience_ms = 30'000) {
  pollfd waiting{lookup.fd(), POLLIN, 0};
  return poll(&waiting, 1, patience_ms) == 1;
}

// A killed child may need longer to die on a busy machine; then a later look-up reaps it.
bool no_children_are_left() {
  for (const auto until = steady_clock::now() + seconds(30); steady_clock::now() < until;) {
    if (children_of_this_process().empty()) return true;
    NameLookup("other", [](const std::string&) { return NameAnswer{}; });
  }
  return false;
}

TEST(NameLookup, AnAddressIsThereAtOnceAndNeedsNoChild) {
  NameLookup lookup("10.0.0.7");
  EXPECT_TRUE(is_readable(lookup, 0));
  EXPECT_TRUE(children_of_this_process().empty());
  EXPECT_EQ(lookup.addresses(), std::vector<std::uint32_t>{0x0a000007U});
  EXPECT_EQ(lookup.problem(), "");
}

TEST(NameLookup, WhatIsNeitherAddressNorNameIsRefusedAtOnce) {
  for (const char* host : {"10.1", "10.0.0.256", "7", ""}) {
    NameLookup lookup(host);
    EXPECT_TRUE(is_readable(lookup, 0)) << host;
    EXPECT_TRUE(lookup.addresses().empty()) << host;
    EXPECT_NE(lookup.problem(), "") << host;
  }
}

TEST(NameLookup, FindsANameOfTheHostsFileInAChildThatIsGoneAfterwards) {
  {
    NameLookup lookup("LOCALHOST");
    EXPECT_NE(fcntl(lookup.fd(), F_GETFD) & FD_CLOEXEC, 0);
    ASSERT_TRUE(is_readable(lookup));
    EXPECT_EQ(lookup.addresses(), std::vector<std::uint32_t>{kLoopback});
    EXPECT_EQ(lookup.addresses(), std::vector<std::uint32_t>{kLoopback}) << "asked twice";
  }
  EXPECT_TRUE(no_children_are_left());
}

TEST(NameLookup, AnUnknownNameComesWithTheResolversReason) {
  NameLookup lookup("no-such-host.invalid");
  ASSERT_TRUE(is_readable(lookup));
  EXPECT_TRUE(lookup.addresses().empty());
  EXPECT_NE(lookup.problem(), "");
}

TEST(NameLookup, KeepsTheOrderAndBoundsTheNumberOfAddresses) {
  NameAnswer many;
  for (std::uint32_t i = 0; i < 1000; ++i) many.addresses.push_back(0xfffffffeU - i);
  NameLookup lookup("many", [&many](const std::string&) { return many; });
  ASSERT_TRUE(is_readable(lookup));
  const auto found = lookup.addresses();
  ASSERT_GE(found.size(), 100U);
  EXPECT_EQ(found, std::vector<std::uint32_t>(
                       many.addresses.begin(),
                       many.addresses.begin() + static_cast<std::ptrdiff_t>(found.size())));
}

TEST(NameLookup, AChildThatDiesIsAProblemAndNotAnAnswer) {
  NameLookup crashed("n1", [](const std::string&) -> NameAnswer {
    kill(getpid(), SIGKILL);
    return {};
  });
  NameLookup threw("n1", [](const std::string&) -> NameAnswer { throw std::runtime_error("no"); });
  for (NameLookup* lookup : {&crashed, &threw}) {
    ASSERT_TRUE(is_readable(*lookup));
    EXPECT_TRUE(lookup->addresses().empty());
    EXPECT_EQ(lookup->problem(), "the look-up ended without an answer");
  }
}

TEST(NameLookup, ANameThatHangsIsDroppedAtOnceAndLeavesNoProcess) {
  const auto before = steady_clock::now();
  {
    const NameLookup lookup("silent", hang);
    EXPECT_EQ(children_of_this_process().size(), 1U);
    EXPECT_FALSE(is_readable(lookup, 0));
  }
  EXPECT_LT(steady_clock::now() - before, seconds(2));
  EXPECT_TRUE(no_children_are_left());
}

TEST(NameLookup, LeavesOtherChildrenToTheirOwner) {
  const pid_t other = fork();
  if (other == 0) _exit(7);
  std::ignore = NameLookup("silent", hang);
  int status = 0;
  EXPECT_EQ(waitpid(other, &status, 0), other);
  EXPECT_EQ(WEXITSTATUS(status), 7);
}

TEST(NameLookup, AnAnswerArrivesThoughSomebodyElseReapedTheChild) {
  NameLookup lookup("n1", [](const std::string&) { return NameAnswer{{kLoopback}, ""}; });
  EXPECT_GT(waitpid(-1, nullptr, 0), 0);
  EXPECT_EQ(lookup.addresses(), std::vector<std::uint32_t>{kLoopback});
}

TEST(NameLookup, WhereNoChildCanBeMadeThatIsTheProblem) {
  // In a process of its own, as an ordinary user: root has no such limit.
  const pid_t pid = fork();
  if (pid == 0) {
    const rlimit none{0, 0};
    if (geteuid() == 0 && setuid(65534) != 0) _exit(1);
    if (setrlimit(RLIMIT_NPROC, &none) != 0) _exit(1);
    NameLookup lookup("n1", hang);
    const bool told = is_readable(lookup, 0) && lookup.addresses().empty() &&
                      lookup.problem().starts_with("cannot start the look-up: fork");
    _exit(told ? 0 : 1);
  }
  int status = 0;
  waitpid(pid, &status, 0);
  EXPECT_EQ(status, 0);
}

TEST(LookUp, AnswersEachHostInTheOrderOfTheQuestions) {
  std::vector<std::string> hosts;
  for (int i = 0; i < 100; ++i) hosts.push_back(format_ipv4(0x0a000000U + unsigned(i)));
  hosts[40] = "LOCALHOST";
  hosts[70] = "10.1";
  const auto answers = look_up(hosts, seconds(30));
  ASSERT_EQ(answers.size(), 100U);
  EXPECT_EQ(answers[39], (NameAnswer{{0x0a000027U}, ""}));
  EXPECT_EQ(answers[40], (NameAnswer{{kLoopback}, ""}));
  EXPECT_EQ(answers[70], (NameAnswer{{}, "this is no IPv4 address"}));
  EXPECT_TRUE(no_children_are_left());
}

TEST(LookUp, StopsWhenItsTimeIsOver) {
  const auto answers = look_up({"n1", "n2"}, milliseconds(0));
  ASSERT_EQ(answers.size(), 2U);
  EXPECT_EQ(answers[1], (NameAnswer{{}, "no answer within 0 ms"}));
}

}  // namespace
}  // namespace paddle_launch
