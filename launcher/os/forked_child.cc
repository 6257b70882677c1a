// SPDX-License-Identifier: Apache-2.0
#include "launcher/os/forked_child.h"

#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <ctime>

#include "launcher/os/check.h"

namespace paddle_launch {

pid_t fork_with_signals_blocked(const std::function<void(pid_t launcher)>& work) {
  sigset_t all;
  sigset_t before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  const pid_t launcher = getpid();
  const pid_t child = fork();
  const int error = errno;
  if (child == 0) {
    work(launcher);
    _exit(1);
  }
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  errno = error;
  return check(child, "fork");
}

bool is_gone(pid_t child, int* status) { return waitpid(child, status, WNOHANG) != 0; }

bool is_gone_within(pid_t child, std::chrono::milliseconds patience, int* status) {
  const auto until = std::chrono::steady_clock::now() + patience;
  for (timespec pause{0, 20'000};; pause.tv_nsec = std::min(pause.tv_nsec * 2, 1'000'000L)) {
    if (is_gone(child, status)) return true;
    if (std::chrono::steady_clock::now() >= until) return false;
    nanosleep(&pause, nullptr);
  }
}

}  // namespace paddle_launch
