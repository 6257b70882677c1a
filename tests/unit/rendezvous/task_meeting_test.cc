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
#include "launcher/os/files.h"
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

TEST_F(TaskMeetingTest, TellsWhyAPluginCannotBeUsed) {
  TaskMeeting meeting(loop_, settings("unusable"));
  EXPECT_EQ(meeting.open(), std::nullopt);
  EXPECT_NE(meeting.reasons().find(".so: the fake was asked to be unusable"), std::string::npos);
}

// Copies of the fake as pmix.so, with mpi.so inside it, that write down how they are called.
class MpiInPmixTest : public TaskMeetingTest {
 protected:
  MpiInPmixTest() {
    for (const char* name : {"mpi.so", "pmix.so"}) {
      std::filesystem::copy_file(FAKE_BOOTSTRAP_DIR "/fake_bootstrap.so", folder_.path(name));
    }
    setenv("FAKE_BOOTSTRAP_LOG", folder_.path("calls").c_str(), 1);
  }
  ~MpiInPmixTest() override { unsetenv("FAKE_BOOTSTRAP_LOG"); }

  TaskMeetingSettings both(const std::string& fake) {
    TaskMeetingSettings both = settings(fake);
    both.order.plugins = {"pmix", "mpi"};
    both.order.directories = {folder_.path("")};
    both.note = [this](const std::string& text) { notes_ += text + "\n"; };
    return both;
  }

  // The calls of a whole meeting, after its first gather.
  std::string calls_of(TaskMeeting& meeting, bool with_ids) {
    EXPECT_EQ(meeting.open(), (TaskNumber{0, 1}));
    EXPECT_EQ(meeting.gather("mine"), std::vector<std::string>{"mine"});
    if (with_ids) meeting.expect_ids();
    std::filesystem::remove(folder_.path("calls"));
    EXPECT_EQ(meeting.gather("more"), std::vector<std::string>{"more"});
    EXPECT_EQ(meeting.share("of task 0"), "of task 0");
    meeting.begin_close();
    meeting.wait_for_end();
    EXPECT_EQ(said_, "");
    return read_file(folder_.path("calls")).value_or("");
  }

  TempFolder folder_;
  std::string notes_;
};

TEST_F(MpiInPmixTest, IsNotOpenedWhereThereAreNoIdsToShare) {
  TaskMeeting meeting(loop_, both("good"));
  EXPECT_EQ(calls_of(meeting, false), "pmix.so gather\npmix.so broadcast\npmix.so close\n");
}

TEST_F(MpiInPmixTest, CarriesTheIdsBetweenTwoGathersThatHoldEverybody) {
  TaskMeeting meeting(loop_, both("good"));
  EXPECT_EQ(calls_of(meeting, true),
            "pmix.so gather\nmpi.so open\npmix.so gather\nmpi.so broadcast\npmix.so gather\n"
            "mpi.so close\npmix.so close\n");
  EXPECT_NE(notes_.find("mpi.so is a fake\npmix.so is a fake\n"), std::string::npos) << notes_;
}

TEST_F(MpiInPmixTest, TakesLeaveForBothWhereTheyShareAConnection) {
  TaskMeeting meeting(loop_, both("inner_takes_leave"));
  const std::string calls = calls_of(meeting, true);
  EXPECT_TRUE(calls.ends_with("pmix.so gather\nmpi.so close\n")) << calls;
}

TEST_F(MpiInPmixTest, IsNotMissedWhereNobodyHasIt) {
  std::filesystem::remove(folder_.path("mpi.so"));
  TaskMeeting meeting(loop_, both("good"));
  EXPECT_EQ(calls_of(meeting, true), "pmix.so gather\npmix.so broadcast\npmix.so close\n");
  EXPECT_EQ(meeting.remark(), "");
  EXPECT_NE(notes_.find("MPI is not used: 1 of the tasks cannot use it, the first on n1 ("),
            std::string::npos)
      << notes_;
}

TEST_F(MpiInPmixTest, IsOpenedWhereItWasAskedForAndMissedWhereItCannotBe) {
  TaskMeetingSettings asked = both("good");
  asked.order.must_use_mpi = true;
  TaskMeeting meeting(loop_, asked);
  EXPECT_NE(calls_of(meeting, false).find("mpi.so broadcast"), std::string::npos);
  std::filesystem::remove(folder_.path("mpi.so"));
  TaskMeeting without(loop_, asked);
  without.open();
  EXPECT_THROW(without.gather("mine"), AlreadyTold);
  EXPECT_NE(said_.find("--bootstrap=mpi: 1 of the tasks cannot use it"), std::string::npos);
}

TEST_F(MpiInPmixTest, ServesAloneWherePmixIsMissingUnlessThereIsAnotherWay) {
  std::filesystem::remove(folder_.path("pmix.so"));
  TaskMeeting meeting(loop_, both("good"));
  EXPECT_EQ(calls_of(meeting, true), "mpi.so gather\nmpi.so broadcast\nmpi.so close\n");
  TaskMeetingSettings in_a_step = both("good");
  in_a_step.order.never_mpi_alone = true;
  TaskMeeting none(loop_, in_a_step);
  EXPECT_EQ(none.open(), std::nullopt);
}

}  // namespace
}  // namespace paddle_launch
