// SPDX-License-Identifier: Apache-2.0
#include "benchmarks/process_facts.h"

#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/socket.h>

#include <algorithm>
#include <csignal>
#include <cstdio>
#include <fstream>
#include <string>

#include "launcher/os/check.h"

namespace paddle_launch {
namespace {

constexpr rlim_t kOthers = 64;  // descriptors for anything else

long status_kibibytes(const std::string& wanted) {
  std::ifstream status("/proc/self/status");
  for (std::string key; status >> key;) {
    long kibibytes = 0;
    if (key == wanted && status >> kibibytes) return kibibytes;
    std::getline(status, key);
  }
  return 0;
}

sigset_t only_sigterm() {
  sigset_t signals;
  sigemptyset(&signals);
  sigaddset(&signals, SIGTERM);
  return signals;
}

}  // namespace

void say(const char* key, double value) {
  std::printf("%s %.9f\n", key, value);
  std::fflush(stdout);
}

double moment(std::chrono::steady_clock::time_point time) {
  return std::chrono::duration<double>(time.time_since_epoch()).count();
}

Costs costs_now() {
  rusage used = {};
  getrusage(RUSAGE_SELF, &used);
  const auto seconds = [](const timeval& time) {
    return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) * 1e-6;
  };
  return {status_kibibytes("VmRSS:"), seconds(used.ru_utime) + seconds(used.ru_stime)};
}

void say_costs_since(const Costs& before) {
  say("memory", static_cast<double>(status_kibibytes("VmHWM:") - before.resident_kibibytes));
  say("cpu", costs_now().cpu_seconds - before.cpu_seconds);
}

void allow_descriptors(int count) {
  const rlim_t needed = static_cast<rlim_t>(count) + kOthers;
  rlimit limit = {};
  check(getrlimit(RLIMIT_NOFILE, &limit), "getrlimit");
  if (limit.rlim_cur >= needed) return;
  limit.rlim_cur = needed;
  limit.rlim_max = std::max(limit.rlim_max, needed);
  check(setrlimit(RLIMIT_NOFILE, &limit), "setrlimit to descriptors", std::to_string(needed));
}

void block_sigterm() {
  const sigset_t signals = only_sigterm();
  check(sigprocmask(SIG_BLOCK, &signals, nullptr), "sigprocmask");
}

UniqueFd blocked_sigterm() {
  const sigset_t signals = only_sigterm();
  return UniqueFd(check(signalfd(-1, &signals, SFD_CLOEXEC), "signalfd"));
}

void close_by_reset(int fd) {
  const linger at_once{1, 0};
  check(setsockopt(fd, SOL_SOCKET, SO_LINGER, &at_once, sizeof at_once), "setsockopt SO_LINGER");
}

}  // namespace paddle_launch
