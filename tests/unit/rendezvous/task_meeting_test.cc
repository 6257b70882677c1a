// SPDX-License-Identifier: Apache-2.0
#include "launcher/rendezvous/task_meeting.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/socket.h>

#include <array>
#include <cstdlib>
#include <filesystem>

#include <gtest/gtest.h>

#include "launcher/job/errors.h"
#include "tests/unit/temp_folder.h"

namespace paddle_launch {
namespace {

using std::chrono::milliseconds;

class TaskMeetingTest : public ::testing::Test {
 protected:
  ~TaskMeetingTest() override { unsetenv("FAKE_BOOTSTRAP"); }

  TaskMeetingSettings settings(const std::string& fake,
                               milliseconds timeout = milliseconds(30000)) {
    setenv("FAKE_BOOTSTRAP", fake.c_str(), 1);
    return {
        .order = {.plugins = {"fake_bootstrap"}, .directories = {FAKE_BOOTSTRAP_DIR}, .host = "n1"},
        .timeout = timeout,
        .scheduler = "mpirun",
        .error = [this](const std::string& text) { said_ += text; }};
  }

  int status_of_open(TaskMeetingSettings settings) {
    TaskMeeting meeting(loop_, std::move(settings));
    try {
      meeting.open();
    } catch (const AlreadyTold& told) {
      return told.status;
    }
    return 0;
  }

  EventLoop loop_;
  std::string said_;
};

TEST_F(TaskMeetingTest, GathersAndSharesThroughTheChild) {
  TaskMeeting meeting(loop_, settings("good"));
  EXPECT_EQ(meeting.open(), (TaskNumber{0, 1}));
  const std::string large(300'000, 'x');
  EXPECT_EQ(meeting.gather(large), std::vector<std::string>{large});
  EXPECT_EQ(meeting.gather(""), std::vector<std::string>{""});
  EXPECT_EQ(meeting.share("of task 0"), "of task 0");
  meeting.begin_close();
  meeting.wait_for_end();
  EXPECT_EQ(said_, "");
}

TEST_F(TaskMeetingTest, NamesEveryPathWhenNothingCanBeLoaded) {
  TaskMeetingSettings nothing = settings("good");
  nothing.order.plugins = {"mpi-nowhere", "pmix-nowhere"};
  TaskMeeting meeting(loop_, nothing);
  EXPECT_EQ(meeting.open(), std::nullopt);
  EXPECT_NE(meeting.reasons().find("mpi-nowhere.so: no such file"), std::string::npos);
  EXPECT_NE(meeting.reasons().find("pmix-nowhere.so: no such file"), std::string::npos);
}

TEST_F(TaskMeetingTest, RefusesAPluginOfAnotherInterface) {
  TaskMeeting meeting(loop_, settings("other_abi"));
  EXPECT_EQ(meeting.open(), std::nullopt);
  EXPECT_NE(meeting.reasons().find("version 99 of the plugin interface"), std::string::npos);
}

TEST_F(TaskMeetingTest, TellsTheReasonOfAPluginThatFails) {
  EXPECT_EQ(status_of_open(settings("fail")), 1);
  EXPECT_NE(said_.find("joining the other tasks through a fake: the fake was asked to fail"),
            std::string::npos)
      << said_;
}

TEST_F(TaskMeetingTest, TellsWhatItDidWhenItCrashed) {
  EXPECT_EQ(status_of_open(settings("crash")), 1);
  EXPECT_NE(said_.find("joining the other tasks through a fake, and it was ended by signal 6"),
            std::string::npos)
      << said_;
}

TEST_F(TaskMeetingTest, GivesUpOnACallThatHangsAndNamesStepAndHost) {
  EXPECT_EQ(status_of_open(settings("hang", milliseconds(300))), kNodeMissingStatus);
  EXPECT_NE(said_.find("on n1 is still joining the other tasks through a fake"), std::string::npos)
      << said_;
}

TEST_F(TaskMeetingTest, LetsAPluginTakeItsLeaveWhenItsProcessExits) {
  const TempFolder folder;
  setenv("FAKE_BOOTSTRAP_LEAVE", folder.path("leave").c_str(), 1);
  TaskMeeting meeting(loop_, settings("good"));
  unsetenv("FAKE_BOOTSTRAP_LEAVE");
  meeting.open();
  EXPECT_FALSE(std::filesystem::exists(folder.path("leave")));
  meeting.begin_close();
  meeting.wait_for_end();
  EXPECT_TRUE(std::filesystem::exists(folder.path("leave")));
}

TEST_F(TaskMeetingTest, KeepsNoConnectionToMpiexecThatTheChildHas) {
  std::array<int, 2> ends{};
  ASSERT_EQ(socketpair(AF_UNIX, SOCK_STREAM, 0, ends.data()), 0);
  const UniqueFd mpiexec(ends[0]);
  TaskMeetingSettings with_pmi = settings("good");
  with_pmi.pmi = ends[1];
  TaskMeeting meeting(loop_, with_pmi);
  EXPECT_EQ(fcntl(ends[1], F_GETFD), -1);
  meeting.open();
  pollfd end{mpiexec.get(), POLLIN, 0};
  EXPECT_EQ(poll(&end, 1, 0), 0);  // the child has it
  meeting.begin_close();
  meeting.wait_for_end();
  EXPECT_EQ(poll(&end, 1, 0), 1);
}

// Open MPI 5 under srun: nobody can be asked in time who has it.
TEST_F(TaskMeetingTest, UsesPmixAloneWhereAllAreAskedAndMpiWouldHaveToOpenFirst) {
  const TempFolder folder;
  for (const char* name : {"mpi.so", "pmix.so"}) {
    std::filesystem::copy_file(FAKE_BOOTSTRAP_DIR "/fake_bootstrap.so", folder.path(name));
  }
  TaskMeetingSettings both = settings("mpi_opens_first");
  both.order.plugins = {"mpi", "pmix"};
  both.order.directories = {folder.path("")};
  EXPECT_EQ(status_of_open(both), 1);  // under mpirun it is opened, and this one fails
  said_.clear();
  both.order.all_are_asked = true;
  TaskMeeting meeting(loop_, both);
  EXPECT_EQ(meeting.open(), (TaskNumber{0, 1}));
  EXPECT_EQ(meeting.remark(), "");  // nobody can use it: it is not missed
  EXPECT_EQ(meeting.share("of task 0"), "of task 0");
  meeting.begin_close();
  meeting.wait_for_end();
  EXPECT_EQ(said_, "");
}

}  // namespace
}  // namespace paddle_launch
