// SPDX-License-Identifier: Apache-2.0
#include "launcher/run/console_process.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/inotify.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <utility>

#include "launcher/os/check.h"

namespace paddle_launch {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::size_t kChunk = 256 * 1024;
constexpr int kFastMilliseconds = 5;
constexpr int kSlowMilliseconds = 20;
constexpr int kPollWithoutInotify = 200;
constexpr int kRoundsUntilQuiet = 6;

// Blocks; that is what this process is for. False: the reader is gone or the device is full.
bool write_whole(int fd, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t count = write(fd, bytes.data(), bytes.size());
    if (count < 0 && errno == EINTR) continue;
    if (count < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) {
      pollfd ready{fd, POLLOUT, 0};  // whoever shares this terminal made it non-blocking
      poll(&ready, 1, -1);
      continue;
    }
    if (count < 0) return false;
    bytes.remove_prefix(static_cast<std::size_t>(count));
  }
  return true;
}

}  // namespace

ConsoleProcess::ConsoleProcess(const ConsoleSettings& settings, std::vector<FollowedLog> logs,
                               UniqueFd socket, pid_t launcher)
    : settings_(settings), socket_(std::move(socket)), lines_(settings.colour) {
  leave_the_launchers_world(launcher);
  for (FollowedLog& log : logs) {
    const off_t from = log.from;
    followers_.push_back({.log = std::move(log), .at = from});
  }
  if (!followers_.empty()) buffer_.resize(kChunk);
}

void ConsoleProcess::leave_the_launchers_world(pid_t launcher) {
  prctl(PR_SET_NAME, "pl-console");
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != launcher) _exit(1);
  sigset_t all;
  sigfillset(&all);
  sigprocmask(SIG_SETMASK, &all, nullptr);
}

void ConsoleProcess::run() {
  // Messages first: the banner was said before the first trainer was started.
  while (take_messages()) {
    const bool copied = copy_all();
    std::array<pollfd, 2> watched = {pollfd{socket_.get(), POLLIN, 0},
                                     pollfd{inotify_.get(), POLLIN, 0}};
    poll(watched.data(), watched.size(), copied ? kFastMilliseconds : poll_timeout());
    if (watched[1].revents != 0) take_notifications();
  }
}

bool ConsoleProcess::take_messages() {
  std::string message(64 * 1024, '\0');
  for (;;) {
    const ssize_t size = recv(socket_.get(), message.data(), message.size(), MSG_DONTWAIT);
    if (size < 0 && errno == EINTR) continue;
    if (size < 0) return errno == EAGAIN || errno == EWOULDBLOCK;
    if (size == 0) return false;
    const std::string_view content(message.data(), static_cast<std::size_t>(size));
    if (content.front() == kConsoleSay) {
      say(content.substr(1));
      continue;
    }
    if (content.front() == kConsoleDrain) {
      drain();
      answer(kConsoleDrain);
      continue;
    }
    // Whoever reads our output sees its end now, however long the kernel takes to end this process.
    close(STDOUT_FILENO);
    close(STDERR_FILENO);
    answer(inotify_ ? kConsoleEndsLater : kConsoleEnd);
    return false;
  }
}

// The trainers are gone: what their logs hold now is all they said. Lines that the launcher adds
// later are not theirs, so nothing is followed any more.
void ConsoleProcess::drain() {
  for (Follower& follower : followers_) follow_again(follower);
  while (copy_all()) {
  }
  followers_.clear();
  std::string rest;
  lines_.show_unfinished(Clock::now(), true, rest);
  write_out(rest);
}

void ConsoleProcess::answer(char kind) { send(socket_.get(), &kind, 1, MSG_NOSIGNAL); }

void ConsoleProcess::say(std::string_view text) {
  static const bool kSameTerminal = isatty(STDOUT_FILENO) == 1 && isatty(STDERR_FILENO) == 1;
  if (kSameTerminal && !at_line_start_) {
    write_whole(STDERR_FILENO, "\n");
    at_line_start_ = true;
  }
  write_whole(STDERR_FILENO, text);
}

bool ConsoleProcess::copy_all() {
  bool copied = false;
  for (Follower& follower : followers_) {
    if (follower.watch >= 0) continue;
    if (copy(follower)) {
      copied = true;
      follower.quiet_rounds = 0;
    } else if (++follower.quiet_rounds >= kRoundsUntilQuiet) {
      become_quiet(follower);
    }
  }
  std::string unfinished;
  lines_.show_unfinished(Clock::now(), false, unfinished);
  write_out(unfinished);
  return copied;
}

