// SPDX-License-Identifier: Apache-2.0
// One turn of the console: messages of the launcher, then an order if one has come, then some of
// each followed log, then sleep: 5 ms while bytes come, 20 ms while a log is quiet but not watched
// yet, without end once inotify watches it. Writing to stdout may wait for its reader for ever;
// while it does, messages are still read, so the launcher's own lines go on. docs/architecture.md,
// "The processes".
#include "launcher/run/console_process.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdint>
#include <cstring>
#include <utility>

#include <fmt/format.h>

#include "launcher/os/clock.h"
#include "launcher/run/log_directory.h"

namespace paddle_launch {
namespace {

using Clock = std::chrono::steady_clock;

constexpr int kPipeBytes = 1024 * 1024;
constexpr int kFastMilliseconds = 5;
constexpr int kSlowMilliseconds = 20;
constexpr int kPollWithoutInotify = 200;

// Whether to go on after a failed write: 0 yes, at once; EAGAIN when the reader is ready; else give
// up.
int reason_to_wait(int error) {
  if (error == EINTR) return 0;
  return error == EWOULDBLOCK ? EAGAIN : error;
}

// A way to stdout that does not block, so that our own lines still reach stderr while nobody reads
// stdout. Setting O_NONBLOCK on the descriptor we were given would hit everybody who shares it.
UniqueFd reopen_stdout() {
  struct stat status {};
  if (fstat(STDOUT_FILENO, &status) != 0) return {};
  if (!S_ISFIFO(status.st_mode) && !S_ISCHR(status.st_mode)) return {};
  UniqueFd reopened(open("/proc/self/fd/1", O_WRONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC));
  // A larger pipe means fewer turns between us and the reader; refused where the user has too many.
  if (reopened && S_ISFIFO(status.st_mode)) fcntl(reopened.get(), F_SETPIPE_SZ, kPipeBytes);
  return reopened;
}

void write_to_stderr(std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t count = write(STDERR_FILENO, bytes.data(), bytes.size());
    const int reason = count < 0 ? reason_to_wait(errno) : 0;
    if (reason == EAGAIN) {
      pollfd ready{STDERR_FILENO, POLLOUT, 0};  // whoever shares this terminal made it non-blocking
      poll(&ready, 1, -1);
    } else if (reason != 0) {
      return;
    }
    bytes.remove_prefix(static_cast<std::size_t>(std::max<ssize_t>(count, 0)));
  }
}

}  // namespace

ConsoleProcess::ConsoleProcess(const ConsoleSettings& settings, std::vector<FollowedLog> logs,
                               FramePipe launcher)
    : settings_(settings),
      unopened_(std::move(logs)),
      launcher_(std::move(launcher)),
      stdout_(reopen_stdout()),
      lines_(settings.colour) {}

void ConsoleProcess::run() {
  for (;;) {
    // Messages first: the banner is to stand before what the first trainer writes.
    read_messages();
    if (launcher_is_gone_ || !carry_out_order()) return;
    const bool copied = logs_.copy_some(
        [this](const ProcessName& process, std::string_view bytes) { show(process, bytes); });
    show_unfinished_lines(false);
    std::array<pollfd, 2> watched = {pollfd{order_ ? -1 : launcher_.fd(), POLLIN, 0},
                                     pollfd{logs_.notifications(), POLLIN, 0}};
    poll(watched.data(), watched.size(), order_ ? 0 : copied ? kFastMilliseconds : poll_timeout());
    if (watched[1].revents != 0) logs_.take_notifications();
  }
}

// Says what is to be said; an order is kept for carry_out_order().
void ConsoleProcess::read_messages() {
  if (order_) return;
  const bool is_there = launcher_.receive();
  while (!order_) {
    const auto frame = launcher_.next();
    if (!frame) {
      launcher_is_gone_ = !is_there;
      return;
    }
    const auto word = static_cast<ConsoleWord>(frame->at(0));
    const std::string_view content = std::string_view(*frame).substr(1);
    if (word == ConsoleWord::Say) {
      say(content);
    } else if (word == ConsoleWord::Follow) {
      follow(content);
    } else {
      order_ = word;
    }
  }
}

