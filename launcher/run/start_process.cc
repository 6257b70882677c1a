// SPDX-License-Identifier: Apache-2.0
#include "launcher/run/start_process.h"

#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <cstdlib>
#include <memory>
#include <system_error>

#include "launcher/os/child.h"

namespace paddle_launch {
namespace {

constexpr std::size_t kStackBytes = 64 * 1024;
constexpr int kFirstClosed = STDERR_FILENO + 1;
constexpr long kMostTried = 65536;  // a raised limit can be a thousand times that
constexpr int kNotExecuted = 127;   // nobody reads it: the error itself is handed over

struct Shared {
  const StartRequest* request;
  pid_t parent;
  int error;
};

[[gnu::no_sanitize("address", "undefined")]] void close_everything_else() {
  if (syscall(SYS_close_range, kFirstClosed, ~0U, 0) == 0) return;
  const long limit = sysconf(_SC_OPEN_MAX);
  for (int fd = kFirstClosed; fd < limit && fd < kMostTried; ++fd) close(fd);
}

// May run in the parent's memory while the parent waits: system calls only, nothing is allocated.
[[gnu::no_sanitize("address", "undefined")]] void take_place(const StartRequest& request,
                                                             pid_t parent) {
  setpgid(0, 0);
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != parent) _exit(kNotExecuted);
  if (request.cpus != nullptr) sched_setaffinity(0, request.cpus_size, request.cpus);
  const rlimit& open_files = request.inherited.open_files;
  if (open_files.rlim_max != 0) setrlimit(RLIMIT_NOFILE, &open_files);
  if (request.take_terminal) tcsetpgrp(request.stdin_fd, getpid());
  dup2(request.stdin_fd, STDIN_FILENO);
  dup2(request.output_fd, STDOUT_FILENO);
  dup2(request.error_fd, STDERR_FILENO);
}

// What the launcher changed for itself.
[[gnu::no_sanitize("address", "undefined")]] void give_back_signals(const StartRequest& request) {
  if (request.inherited.ignores_sigchld) signal(SIGCHLD, SIG_IGN);
  sigprocmask(SIG_SETMASK, &request.inherited.mask, nullptr);
}

// As above.
[[gnu::no_sanitize("address", "undefined")]] int child(void* argument) {
  auto* const shared = static_cast<Shared*>(argument);
  const StartRequest& request = *shared->request;
  take_place(request, shared->parent);
  close_everything_else();
  give_back_signals(request);
  execve(request.program, request.argv, request.env);
  shared->error = errno;
  _exit(kNotExecuted);
}

// The strings stay where they are as long as this process lives.
void take_environment(char* const* env) {
  clearenv();
  for (; *env != nullptr; ++env) putenv(*env);
}

}  // namespace

CpuMask::CpuMask(const std::vector<int>& cpus) {
  if (cpus.empty()) return;
  int highest = 0;
  for (const int cpu : cpus) highest = std::max(highest, cpu);
  size_ = CPU_ALLOC_SIZE(static_cast<std::size_t>(highest) + 1);
  bits_.resize(size_ / sizeof(cpu_set_t) + 1);
  for (const int cpu : cpus) CPU_SET_S(static_cast<std::size_t>(cpu), size_, bits_.data());
}

std::vector<char*> pointers(const std::vector<std::string>& shared,
                            const std::vector<std::string>& own) {
  std::vector<char*> result;
  result.reserve(shared.size() + own.size() + 1);
  for (const std::string& text : shared) result.push_back(const_cast<char*>(text.c_str()));
  for (const std::string& text : own) result.push_back(const_cast<char*>(text.c_str()));
  result.push_back(nullptr);
  return result;
}

StartResult start_function(const StartRequest& request, const OwnFunction& function,
                           const std::function<int()>& call) {
  const pid_t parent = getpid();
  const auto become_function = [&] {
    take_place(request, parent);
    close_all_but(function.kept);
    take_environment(request.env);
    give_back_signals(request);
    _exit(call());
  };
  try {
    return {.pid = fork_child({.name = function.process_name.c_str(),
                               .descriptors = ChildRecipe::Descriptors::All},
                              become_function)};
  } catch (const std::system_error& error) {
    return {.error = error.code().value()};
  }
}

StartResult start_process(const StartRequest& request) {
  static const std::unique_ptr<std::byte[]> stack(new std::byte[kStackBytes]);
  Shared shared{&request, getpid(), 0};
  const pid_t pid =
      clone(child, stack.get() + kStackBytes, CLONE_VM | CLONE_VFORK | SIGCHLD, &shared);
  if (pid < 0) return {.pid = -1, .error = errno, .exec = false};
  if (shared.error == 0) return {.pid = pid, .error = 0, .exec = false};
  waitpid(pid, nullptr, 0);
  return {.pid = -1, .error = shared.error, .exec = true};
}

}  // namespace paddle_launch
