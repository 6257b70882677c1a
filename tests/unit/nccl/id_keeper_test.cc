// SPDX-License-Identifier: Apache-2.0
// The keeper with a made-up NCCL, or none.
#include "launcher/nccl/id_keeper.h"

#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>

#include <gtest/gtest.h>

#include "launcher/nccl/libnccl.h"
#include "launcher/os/files.h"
#include "tests/unit/site/fake_root.h"

namespace paddle_launch {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using std::chrono::steady_clock;

// On a busy machine a killed process may outlive its object by a moment.
bool no_child_is_left() {
  const auto until = steady_clock::now() + seconds(20);
  while (waitpid(-1, nullptr, WNOHANG) >= 0 || errno != ECHILD) {
    if (steady_clock::now() > until) return false;
    usleep(1000);
  }
  return true;
}

// The fake reads the real environment, which the keeper inherits.
struct FakeWay {
  explicit FakeWay(const char* way) { setenv("FAKE_NCCL", way, 1); }
  FakeWay(const FakeWay&) = delete;
  FakeWay& operator=(const FakeWay&) = delete;
  ~FakeWay() { unsetenv("FAKE_NCCL"); }
};

class Fake : public ::testing::Test {
 protected:
  Fake() { unsetenv("NCCL_SOCKET_IFNAME"); }

  // `way`: in which the fake fails.
  NcclKeeper keeper(const char* way = "") {
    const FakeWay inherited(way);
    return NcclKeeper(search_);
  }