bool ConsoleProcess::copy(Follower& follower) {
  if (follower.start_line_pending) {
    struct stat status {};
    if (fstat(follower.log.file.get(), &status) != 0) return false;
    if (!skip_start_line(follower, status.st_size)) return false;
  }
  const ssize_t count = pread(follower.log.file.get(), buffer_.data(), buffer_.size(), follower.at);
  if (count <= 0) {
    struct stat status {};
    // Somebody emptied the file: begin again, as `tail -f` does.
    if (fstat(follower.log.file.get(), &status) == 0 && status.st_size < follower.at)
      follower.at = 0;
    return false;
  }
  follower.at += count;
  show(follower, std::string_view(buffer_.data(), static_cast<std::size_t>(count)));
  return true;
}

// The file may hold something else when the disk refused our line; then nothing is skipped.
bool ConsoleProcess::skip_start_line(Follower& follower, off_t size) {
  std::string found(follower.log.start_line.size() + 1, '\0');
  const ssize_t count = pread(follower.log.file.get(), found.data(), found.size(), follower.at);
  if (count <= 0) return false;
  // After an unfinished line of an earlier run ours begins with a newline.
  const std::string line = (found.front() == '\n' ? "\n" : "") + follower.log.start_line;
  if (size - follower.at < static_cast<off_t>(line.size())) return false;
  if (found.compare(0, line.size(), line) == 0) follower.at += static_cast<off_t>(line.size());
  follower.start_line_pending = false;
  return true;
}

void ConsoleProcess::show(Follower& follower, std::string_view bytes) {
  if (!settings_.prefix_lines) return write_out(bytes);
  std::string out;
  out.reserve(bytes.size() + bytes.size() / 8);
  lines_.add(follower.log.rank, bytes, Clock::now(), out);
  write_out(out);
}

void ConsoleProcess::write_out(std::string_view bytes) {
  if (bytes.empty() || !stdout_works_) return;
  at_line_start_ = bytes.back() == '\n';
  if (write_whole(STDOUT_FILENO, bytes)) return;
  const int error = errno;
  stdout_works_ = false;
  if (error == EPIPE) return;  // `| head` has seen enough
  say(std::string("paddle-launch: warning: stdout: ") + std::strerror(error) +
      "; the job goes on, its output is in the log directory\n");
}

void ConsoleProcess::become_quiet(Follower& follower) {
  if (!inotify_ && !inotify_failed_) {
    inotify_.reset(inotify_init1(IN_CLOEXEC | IN_NONBLOCK));
    inotify_failed_ = !inotify_;
  }
  if (inotify_failed_) return;
  // By descriptor, so that a log whose directory was renamed or removed is still followed.
  const std::string path = "/proc/self/fd/" + std::to_string(follower.log.file.get());
  follower.watch = inotify_add_watch(inotify_.get(), path.c_str(), IN_MODIFY);
  if (follower.watch < 0) {
    inotify_failed_ = true;
    return;
  }
  // Bytes that came between the last look and the watch would not wake us.
  if (copy(follower)) follow_again(follower);
}

// A watch costs every write of the trainer: while bytes come, the timer follows the file.
void ConsoleProcess::follow_again(Follower& follower) {
  if (follower.watch >= 0) inotify_rm_watch(inotify_.get(), follower.watch);
  follower.watch = -1;
  follower.quiet_rounds = 0;
}

void ConsoleProcess::take_notifications() {
  alignas(inotify_event) std::array<char, 4096> events{};
  for (;;) {
    const ssize_t size = read(inotify_.get(), events.data(), events.size());
    if (size <= 0) return;
    for (ssize_t at = 0; at < size;) {
      const auto* event = reinterpret_cast<const inotify_event*>(events.data() + at);
      at += static_cast<ssize_t>(sizeof(inotify_event) + event->len);
      for (Follower& follower : followers_) {
        const bool overflow = event->wd < 0;
        if (follower.watch >= 0 && (overflow || follower.watch == event->wd))
          follow_again(follower);
      }
    }
  }
}

bool ConsoleProcess::some_log_is_active() const {
  return std::any_of(followers_.begin(), followers_.end(),
                     [](const Follower& follower) { return follower.watch < 0; });
}

int ConsoleProcess::poll_timeout() const {
  if (some_log_is_active()) return inotify_failed_ ? kPollWithoutInotify : kSlowMilliseconds;
  const auto due = lines_.next_unfinished();
  if (!due) return -1;
  const auto left = std::chrono::ceil<std::chrono::milliseconds>(*due - Clock::now()).count();
  return static_cast<int>(std::clamp<decltype(left)>(left, 1, 1000));
}

}  // namespace paddle_launch
