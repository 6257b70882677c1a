// SPDX-License-Identifier: Apache-2.0
// docs/decisions/0035: why a log belongs to one job, and who waits for whom.
#include "launcher/run/guard_logs.h"

#include <sys/stat.h>
#include <unistd.h>

#include <utility>

#include <fmt/format.h>

#include "launcher/job/errors.h"
#include "launcher/os/files.h"
#include "launcher/run/log_directory.h"
#include "launcher/site/log_place.h"

namespace paddle_launch {
namespace {

constexpr std::chrono::seconds kBeyondTheGrace{5};
constexpr std::chrono::milliseconds kBetweenTries{50};
// A launcher that was just told to stop has not told its guard yet.
constexpr std::chrono::milliseconds kUntilRefused{1000};

}  // namespace

bool GuardLogs::open() {
  if (!settings_.log_dir.empty()) prepare_log_directory(settings_.log_dir);
  // All logs of a pod are in one folder, which may be one of the node below that of the job.
  const std::string first = plan_.processes.empty() ? "" : plan_.processes.front().log_path;
  if (!first.empty()) prepare_log_directory(first.substr(0, first.rfind('/')));
  for (const ProcessSpec& spec : plan_.processes) {
    logs_.push_back(spec.log_path.empty() ? UniqueFd() : open_log(spec.log_path));
  }
  lock();
  if (!goes_on_) return false;
  if (settings_.log_overwrite) empty();
  write_files();
  return true;
}

std::int64_t GuardLogs::begins_at(std::size_t worker) const {
  struct stat status {};
  return logs_[worker] && fstat(logs_[worker].get(), &status) == 0 ? status.st_size : 0;
}

// A full disk may cost us our own line, never the job.
void GuardLogs::write_start_line(std::size_t worker) const {
  const int log = logs_[worker].get();
  if (log < 0) return;
  const std::string& line = settings_.start_lines[worker];
  const std::string text = ends_unfinished(log) ? "\n" + line : line;
  [[maybe_unused]] const ssize_t written = write(log, text.data(), text.size());
}

void GuardLogs::lock() {
  bool is_told = false;
  for (std::size_t i = 0; i < logs_.size() && goes_on_; ++i) {
    if (!logs_[i]) continue;
    const LockTry result = try_lock(logs_[i].get(), settings_.grace);
    if (result == LockTry::Taken) wait_for_holder(i);
    if (result != LockTry::NotSupported || std::exchange(is_told, true)) continue;
    guard_.say(
        GuardReport::Kind::Warns,
        fmt::format("the disk of {} has no locks: nobody sees to it that no other job writes there",
                    settings_.log_dir));
  }
}

// Who only stops is waited for. A job that runs since an earlier round goes on in any case.
void GuardLogs::wait_for_holder(std::size_t index) {
  if (shares_logs_) return;
  const std::string& path = plan_.processes[index].log_path;
  const auto began = Clock::now();
  while (goes_on_ && try_lock(logs_[index].get(), settings_.grace) == LockTry::Taken) {
    const auto holder = holder_of(logs_[index].get());
    const bool may_let_go = !holder || holder->may_let_go;
    if (holder && may_let_go && !logs_free_until_) {
      const auto patience = holder->grace + kBeyondTheGrace;
      logs_free_until_ = Clock::now() + patience;
      guard_.say(GuardReport::Kind::WaitsFor,
                 fmt::format("waiting for {} to let go of the log {}, {} s at most", holder->text,
                             path, std::chrono::ceil<std::chrono::seconds>(patience).count()));
    }
    const auto now = Clock::now();
    if (holder && now >= (may_let_go ? *logs_free_until_ : began + kUntilRefused)) {
      const std::string text = fmt::format("the log {} is in use by {}", path, holder->text);
      if (settings_.must_own_logs) {
        throw UsageError(text +
                         "; wait for its end, or give this job a directory of its own with "
                         "--log_dir=NAME");
      }
      if (!std::exchange(shares_logs_, true)) guard_.say(GuardReport::Kind::Warns, text);
      return;
    }
    goes_on_ = guard_.goes_on(kBetweenTries);
  }
}

void GuardLogs::empty() const {
  for (const UniqueFd& log : logs_) {
    // A disk that is full or broken is told by whoever writes.
    [[maybe_unused]] const int result = log ? ftruncate(log.get(), 0) : 0;
  }
}

void GuardLogs::write_files() {
  if (settings_.is_named) {
    if (const auto problem = point_latest_to(settings_.log_dir))
      guard_.say(GuardReport::Kind::Warns, *problem);
  }
  for (const PodFile& file : settings_.files) {
    const auto problem = replace_file(file.path, file.text, file.mode);
    if (problem && file.is_needed) throw LaunchError(*problem);
    if (problem) guard_.say(GuardReport::Kind::Warns, *problem + "; the job goes on without it");
  }
}

}  // namespace paddle_launch
