// SPDX-License-Identifier: Apache-2.0
#include "launcher/job/ending.h"

#include <cerrno>

#include "launcher/job/errors.h"

namespace paddle_launch {
namespace {

constexpr int kCannotExecute = 126;
constexpr int kNotFound = 127;

struct StatusOf {
  int operator()(const Completed&) const { return 0; }
  int operator()(const Failed& failed) const {
    return failed.first.signal != 0 ? kSignalBase + failed.first.signal : failed.first.code;
  }
  int operator()(const NotStarted& not_started) const {
    if (not_started.step != NotStarted::Step::Execute) return kLaunchErrorStatus;
    return not_started.error == ENOENT ? kNotFound : kCannotExecute;
  }
  int operator()(const Interrupted& interrupted) const { return kSignalBase + interrupted.signal; }
  int operator()(const GuardLost&) const { return kLaunchErrorStatus; }
  int operator()(const LauncherFailed&) const { return kLaunchErrorStatus; }
  int operator()(const JobStopped& stopped) const { return stopped.cause.status; }
};

}  // namespace

int exit_status(const Outcome& outcome) { return std::visit(StatusOf{}, outcome); }

}  // namespace paddle_launch
