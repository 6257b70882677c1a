// SPDX-License-Identifier: Apache-2.0
#include "benchmarks/machine.h"

#include <gnu/libc-version.h>
#include <sched.h>
#include <sys/statfs.h>
#include <sys/utsname.h>

#include <fstream>

#include <fmt/format.h>

#include "benchmarks/scratch.h"

namespace paddle_launch {
namespace {

// The rest of the first line that begins with `key`, without the colon.
std::string value_of(const char* file, const std::string& key) {
  std::ifstream in(file);
  for (std::string line; std::getline(in, line);) {
    if (line.rfind(key, 0) != 0) continue;
    const size_t start = line.find_first_not_of(" \t:", key.size());
    return start == std::string::npos ? "" : line.substr(start);
  }
  return "unknown";
}

// Where the kernel shares CPU among sessions, a launcher that gives every rank a session of its own
// (hydra) gets the larger part of a busy machine.
std::string autogroup() {
  std::ifstream in("/proc/sys/kernel/sched_autogroup_enabled");
  int enabled = 0;
  in >> enabled;
  return enabled == 0 ? "off" : "on (CPU is shared among sessions: measure on a quiet machine)";
}

std::string file_system(const std::string& folder) {
  struct statfs facts = {};
  if (statfs(folder.c_str(), &facts) != 0) return "unknown";
  switch (facts.f_type) {
    case 0xEF53:
      return "ext4";
    case 0x01021994:
      return "tmpfs";
    case 0x58465342:
      return "xfs";
    case 0x9123683E:
      return "btrfs";
    case 0x794c7630:
      return "overlayfs";
    default:
      return fmt::format("type {:#x}", facts.f_type);
  }
}

}  // namespace

std::string describe_machine() {
  cpu_set_t allowed;
  CPU_ZERO(&allowed);
  sched_getaffinity(0, sizeof allowed, &allowed);
  utsname kernel = {};
  uname(&kernel);
  std::string load;
  std::getline(std::ifstream("/proc/loadavg"), load);
  std::string text;
  text +=
      fmt::format("- CPU: {} × {}\n", CPU_COUNT(&allowed), value_of("/proc/cpuinfo", "model name"));
  text += fmt::format("- memory: {}\n", value_of("/proc/meminfo", "MemTotal"));
  text += fmt::format("- kernel: {} {}, glibc {}\n", kernel.sysname, kernel.release,
                      gnu_get_libc_version());
  text += fmt::format("- autogroup scheduling: {}\n", autogroup());
  text += fmt::format("- logs and scratch files on {}; TMPDIR names another place\n",
                      file_system(scratch_parent()));
  text += fmt::format("- load before the first measurement: {}\n", load);
  return text;
}

}  // namespace paddle_launch
