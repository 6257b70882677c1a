// SPDX-License-Identifier: Apache-2.0
#include "launcher/site/kernel_facts.h"

#include <cstdlib>
#include <string_view>

#include <fmt/format.h>

#include "launcher/job/ending.h"
#include "launcher/os/files.h"

namespace paddle_launch {
namespace {

constexpr std::string_view kOomKill = "\noom_kill ";

}  // namespace

long oom_kills_so_far() {
  const std::string text = read_file("/proc/vmstat").value_or("");
  const std::size_t at = text.find(kOomKill);
  return at == std::string::npos ? kOomKillsUnknown
                                 : std::strtol(text.c_str() + at + kOomKill.size(), nullptr, 10);
}

std::string describe_stuck_process(int pid) {
  const std::string proc = fmt::format("/proc/{}/", pid);
  std::string name = read_file(proc + "comm").value_or("?");
  if (!name.empty() && name.back() == '\n') name.pop_back();
  const std::string stat = read_file(proc + "stat").value_or("");
  const std::size_t after_name = stat.rfind(") ");
  const char state =
      after_name == std::string::npos || stat.size() < after_name + 3 ? '?' : stat[after_name + 2];
  const std::string channel = read_file(proc + "wchan").value_or("");
  return fmt::format("pid {} ({}), state {}{}, waiting in {}", pid, name, state,
                     state == 'D' ? " (uninterruptible)" : "",
                     channel.empty() || channel == "0" ? "an unknown place" : channel);
}

}  // namespace paddle_launch
