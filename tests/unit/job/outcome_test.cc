// SPDX-License-Identifier: Apache-2.0
#include <cerrno>
#include <csignal>

#include <gtest/gtest.h>

#include "launcher/job/ending.h"

namespace paddle_launch {
namespace {

TEST(ExitStatus, IsTheFailingWorkersOwnCode) {
  for (int code = 1; code < 256; ++code) EXPECT_EQ(exit_status(Failed{{.code = code}}), code);
}

TEST(ExitStatus, IsZeroWhenAllCompleted) { EXPECT_EQ(exit_status(Completed{}), 0); }

TEST(ExitStatus, AddsTheSignalTo128) {
  EXPECT_EQ(exit_status(Failed{{.signal = SIGSEGV}}), 139);
  EXPECT_EQ(exit_status(Interrupted{SIGTERM}), 143);
}

TEST(ExitStatus, TellsMissingProgramsFromUnusableOnes) {
  EXPECT_EQ(exit_status(NotStarted{.error = ENOENT, .step = NotStarted::Step::Execute}), 127);
  EXPECT_EQ(exit_status(NotStarted{.error = ENOEXEC, .step = NotStarted::Step::Execute}), 126);
  EXPECT_EQ(exit_status(NotStarted{.error = EAGAIN}), 1);
  EXPECT_EQ(exit_status(GuardLost{}), 1);
  EXPECT_EQ(exit_status(LauncherFailed{"a bug"}), 1);
}

}  // namespace
}  // namespace paddle_launch
