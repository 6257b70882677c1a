// SPDX-License-Identifier: Apache-2.0
#include "launcher/run/guard.h"

#include <fcntl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <exception>
#include <map>
#include <utility>

#include <nlohmann/json.hpp>

#include "launcher/os/check.h"
#include "launcher/os/child.h"
#include "launcher/run/guard_process.h"
#include "launcher/tell/log_lines.h"
#include "launcher/tell/voice.h"

namespace paddle_launch {
namespace {

// Beyond what trainers may take to end.
constexpr std::chrono::seconds kToTakeItsLeave{5};

std::vector<std::string> make_start_lines(const ProcessPlan& plan) {
  const std::string now = timestamp();
  std::vector<std::string> lines;
  for (const ProcessSpec& spec : plan.processes) lines.push_back(log_start_line(plan, spec, now));
  return lines;
}

std::vector<PodFile> shared_files(const PodPlan& plan) {
  std::vector<PodFile> files;
  // Pods of one node share its directory.
  if (plan.first_on_node && !plan.log_dir.empty()) {
    files.push_back({.path = plan.log_dir + "/endpoints.log", .text = plan.endpoints_log});
  }
  if (plan.backup_path.empty()) return files;
  const nlohmann::json backup =
      std::map<std::string, std::string>(plan.backup_env.begin(), plan.backup_env.end());
  files.push_back(
      {.path = plan.backup_path, .text = backup.dump(), .mode = 0600, .is_needed = true});
  return files;
}

}  // namespace

GuardSettings guard_settings(const JobSpec& job, const PodPlan& plan, bool is_first_round) {
  return {.grace = job.grace,
          .log_dir = plan.log_dir,
          .log_overwrite = job.log_overwrite && is_first_round,
          .must_own_logs = is_first_round,
          .is_named = job.log_dir == kNamedLogs && plan.first_on_node && !plan.log_dir.empty() &&
                      is_first_round,
          .files = shared_files(plan),
          .start_lines = make_start_lines(plan.processes),
          .remove_at_end = plan.log_dir.empty() ? plan.backup_path : ""};
}

Guard::Guard(const ProcessPlan& plan, const GuardSettings& settings) : grace_(settings.grace) {
  std::array<int, 2> ends{};
  check(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, ends.data()),
        "socketpair");
  socket_.reset(ends[0]);
  UniqueFd guards_end(ends[1]);
  // A pidfd tells of our death even while some other child still holds a copy of the socket.
  UniqueFd launcher(static_cast<int>(syscall(SYS_pidfd_open, getpid(), 0)));
  if (launcher) fcntl(launcher.get(), F_SETFD, FD_CLOEXEC);
  pid_ = check(fork(), "fork the guard");
  if (pid_ != 0) return;
  socket_.reset();
  try {
    GuardProcess guard(plan, settings, std::move(guards_end), std::move(launcher));
    guard.run();
  } catch (const std::exception&) {
    _exit(1);  // the launcher sees the closed socket, and PDEATHSIG ends the trainers
  }
  _exit(0);
}

Guard::~Guard() {
  if (pid_ < 0 || !socket_) return;
  order(GuardOrder::Kind::Stop);
  if (is_gone_within(pid_, grace_ + kPatienceWithSigkill + kToTakeItsLeave)) return;
  kill(pid_, SIGKILL);
  is_gone_within(pid_, kPatienceWithGuard);
}

void Guard::wait_for_end() { is_gone_within(std::exchange(pid_, -1), kPatienceWithGuard); }

void Guard::order(GuardOrder::Kind kind, int signal) const {
  const GuardOrder order{kind, signal};
  // Orders are few and small: the buffer of the socket cannot fill. A guard that is gone is noticed
  // by receive().
  send(socket_.get(), &order, sizeof order, MSG_NOSIGNAL);
}

Guard::Reports Guard::receive() const {
  Reports result;
  std::array<GuardReport, kReportsInOneMessage> batch;
  static_assert(sizeof batch >= sizeof(GuardReport) + kLongestReportText);
  for (;;) {
    const ssize_t size = recv(socket_.get(), batch.data(), sizeof batch, 0);
    // The guard ended before it had read our last order: its reports are still there.
    if (size < 0 && (errno == EINTR || errno == ECONNRESET)) continue;
    if (size < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) return result;
    if (size <= 0) {
      result.guard_is_gone = true;
      return result;
    }
    if (has_text(batch[0].kind)) {
      const auto* const text = reinterpret_cast<const char*>(&batch[1]);
      const std::size_t length = static_cast<std::size_t>(size) - sizeof(GuardReport);
      result.words.push_back({batch[0].kind, std::string(text, length)});
      continue;
    }
    const auto count = static_cast<std::size_t>(size) / sizeof(GuardReport);
    result.reports.insert(result.reports.end(), batch.begin(),
                          batch.begin() + static_cast<long>(count));
  }
}

}  // namespace paddle_launch
