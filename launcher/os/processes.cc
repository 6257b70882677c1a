// SPDX-License-Identifier: Apache-2.0
#include "launcher/os/processes.h"

#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <charconv>
#include <csignal>
#include <cstddef>
#include <cstdlib>
#include <string_view>
#include <thread>

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

// PF_EXITING in the kernel's include/linux/sched.h: it has called exit, or was killed.
constexpr unsigned long kExiting = 0x4;

// /proc/PID/stat: "PID (name) state parent …". A name may hold blanks and brackets.
struct Stat {
  // Numbered as in proc(5).
  enum Field { State = 3, Parent = 4, Flags = 9, Start = 22 };

  std::string name{};
  std::vector<std::string> fields{};  // from State on

  char state() const { return fields.front().front(); }
  unsigned long long number(Field field) const {
    return std::strtoull(fields[field - State].c_str(), nullptr, 10);
  }
};

std::optional<Stat> read_stat(const std::string& proc) {
  const std::string text = read_file(proc + "stat").value_or("");
  const std::size_t name = text.find('(');
  const std::size_t end = text.rfind(") ");
  if (name == std::string::npos || end == std::string::npos) return std::nullopt;
  Stat stat{.name = text.substr(name + 1, end - name - 1)};
  for (std::size_t at = end + 2; at < text.size();) {
    const std::size_t blank = std::min(text.find(' ', at), text.size());
    stat.fields.push_back(text.substr(at, blank - at));
    at = blank + 1;
  }
  if (stat.fields.size() <= Stat::Start - Stat::State || stat.fields.front().empty())
    return std::nullopt;
  return stat;
}

std::string proc_of(pid_t pid) { return "/proc/" + std::to_string(pid) + "/"; }

// For kernels built without /proc/PID/task/TID/children.
std::vector<pid_t> children_by_scan(pid_t parent) {
  std::vector<pid_t> found;
  for (const std::string& name : names_in("/proc")) {
    if (std::isdigit(static_cast<unsigned char>(name.front())) == 0) continue;
    const auto stat = read_stat("/proc/" + name + "/");
    if (stat && stat->number(Stat::Parent) == static_cast<unsigned long long>(parent))
      found.push_back(static_cast<pid_t>(std::strtol(name.c_str(), nullptr, 10)));
  }
  return found;
}

bool is_zombie(pid_t pid) {
  const auto stat = read_stat(proc_of(pid));
  return !stat || stat->state() == 'Z';
}

// None: this kernel does not tell.
std::optional<bool> mask_has(const std::string& status, std::string_view name, int signal) {
  const std::size_t at = status.find(name);
  if (at == std::string::npos) return std::nullopt;
  const unsigned long long mask = std::strtoull(&status[at + name.size()], nullptr, 16);
  return (mask >> (signal - 1) & 1U) != 0;
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
  const std::string proc = proc_of(pid);
  const auto stat = read_stat(proc);
  if (!stat) return std::nullopt;
  return OtherProcess{.pid = pid,
                      .parent = static_cast<pid_t>(stat->number(Stat::Parent)),
                      .name = stat->name,
                      .command = shown_command(read_file(proc + "cmdline").value_or("")),
                      .since = moment_of(stat->number(Stat::Start))};
}

bool may_answer(pid_t child, int signal) {
  const std::string proc = proc_of(child);
  const auto stat = read_stat(proc);
  if (stat && (stat->number(Stat::Flags) & kExiting) != 0) return false;
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
