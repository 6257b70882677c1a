// SPDX-License-Identifier: Apache-2.0
// docs/decisions/0006: why inotify only wakes a quiet console.
#include "launcher/run/log_follower.h"

#include <sys/inotify.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <utility>

namespace paddle_launch {
namespace {

constexpr std::size_t kChunk = 256 * 1024;
constexpr int kRoundsUntilQuiet = 6;

}  // namespace

LogFollower::LogFollower(std::vector<FollowedLog> logs) {
  for (FollowedLog& log : logs) {
    const off_t from = log.from;
    followed_.push_back({.log = std::move(log), .at = from});
  }
  if (!followed_.empty()) buffer_.resize(kChunk);
}

bool LogFollower::copy_some(const Show& show) {
  bool copied = false;
  for (Followed& followed : followed_) {
    if (followed.watch >= 0) continue;
    if (copy(followed, show)) {
      copied = true;
      followed.quiet_rounds = 0;
    } else if (++followed.quiet_rounds >= kRoundsUntilQuiet) {
      become_quiet(followed, show);
    }
  }
  return copied;
}

void LogFollower::copy_to_the_end(const Show& show) {
  for (Followed& followed : followed_) follow_again(followed);
  while (copy_some(show)) {
  }
  for (Followed& followed : followed_) {
    if (!followed.start_line_pending) continue;
    // The disk refused our line, and what stands there in its place is shorter.
    followed.start_line_pending = false;
    copy(followed, show);
  }
  followed_.clear();
}

bool LogFollower::copy(Followed& followed, const Show& show) {
  if (followed.start_line_pending) {
    struct stat status {};
    if (fstat(followed.log.file.get(), &status) != 0) return false;
    if (!skip_start_line(followed, status.st_size)) return false;
  }
  const ssize_t count = pread(followed.log.file.get(), buffer_.data(), buffer_.size(), followed.at);
  if (count <= 0) {
    struct stat status {};
    // Somebody emptied the file: begin again, as `tail -f` does.
    if (fstat(followed.log.file.get(), &status) == 0 && status.st_size < followed.at)
      followed.at = 0;
    return false;
  }
  followed.at += count;
  show(followed.log.process, std::string_view(buffer_.data(), static_cast<std::size_t>(count)));
  return true;
}

// The file may hold something else when the disk refused our line; then nothing is skipped.
bool LogFollower::skip_start_line(Followed& followed, off_t size) {
  std::string found(followed.log.start_line.size() + 1, '\0');
  const ssize_t count = pread(followed.log.file.get(), found.data(), found.size(), followed.at);
  if (count <= 0) return false;
  // After an unfinished line of an earlier run ours begins with a newline.
  const std::string line = (found.front() == '\n' ? "\n" : "") + followed.log.start_line;
  if (size - followed.at < static_cast<off_t>(line.size())) return false;
  if (found.compare(0, line.size(), line) == 0) followed.at += static_cast<off_t>(line.size());
  followed.start_line_pending = false;
  return true;
}

void LogFollower::become_quiet(Followed& followed, const Show& show) {
  if (!inotify_ && !inotify_failed_) {
    inotify_.reset(inotify_init1(IN_CLOEXEC | IN_NONBLOCK));
    inotify_failed_ = !inotify_;
  }
  if (inotify_failed_) return;
  // By descriptor, so that a log whose directory was renamed or removed is still followed.
  const std::string path = "/proc/self/fd/" + std::to_string(followed.log.file.get());
  followed.watch = inotify_add_watch(inotify_.get(), path.c_str(), IN_MODIFY);
  if (followed.watch < 0) {
    inotify_failed_ = true;
    return;
  }
  // Bytes that came between the last look and the watch would not wake us.
  if (copy(followed, show)) follow_again(followed);
}

// A watch costs every write of the trainer: while bytes come, the timer follows the file.
void LogFollower::follow_again(Followed& followed) {
  if (followed.watch >= 0) inotify_rm_watch(inotify_.get(), followed.watch);
  followed.watch = -1;
  followed.quiet_rounds = 0;
}

void LogFollower::take_notifications() {
  alignas(inotify_event) std::array<char, 4096> events{};
  for (;;) {
    const ssize_t size = read(inotify_.get(), events.data(), events.size());
    if (size <= 0) return;
    for (ssize_t at = 0; at < size;) {
      const auto* event = reinterpret_cast<const inotify_event*>(events.data() + at);
      at += static_cast<ssize_t>(sizeof(inotify_event) + event->len);
      for (Followed& followed : followed_) {
        const bool overflow = event->wd < 0;
        if (followed.watch >= 0 && (overflow || followed.watch == event->wd))
          follow_again(followed);
      }
    }
  }
}

bool LogFollower::some_log_is_active() const {
  return std::any_of(followed_.begin(), followed_.end(),
                     [](const Followed& followed) { return followed.watch < 0; });
}

}  // namespace paddle_launch