  NcclSearch search_{FAKE_NCCL_PATH, "", {{"NCCL_CONF_FILE", "/dev/null"}}};
};

std::string interface_in(const NcclIds& ids) { return ids.ids.front().c_str() + 1; }

TEST_F(Fake, AsManyIdsAsAskedForAllDifferentWithVersionAndFile) {
  NcclKeeper asked = keeper();
  asked.ask(3, "");
  const auto ids = asked.wait(seconds(20));
  ASSERT_TRUE(ids) << asked.problem();
  ASSERT_EQ(ids->ids.size(), 3U);
  EXPECT_NE(ids->ids[0], ids->ids[1]);
  EXPECT_NE(ids->ids[1], ids->ids[2]);
  EXPECT_EQ(ids->version, 22809);
  EXPECT_EQ(ids->library, FAKE_NCCL_PATH);
  EXPECT_EQ(interface_in(*ids), "none");
  EXPECT_EQ(asked.problem(), "");
}

TEST_F(Fake, AFixedAddressGivesOneIdHoweverManyAreWanted) {
  NcclKeeper asked = keeper("same");
  asked.ask(3, "");
  ASSERT_TRUE(asked.wait(seconds(20))) << asked.problem();
  EXPECT_EQ(asked.ids()->ids.size(), 1U);
}

TEST_F(Fake, TheInterfaceIsMatchedExactlyUnlessTheUserNamesOne) {
  NcclKeeper ours = keeper();
  ours.ask(1, "eth0");
  ASSERT_TRUE(ours.wait(seconds(20))) << ours.problem();
  EXPECT_EQ(interface_in(*ours.ids()), "=eth0");

  setenv("NCCL_SOCKET_IFNAME", "ib", 1);
  NcclKeeper users = keeper();
  unsetenv("NCCL_SOCKET_IFNAME");
  users.ask(1, "eth0");
  ASSERT_TRUE(users.wait(seconds(20))) << users.problem();
  EXPECT_EQ(interface_in(*users.ids()), "ib");
}

TEST_F(Fake, AConfigurationFileOfNcclsWinsOverTheLauncher) {
  const FakeRoot root;
  root.write("nccl.conf", "NCCL_SOCKET_IFNAME=ib\n");
  search_.env["NCCL_CONF_FILE"] = root.path() + "/nccl.conf";
  NcclKeeper asked = keeper();
  asked.ask(1, "eth0");
  ASSERT_TRUE(asked.wait(seconds(20))) << asked.problem();
  EXPECT_EQ(interface_in(*asked.ids()), "none") << "NCCL itself reads the file; the fake does not";
}

TEST_F(Fake, ALibraryWithoutTheFunctionIsNamedWithTheReason) {
  search_.given = FAKE_NCCL_WITHOUT_IDS_PATH;
  NcclKeeper asked = keeper();
  asked.ask(1, "");
  EXPECT_FALSE(asked.wait(seconds(20)));
  EXPECT_EQ(asked.problem(), std::string("no libnccl.so.2 can be used: ") +
                                 FAKE_NCCL_WITHOUT_IDS_PATH + ": no symbol ncclGetUniqueId");
}

TEST_F(Fake, AnErrorOfNcclsComesWithItsOwnWords) {
  NcclKeeper asked = keeper("error");
  asked.ask(1, "");
  EXPECT_FALSE(asked.wait(seconds(20)));
  EXPECT_EQ(asked.problem(), std::string("ncclGetUniqueId failed in ") + FAKE_NCCL_PATH +
                                 ": unhandled system error (fake: no interface found)");
}

TEST_F(Fake, AHangIsOverAtTheDeadlineAndTheProcessGoes) {
  const auto before = steady_clock::now();
  {
    NcclKeeper asked = keeper("hang");
    asked.ask(1, "");
    EXPECT_FALSE(asked.wait(milliseconds(3000)));
    EXPECT_NE(asked.problem().find("3000 ms"), std::string::npos) << asked.problem();
    EXPECT_NE(asked.problem().find("ncclGetUniqueId"), std::string::npos) << asked.problem();
  }
  EXPECT_LT(steady_clock::now() - before, seconds(10));
  EXPECT_TRUE(no_child_is_left());
}

TEST_F(Fake, ACrashIsToldWithItsSignal) {
  NcclKeeper asked = keeper("crash");
  asked.ask(1, "");
  EXPECT_FALSE(asked.wait(seconds(20)));
  EXPECT_TRUE(asked.problem().starts_with("the process that holds libnccl ended by SIG"))
      << asked.problem();
  EXPECT_TRUE(asked.problem().ends_with(" while making ids with ncclGetUniqueId"));
}

TEST_F(Fake, WhatIsNoLibraryIsAProblemInTheLoadersWords) {
  const FakeRoot root;
  root.write("libnccl.so.2", "this is no library");
  search_.given = root.path();
  NcclKeeper asked = keeper();
  asked.ask(1, "");
  EXPECT_FALSE(asked.wait(seconds(20)));
  EXPECT_EQ(asked.problem(),
            "no libnccl.so.2 can be used: " + root.path() + "/libnccl.so.2: file too short");
}

TEST_F(Fake, WithoutALibraryTheProblemIsKnownBeforeItIsAsked) {
  search_.given = "/nowhere/libnccl.so.2";
  NcclKeeper asked = keeper();
  EXPECT_FALSE(asked.wait(seconds(20)));
  EXPECT_TRUE(asked.problem().starts_with("--nccl_lib=/nowhere/libnccl.so.2: no such file"))
      << asked.problem();
  asked.ask(1, "");  // as nobody looked
  EXPECT_FALSE(asked.wait(seconds(20)));
}

TEST(OpenNccl, OfEachCandidateItSaysWhyNot) {
  const std::string no_such_name = "libnccl-none.so.2";
  const OpenedNccl opened = open_nccl({FAKE_NCCL_WITHOUT_IDS_PATH, no_such_name});
  EXPECT_FALSE(opened.library);
  EXPECT_EQ(opened.problem,
            std::string("no libnccl.so.2 can be used: ") + FAKE_NCCL_WITHOUT_IDS_PATH +
                ": no symbol ncclGetUniqueId; libnccl-none.so.2: cannot open shared object file: "
                "No such file or directory");
  EXPECT_TRUE(open_nccl({no_such_name, FAKE_NCCL_PATH}).library) << "the first that can be used";
}

TEST_F(Fake, SignalsOfTheTerminalAndOfSchedulersDoNotEndIt) {
  NcclKeeper asked = keeper();
  for (const int signal : {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGPIPE}) kill(asked.pid(), signal);
  asked.ask(1, "");
  EXPECT_TRUE(asked.wait(seconds(20))) << asked.problem();
  EXPECT_EQ(getsid(asked.pid()), asked.pid());
  EXPECT_EQ(read_file("/proc/" + std::to_string(asked.pid()) + "/comm"), "nccl keeper\n");
}

TEST_F(Fake, ItGoesWithItsObject) {
  {
    NcclKeeper asked = keeper();
    asked.ask(1, "");
    EXPECT_TRUE(asked.wait(seconds(20))) << asked.problem();
  }
  EXPECT_TRUE(no_child_is_left());
}

// In a child of the test: there stderr is a pipe.
std::string stderr_of_a_launcher(const NcclSearch& search) {
  std::array<int, 2> ends{};
  if (pipe(ends.data()) != 0) return "no pipe";
  std::fflush(nullptr);  // what the test has not printed yet is not the launcher's
  const pid_t launcher = fork();
  if (launcher == 0) {
    dup2(ends[1], STDERR_FILENO);
    NcclKeeper asked(search);
    asked.ask(1, "");
    _exit(asked.wait(seconds(20)) ? 0 : 1);  // without the object's end: as if it were killed
  }
  close(ends[1]);
  std::string text;
  char byte = 0;
  while (read(ends[0], &byte, 1) == 1) text += byte;
  close(ends[0]);
  waitpid(launcher, nullptr, 0);
  return text;
}

TEST_F(Fake, DebugLinesGoToTheLaunchersStderrIfAskedForAndTheKeeperDiesWithTheLauncher) {
  EXPECT_EQ(stderr_of_a_launcher(search_), "");
  search_.env["NCCL_DEBUG"] = "INFO";
  // The pipe's end is the proof: a keeper that lived on would hold it open.
  EXPECT_EQ(stderr_of_a_launcher(search_), "fake NCCL made an id\n");
}

}  // namespace
}  // namespace paddle_launch
