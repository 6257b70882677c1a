// SPDX-License-Identifier: Apache-2.0
// The guard before its first act: everything that a dead disk may hold up. The launcher waits for
// it in its loop, and no process is there yet that somebody would have to stop.
#include <poll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <exception>
#include <utility>

#include <fmt/format.h>

#include "launcher/job/errors.h"
#include "launcher/os/files.h"
#include "launcher/run/guard_process.h"
#include "launcher/run/log_directory.h"

namespace paddle_launch {
namespace {

constexpr std::chrono::seconds kBeyondTheGrace{5};
constexpr std::chrono::milliseconds kBetweenTries{50};
// A launcher that was just told to stop has not told its guard yet.
constexpr std::chrono::milliseconds kUntilRefused{1000};

std::int64_t size_of(int log) {
  struct stat status {};
  return log >= 0 && fstat(log, &status) == 0 ? status.st_size : 0;
}

}  // namespace

void GuardProcess::open_for_workers() {
  try {
    if (!settings_.log_dir.empty()) prepare_log_directory(settings_.log_dir);
    for (const ProcessSpec& spec : plan_.processes) {
      logs_.push_back(spec.log_path.empty() ? UniqueFd() : open_log(spec.log_path));
    }
    lock_logs();
    if (phase_ != Phase::Running) return;
    if (settings_.log_overwrite) empty_logs();
    write_files();
  } catch (const UsageError& error) {
    say(GuardReport::Kind::Refused, error.what());
    return stop();
  } catch (const std::exception& error) {
    say(GuardReport::Kind::Failed, error.what());
    return stop();
  }
  for (std::size_t i = 0; i < logs_.size(); ++i) {
    unsent_.push_back({.kind = GuardReport::Kind::LogBegins,
                       .worker = static_cast<std::int32_t>(i),
                       .log_begins = size_of(logs_[i].get())});
  }
  unsent_.push_back({.kind = GuardReport::Kind::Opened});
  send_reports();
  take_early_orders(std::chrono::milliseconds(0));
}

void GuardProcess::lock_logs() {
  bool is_told = false;
  for (std::size_t i = 0; i < logs_.size() && phase_ == Phase::Running; ++i) {
    if (!logs_[i]) continue;
    const LockTry result = try_lock(logs_[i].get(), settings_.grace);
    if (result == LockTry::Taken) wait_for_holder(i);
    if (result != LockTry::NotSupported || std::exchange(is_told, true)) continue;
    say(GuardReport::Kind::Warns,
        fmt::format("the disk of {} has no locks: nobody sees to it that no other job writes there",
                    settings_.log_dir));
  }
}

// Who only stops is waited for. A job that runs since an earlier round goes on in any case.
void GuardProcess::wait_for_holder(std::size_t index) {
  if (shares_logs_) return;
  const std::string& path = plan_.processes[index].log_path;
  const auto began = Clock::now();
  while (phase_ == Phase::Running &&
         try_lock(logs_[index].get(), settings_.grace) == LockTry::Taken) {
    const auto holder = holder_of(logs_[index].get());
    const bool may_let_go = !holder || holder->may_let_go;
    if (holder && may_let_go && !logs_free_until_) {
      const auto patience = holder->grace + kBeyondTheGrace;
      logs_free_until_ = Clock::now() + patience;
      say(GuardReport::Kind::WaitsFor,
          fmt::format("waiting for {} to let go of the log {}, {} s at most", holder->text, path,
                      std::chrono::ceil<std::chrono::seconds>(patience).count()));
    }
    const auto now = Clock::now();
    if (holder && now >= (may_let_go ? *logs_free_until_ : began + kUntilRefused)) {
      const std::string text = fmt::format("the log {} is in use by {}", path, holder->text);
      if (settings_.must_own_logs) {
        throw UsageError(text +
                         "; wait for its end, or give this job a directory of its own with "
                         "--log_dir=NAME");
      }
      if (!std::exchange(shares_logs_, true)) say(GuardReport::Kind::Warns, text);
      return;
    }
    take_early_orders(kBetweenTries);
  }
}

void GuardProcess::empty_logs() const {
  for (const UniqueFd& log : logs_) {
    // A disk that is full or broken is told by whoever writes.
    [[maybe_unused]] const int result = log ? ftruncate(log.get(), 0) : 0;
  }
}

void GuardProcess::write_files() {
  if (settings_.is_named) {
    if (const auto problem = point_latest_to(settings_.log_dir))
      say(GuardReport::Kind::Warns, *problem);
  }
  for (const PodFile& file : settings_.files) {
    const auto problem = replace_file(file.path, file.text, file.mode);
    if (problem && file.is_needed) throw LaunchError(*problem);
    if (problem) say(GuardReport::Kind::Warns, *problem + "; the job goes on without it");
  }
}

// Few and short: the buffer of the socket cannot fill.
void GuardProcess::say(GuardReport::Kind kind, const std::string& text) {
  GuardReport report{.kind = kind};
  std::string message(reinterpret_cast<const char*>(&report), sizeof report);
  message += text.substr(0, kLongestReportText);
  send(socket_.get(), message.data(), message.size(), MSG_NOSIGNAL);
}

// Whoever is told to stop before it has begun does not begin; the rest waits.
void GuardProcess::take_early_orders(std::chrono::milliseconds patience) {
  std::array<pollfd, 2> watched = {pollfd{socket_.get(), POLLIN, 0},
                                   pollfd{launcher_.get(), POLLIN, 0}};
  poll(watched.data(), watched.size(), static_cast<int>(patience.count()));
  if (watched[1].revents != 0) launcher_alive_ = false;
  GuardOrder order;
  ssize_t size = 0;
  while ((size = recv(socket_.get(), &order, sizeof order, MSG_DONTWAIT)) == sizeof order) {
    if (order.kind == GuardOrder::Kind::Stop || order.kind == GuardOrder::Kind::Kill) {
      obey(order);
    } else {
      early_orders_.push_back(order);
    }
  }
  if (size == 0) launcher_alive_ = false;
  if (!launcher_alive_) stop();
}

}  // namespace paddle_launch
