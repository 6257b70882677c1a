// SPDX-License-Identifier: Apache-2.0
#include "launcher/os/signals.h"

#include <sys/signalfd.h>
#include <unistd.h>

#include "launcher/os/check.h"

namespace paddle_launch {

namespace {

constexpr int kSignalBase = 128;  // as the shell counts
constexpr pid_t kFirstProcess = 1;

extern "C" void end_at_once(int signal) { _exit(kSignalBase + signal); }

}  // namespace

bool is_ignored(int signal) {
  struct sigaction action {};
  return sigaction(signal, nullptr, &action) == 0 && action.sa_handler == SIG_IGN;
}

Inherited what_was_inherited() {
  Inherited found{.ignores_sigchld = is_ignored(SIGCHLD)};
  check(sigprocmask(SIG_SETMASK, nullptr, &found.mask), "sigprocmask");
  if (getrlimit(RLIMIT_NOFILE, &found.open_files) != 0) found.open_files = {};
  return found;
}

void raise_open_files() {
  rlimit limit{};
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur == limit.rlim_max) return;
  limit.rlim_cur = limit.rlim_max;
  setrlimit(RLIMIT_NOFILE, &limit);
}

SignalWatch::SignalWatch(std::initializer_list<int> signals) {
  sigset_t wanted;
  sigemptyset(&wanted);
  // Blocking an ignored signal would make it pending, and signalfd would then deliver it.
  for (const int signal : signals) {
    if (!is_ignored(signal)) sigaddset(&wanted, signal);
  }
  sigset_t blocked = wanted;
  for (const int signal : {SIGPIPE, SIGXFSZ, SIGTTIN, SIGTTOU}) sigaddset(&blocked, signal);
  check(sigprocmask(SIG_BLOCK, &blocked, nullptr), "sigprocmask");
  fd_.reset(check(signalfd(-1, &wanted, SFD_CLOEXEC | SFD_NONBLOCK), "signalfd"));
}

SignalsAsBefore::SignalsAsBefore(const Inherited& before) {
  sigset_t open;
  sigemptyset(&open);
  for (const int signal : {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGTSTP}) {
    if (sigismember(&before.mask, signal) == 0) sigaddset(&open, signal);
  }
  sigemptyset(&handled_);
  for (const int signal : {SIGINT, SIGTERM, SIGHUP, SIGQUIT}) {
    if (getpid() != kFirstProcess || is_ignored(signal)) continue;
    sigaddset(&handled_, signal);
    std::signal(signal, end_at_once);
  }
  check(sigprocmask(SIG_UNBLOCK, &open, &blocked_), "sigprocmask");
}

SignalsAsBefore::~SignalsAsBefore() {
  sigprocmask(SIG_SETMASK, &blocked_, nullptr);
  for (const int signal : {SIGINT, SIGTERM, SIGHUP, SIGQUIT}) {
    if (sigismember(&handled_, signal) == 1) std::signal(signal, SIG_DFL);
  }
}

std::optional<int> SignalWatch::next() {
  signalfd_siginfo info{};
  if (read(fd_.get(), &info, sizeof info) != sizeof info) return std::nullopt;
  return static_cast<int>(info.ssi_signo);
}

}  // namespace paddle_launch
