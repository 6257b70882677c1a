// SPDX-License-Identifier: Apache-2.0
#include "launcher/os/children.h"

#include <dirent.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <charconv>
#include <csignal>
#include <cstdlib>
#include <optional>
#include <string>
#include <string_view>
#include <thread>

#include "launcher/os/files.h"

namespace paddle_launch {
namespace {

// For kernels built without /proc/PID/task/TID/children.
std::vector<pid_t> children_by_scan(pid_t parent) {
  std::vector<pid_t> found;
  DIR* proc = opendir("/proc");
  if (proc == nullptr) return found;
  while (const dirent* entry = readdir(proc)) {
    if (std::isdigit(static_cast<unsigned char>(entry->d_name[0])) == 0) continue;
    const std::string stat =
        read_file(std::string("/proc/") + entry->d_name + "/stat").value_or("");
    const std::size_t after_name = stat.rfind(") ");
    if (after_name == std::string::npos || stat.size() < after_name + 4) continue;
    const std::string_view ppid(stat.data() + after_name + 4, stat.size() - after_name - 4);
    pid_t value = 0;
    std::from_chars(ppid.data(), ppid.data() + ppid.size(), value);
    if (value == parent)
      found.push_back(static_cast<pid_t>(std::strtol(entry->d_name, nullptr, 10)));
  }
  closedir(proc);
  return found;
}

bool is_zombie(pid_t pid) {
  const std::string stat = read_file("/proc/" + std::to_string(pid) + "/stat").value_or("");
  const std::size_t after_name = stat.rfind(") ");
  return after_name == std::string::npos || stat.substr(after_name + 2, 1) == "Z";
}

// PF_EXITING in the kernel's include/linux/sched.h: it has called exit, or was killed.
constexpr unsigned long kExiting = 0x4;

// The seventh field behind the name holds the kernel's flags.
bool is_exiting(const std::string& proc) {
  const std::string stat = read_file(proc + "stat").value_or("");
  std::size_t at = stat.rfind(')');
  for (int field = 0; field < 7 && at != std::string::npos; ++field) at = stat.find(' ', at + 1);
  return at != std::string::npos && (std::strtoul(&stat[at], nullptr, 10) & kExiting) != 0;
}

// None: this kernel does not tell.
std::optional<bool> mask_has(const std::string& status, std::string_view name, int signal) {
  const std::size_t at = status.find(name);
  if (at == std::string::npos) return std::nullopt;
  const unsigned long long mask = std::strtoull(&status[at + name.size()], nullptr, 16);
  return (mask >> (signal - 1) & 1U) != 0;
}

}  // namespace

bool may_answer(pid_t child, int signal) {
  const std::string proc = "/proc/" + std::to_string(child) + "/";
  if (is_exiting(proc)) return false;
  const std::string status = read_file(proc + "status").value_or("");
  return mask_has(status, "\nSigBlk:", signal).value_or(true) ||
         mask_has(status, "\nSigIgn:", signal).value_or(true) ||
         mask_has(status, "\nSigCgt:", signal).value_or(true);
}

std::vector<pid_t> children_of_this_process() { return children_of(getpid()); }

std::vector<pid_t> children_of(pid_t parent) {
  const std::string number = std::to_string(parent);
  const std::optional<std::string> text =
      read_file("/proc/" + number + "/task/" + number + "/children");
  if (!text) return children_by_scan(parent);
  std::vector<pid_t> found;
  const char* at = text->data();
  const char* const end = at + text->size();
  while (at < end) {
    pid_t pid = 0;
    const auto [next, error] = std::from_chars(at, end, pid);
    if (error != std::errc()) break;
    found.push_back(pid);
    at = next + 1;
  }
  return found;
}

void kill_with_group(pid_t child) {
  if (getpgid(child) == child) kill(-child, SIGKILL);
  kill(child, SIGKILL);
}

std::vector<pid_t> kill_children(const std::vector<pid_t>& spared,
                                 std::chrono::milliseconds patience) {
  const auto deadline = std::chrono::steady_clock::now() + patience;
  for (;;) {
    std::vector<pid_t> left = children_of_this_process();
    std::erase_if(left, [&spared](pid_t pid) {
      return std::find(spared.begin(), spared.end(), pid) != spared.end();
    });
    if (left.empty() || std::chrono::steady_clock::now() > deadline) return left;
    for (const pid_t pid : left) kill_with_group(pid);
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
    for (const pid_t pid : left) waitpid(pid, nullptr, WNOHANG);
  }
}

void kill_children_of_stuck(pid_t parent, std::chrono::milliseconds patience) {
  const auto deadline = std::chrono::steady_clock::now() + patience;
  for (;;) {
    std::vector<pid_t> left = children_of(parent);
    std::erase_if(left, is_zombie);
    if (left.empty() || std::chrono::steady_clock::now() > deadline) return;
    for (const pid_t pid : left) kill_with_group(pid);
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
}

}  // namespace paddle_launch
