// SPDX-License-Identifier: Apache-2.0
#include "launcher/os/other_process.h"

#include <unistd.h>

#include <cstddef>
#include <cstdio>

#include "launcher/os/files.h"

namespace paddle_launch {
namespace {

constexpr std::size_t kMostShown = 80;  // of a command

// `ticks`: from the start of the machine to that of the process.
std::time_t moment_of(unsigned long long ticks) {
  timespec since_boot{};
  clock_gettime(CLOCK_BOOTTIME, &since_boot);
  const auto age = since_boot.tv_sec - static_cast<std::time_t>(ticks) / sysconf(_SC_CLK_TCK);
  return std::time(nullptr) - age;
}

}  // namespace

std::string shown_command(std::string command) {
  while (!command.empty() && command.back() == '\0') command.pop_back();
  const std::size_t slash = command.rfind('/', command.find('\0'));
  if (slash != std::string::npos) command.erase(0, slash + 1);
  for (char& c : command) {
    if (c == '\0') c = ' ';
    if (static_cast<unsigned char>(c) < ' ' || c == '\x7f') c = '?';
  }
  if (command.size() > kMostShown) command = command.substr(0, kMostShown) + "...";
  return command;
}

std::optional<OtherProcess> look_at_process(pid_t pid) {
  const std::string proc = "/proc/" + std::to_string(pid) + "/";
  const std::optional<std::string> stat = read_file(proc + "stat");
  const std::size_t name_at = stat ? stat->find('(') : std::string::npos;
  const std::size_t name_end = stat ? stat->rfind(") ") : std::string::npos;
  if (name_at == std::string::npos || name_end == std::string::npos) return std::nullopt;
  OtherProcess found{.pid = pid, .name = stat->substr(name_at + 1, name_end - name_at - 1)};
  unsigned long long ticks = 0;
  // State, parent, then 17 fields up to the start time.
  const int read = std::sscanf(stat->c_str() + name_end + 2,
                               "%*c %d %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s "
                               "%*s %*s %llu",
                               &found.parent, &ticks);
  if (read != 2) return std::nullopt;
  found.command = shown_command(read_file(proc + "cmdline").value_or(""));
  found.since = moment_of(ticks);
  return found;
}

}  // namespace paddle_launch