void ConsoleProcess::follow(std::string_view bytes) {
  const std::vector<std::int64_t> begins = unpack_begins(bytes);
  std::vector<FollowedLog> opened;
  for (FollowedLog& log : std::exchange(unopened_, {})) {
    if (log.index >= begins.size()) continue;
    log.from = begins[log.index];
    log.file = open_to_follow(log.path);
    if (log.file) {
      opened.push_back(std::move(log));
    } else {
      say(fmt::format(
          "paddle-launch: warning: cannot follow the log {}: {}; the job goes on, its output is "
          "there\n",
          log.path, std::strerror(errno)));
    }
  }
  logs_ = LogFollower(std::move(opened));
}

// False: that was the end.
bool ConsoleProcess::carry_out_order() {
  const auto order = std::exchange(order_, std::nullopt);
  if (order == ConsoleWord::Drain) {
    drain();
    answer(ConsoleWord::Drain);
  }
  if (order != ConsoleWord::End) return true;
  // Whoever reads our output sees its end now, however long the kernel takes to end this process.
  stdout_.reset();
  close(STDOUT_FILENO);
  close(STDERR_FILENO);
  answer(logs_.has_watched() ? ConsoleWord::EndsLater : ConsoleWord::End);
  return false;
}

// The trainers are gone: what their logs hold now is all they said. Lines that the launcher adds
// later are not theirs, so nothing is followed any more.
void ConsoleProcess::drain() {
  logs_.copy_to_the_end(
      [this](const ProcessName& process, std::string_view bytes) { show(process, bytes); });
  show_unfinished_lines(true);
}

void ConsoleProcess::show_unfinished_lines(bool all) {
  std::string text;
  lines_.show_unfinished(Clock::now(), all, text);
  write_out(text);
}

void ConsoleProcess::show(const ProcessName& process, std::string_view bytes) {
  if (!settings_.prefix_lines) return write_out(bytes);
  prefixed_.clear();
  lines_.add(process, bytes, Clock::now(), prefixed_);
  write_out(prefixed_);
}

void ConsoleProcess::say(std::string_view text) {
  static const bool same_terminal = isatty(STDOUT_FILENO) == 1 && isatty(STDERR_FILENO) == 1;
  if (same_terminal && !at_line_start_) {
    write_to_stderr("\n");
    at_line_start_ = true;
  }
  write_to_stderr(text);
}

void ConsoleProcess::write_out(std::string_view bytes) {
  if (!bytes.empty()) at_line_start_ = bytes.back() == '\n';
  while (!bytes.empty() && stdout_works_) {
    const ssize_t count =
        write(stdout_ ? stdout_.get() : STDOUT_FILENO, bytes.data(), bytes.size());
    const int reason = count < 0 ? reason_to_wait(errno) : 0;
    if (reason == EAGAIN) {
      wait_for_reader();
    } else if (reason != 0) {
      stop_writing(reason);
    }
    bytes.remove_prefix(static_cast<std::size_t>(std::max<ssize_t>(count, 0)));
  }
}

// Meanwhile our own lines go on.
void ConsoleProcess::wait_for_reader() {
  std::array<pollfd, 2> watched = {pollfd{stdout_ ? stdout_.get() : STDOUT_FILENO, POLLOUT, 0},
                                   pollfd{order_ ? -1 : launcher_.fd(), POLLIN, 0}};
  poll(watched.data(), watched.size(), -1);
  if (watched[1].revents != 0) read_messages();
  if (launcher_is_gone_) stdout_works_ = false;
}

void ConsoleProcess::stop_writing(int error) {
  stdout_works_ = false;
  if (error == EPIPE) return;  // `| head` has seen enough
  say(std::string("paddle-launch: warning: stdout: ") + std::strerror(error) +
      "; the job goes on, its output is in the log directory\n");
}

int ConsoleProcess::poll_timeout() const {
  if (logs_.some_log_is_active())
    return logs_.can_watch() ? kSlowMilliseconds : kPollWithoutInotify;
  const auto due = lines_.next_unfinished();
  return due ? milliseconds_until(*due) : -1;
}

}  // namespace paddle_launch
