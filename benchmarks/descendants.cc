// SPDX-License-Identifier: Apache-2.0
#include "benchmarks/descendants.h"

#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <filesystem>
#include <fstream>
#include <system_error>
#include <thread>

#include "launcher/os/check.h"

namespace paddle_launch {
namespace {

using Clock = std::chrono::steady_clock;

constexpr auto kLook = std::chrono::microseconds(250);

std::string proc(pid_t pid, const std::string& file) {
  return "/proc/" + std::to_string(pid) + "/" + file;
}

std::vector<std::filesystem::path> threads(pid_t pid) {
  std::vector<std::filesystem::path> found;
  std::error_code gone;
  for (const auto& entry : std::filesystem::directory_iterator(proc(pid, "task"), gone)) {
    found.push_back(entry.path());
  }
  return found;
}

void collect(pid_t parent, std::vector<Descendant>& found) {
  for (const auto& thread : threads(parent)) {
    std::ifstream children(thread / "children");
    for (pid_t pid = 0; children >> pid;) {
      Descendant child{pid, {}};
      std::ifstream comm(proc(pid, "comm"));
      std::getline(comm, child.name);
      found.push_back(child);
      collect(pid, found);
    }
  }
}

// The sum of all lines `<key> number …` of a file.
long sum_of(const std::filesystem::path& file, std::initializer_list<const char*> keys) {
  std::ifstream in(file);
  long sum = 0;
  for (std::string key; in >> key;) {
    long number = 0;
    for (const char* wanted : keys) {
      if (key == wanted && in >> number) sum += number;
    }
    std::getline(in, key);
  }
  return sum;
}

bool reap_all() {
  int status = 0;
  pid_t reaped = 0;
  do {
    reaped = waitpid(-1, &status, WNOHANG);
  } while (reaped > 0);
  return reaped < 0;  // ECHILD: nothing is left
}

}  // namespace

std::vector<Descendant> descendants() {
  std::vector<Descendant> found;
  collect(getpid(), found);
  return found;
}

long context_switches(pid_t pid) {
  long sum = 0;
  for (const auto& thread : threads(pid)) {
    sum += sum_of(thread / "status", {"voluntary_ctxt_switches:", "nonvoluntary_ctxt_switches:"});
  }
  return sum;
}

long private_kibibytes(pid_t pid) {
  return sum_of(proc(pid, "smaps_rollup"), {"Private_Clean:", "Private_Dirty:"});
}

long proportional_kibibytes(pid_t pid) { return sum_of(proc(pid, "smaps_rollup"), {"Pss:"}); }

double cpu_seconds_of_the_gone() {
  rusage used = {};
  getrusage(RUSAGE_CHILDREN, &used);
  const auto seconds = [](const timeval& time) {
    return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) * 1e-6;
  };
  return seconds(used.ru_utime) + seconds(used.ru_stime);
}

void become_subreaper() { check(prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0), "prctl subreaper"); }

bool clear_descendants(std::chrono::milliseconds patience) {
  const auto deadline = Clock::now() + patience;
  bool alone = reap_all();
  while (!alone && Clock::now() < deadline) {
    std::this_thread::sleep_for(kLook);
    alone = reap_all();
  }
  if (alone) return true;
  while (!reap_all()) {
    for (const Descendant& left : descendants()) kill(left.pid, SIGKILL);
    std::this_thread::sleep_for(kLook);
  }
  return false;
}

}  // namespace paddle_launch
