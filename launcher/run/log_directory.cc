// SPDX-License-Identifier: Apache-2.0
// docs/decisions/0006 and 0035: logs come first, and each belongs to one job.
#include "launcher/run/log_directory.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <ctime>

#include <fmt/format.h>

#include "launcher/job/errors.h"
#include "launcher/os/files.h"
#include "launcher/os/processes.h"
#include "launcher/os/side_process.h"
#include "launcher/os/unique_fd.h"
#include "launcher/text/wire.h"

namespace paddle_launch {
namespace {

constexpr off_t kTailBytes = 64 * 1024;
// Somebody else may have put a link or a pipe in the place of a log, whose opening empties another
// file or waits for ever.
constexpr int kOnlyRegular = O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC;

[[noreturn]] void refuse_log(const std::string& path, int error) {
  if (error == ELOOP || error == ENXIO || error == EISDIR) {
    throw UsageError(fmt::format(
        "the log {} is {}: logs are written to regular files only; remove it, or choose another "
        "--log_dir",
        path,
        error == ELOOP    ? "a symbolic link"
        : error == EISDIR ? "a directory"
                          : "a pipe or a device"));
  }
  const std::string text =
      fmt::format("cannot open the log {}: {}; make it writable, or choose another --log_dir", path,
                  std::strerror(error));
  if (error == EACCES || error == EPERM || error == EROFS) throw UsageError(text);
  throw LaunchError(text);
}

bool append_line(const std::string& path, const std::string& line) {
  const UniqueFd file(open(path.c_str(), O_RDWR | O_APPEND | kOnlyRegular));
  return file && write_all(file.get(), ends_unfinished(file.get()) ? "\n" + line : line);
}

// What the side process hands back of each log: 0 where it cannot be read, or 1 and its end.
void pack_end(WireWriter& out, const std::string& path) {
  const UniqueFd file = open_to_follow(path);
  struct stat status {};
  if (!file || fstat(file.get(), &status) != 0 || !S_ISREG(status.st_mode)) return out.byte(0);
  const off_t from = std::max<off_t>(0, status.st_size - kTailBytes);
  std::string text(static_cast<std::size_t>(status.st_size - from), '\0');
  const ssize_t count = pread(file.get(), text.data(), text.size(), from);
  text.resize(static_cast<std::size_t>(std::max<ssize_t>(count, 0)));
  out.byte(1);
  out.signed_varint(status.st_mtim.tv_sec * 1'000'000'000 + status.st_mtim.tv_nsec);
  out.signed_varint(from);
  out.text(text);
}

std::optional<LogEnd> unpack_end(WireReader& in) {
  if (in.byte() == 0) return std::nullopt;
  LogEnd end;
  end.written_ns = in.signed_varint();
  end.from = in.signed_varint();
  end.bytes = in.text(in.left());
  return end;
}

}  // namespace

std::string_view LogEnd::when_it_had(std::int64_t size) const {
  const std::int64_t count = std::max<std::int64_t>(size - from, 0);
  return std::string_view(bytes).substr(0, static_cast<std::size_t>(count));
}

bool ends_unfinished(int log) {
  const off_t size = lseek(log, 0, SEEK_END);
  char last = '\n';
  return size > 0 && pread(log, &last, 1, size - 1) == 1 && last != '\n';
}

UniqueFd open_log(const std::string& path) {
  const int flags = O_CREAT | O_APPEND | kOnlyRegular;
  UniqueFd log(open(path.c_str(), O_RDWR | flags, 0666));
  if (!log && errno == EACCES) log.reset(open(path.c_str(), O_WRONLY | flags, 0666));
  if (!log) refuse_log(path, errno);
  struct stat status {};
  if (fstat(log.get(), &status) != 0) refuse_log(path, errno);
  if (!S_ISREG(status.st_mode)) refuse_log(path, ENXIO);
  fcntl(log.get(), F_SETFL, O_APPEND);  // trainers inherit it
  return log;
}

std::vector<FollowedLog> followed_logs(const ProcessPlan& plan,
                                       const std::vector<std::string>& start_lines, bool all) {
  std::vector<FollowedLog> logs;
  for (std::size_t i = 0; i < plan.processes.size(); ++i) {
    const ProcessSpec& spec = plan.processes[i];
    if (!all && i != static_cast<std::size_t>(plan.followed)) continue;
    logs.push_back({.process = {spec.role, spec.rank},
                    .index = i,
                    .path = spec.log_path,
                    .start_line = start_lines.at(i)});
  }
  return logs;
}

UniqueFd open_to_follow(const std::string& path) {
  return UniqueFd(open(path.c_str(), O_RDONLY | kOnlyRegular));
}

std::vector<std::optional<LogEnd>> read_log_ends(const std::vector<std::string>& paths,
                                                 std::chrono::milliseconds patience) {
  const std::optional<std::string> packed = run_aside(patience, [&paths] {
    WireWriter all;
    for (const std::string& path : paths) pack_end(all, path);
    return all.take();
  });
  std::vector<std::optional<LogEnd>> ends;
  WireReader in(packed ? std::string_view(*packed) : std::string_view());
  while (in.left() > 0) ends.push_back(unpack_end(in));
  return ends;
}

bool append_to_logs(const std::vector<std::pair<std::string, std::string>>& path_and_line) {
  if (path_and_line.empty()) return true;
  const std::optional<std::string> answer = run_aside(kPatienceWithDisk, [&path_and_line] {
    bool good = true;
    for (const auto& [path, line] : path_and_line) good = append_line(path, line) && good;
    return std::string(good ? "good" : "");
  });
  return answer && !answer->empty();
}

std::optional<std::string> point_latest_to(const std::string& directory) {
  const std::size_t slash = directory.rfind('/');
  const std::string link = directory.substr(0, slash) + "/latest";
  const std::string name = directory.substr(slash + 1);
  struct stat there {};
  const bool is_free = lstat(link.c_str(), &there) != 0 && errno == ENOENT;
  if (!is_free && !S_ISLNK(there.st_mode)) return link + " is no link of ours, and stays as it is";
  const std::string made = fmt::format("{}/.latest.{}", directory, getpid());
  if (symlink(name.c_str(), made.c_str()) == 0 && rename(made.c_str(), link.c_str()) == 0)
    return {};
  const std::string reason = std::strerror(errno);
  unlink(made.c_str());
  return link + ": " + reason;
}

namespace {

using std::chrono::milliseconds;

constexpr milliseconds kLongestGrace{std::chrono::hours(24 * 365)};

std::string since(std::time_t moment) {
  std::tm local{};
  localtime_r(&moment, &local);
  std::array<char, 32> text{};
  const std::size_t size = std::strftime(text.data(), text.size(), "%Y-%m-%d %H:%M:%S", &local);
  return {text.data(), size};
}

std::string describe(const OtherProcess& process) {
  return fmt::format("pid {} ({}), since {}", process.pid, process.command, since(process.since));
}

// A guard has the command of the launcher that forked it.
std::optional<OtherProcess> launcher_of(const OtherProcess& guard) {
  auto parent = look_at_process(guard.parent);
  if (!parent || parent->command != guard.command) return std::nullopt;
  return parent;
}

}  // namespace

// The first byte is the lock; its length tells the grace.
LockTry try_lock(int log, milliseconds grace) {
  struct flock wanted {};
  wanted.l_type = F_WRLCK;
  wanted.l_len = 1 + std::clamp(grace, milliseconds(0), kLongestGrace).count();
  int result = 0;
  do {
    result = fcntl(log, F_SETLK, &wanted);
  } while (result != 0 && errno == EINTR);
  if (result == 0) return LockTry::Ours;
  return errno == EAGAIN || errno == EACCES ? LockTry::Taken : LockTry::NotSupported;
}

std::optional<LogHolder> holder_of(int log) {
  struct flock found {};
  found.l_type = F_WRLCK;
  found.l_len = 1;
  if (fcntl(log, F_GETLK, &found) != 0 || found.l_type == F_UNLCK) return std::nullopt;
  // A length of 0 reaches to the end: the lock of some other program.
  const milliseconds grace(std::max<off_t>(found.l_len - 1, 0));
  if (found.l_pid <= 0) {
    return LogHolder{"a process of another host or container", true, grace};
  }
  const auto guard = look_at_process(found.l_pid);
  if (!guard) return LogHolder{fmt::format("pid {}", found.l_pid), true, grace};
  const auto launcher = launcher_of(*guard);
  const bool is_stopping = !launcher || guard->name == kStoppingGuard;
  return LogHolder{describe(launcher ? *launcher : *guard), is_stopping, grace};
}

}  // namespace paddle_launch
