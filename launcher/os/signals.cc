// SPDX-License-Identifier: Apache-2.0
#include "launcher/os/signals.h"

#include <sys/signalfd.h>

#include "launcher/os/check.h"

namespace paddle_launch {

bool is_ignored(int signal) {
  struct sigaction action {};
  return sigaction(signal, nullptr, &action) == 0 && action.sa_handler == SIG_IGN;
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
  check(sigprocmask(SIG_BLOCK, &blocked, &mask_at_start_), "sigprocmask");
  fd_.reset(check(signalfd(-1, &wanted, SFD_CLOEXEC | SFD_NONBLOCK), "signalfd"));
}

SignalsAsBefore::SignalsAsBefore(const SignalWatch& watch) {
  sigset_t open;
  sigemptyset(&open);
  for (const int signal : {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGTSTP}) {
    if (sigismember(&watch.mask_at_start(), signal) == 0) sigaddset(&open, signal);
  }
  check(sigprocmask(SIG_UNBLOCK, &open, &blocked_), "sigprocmask");
}

SignalsAsBefore::~SignalsAsBefore() { sigprocmask(SIG_SETMASK, &blocked_, nullptr); }

std::optional<int> SignalWatch::next() {
  signalfd_siginfo info{};
  if (read(fd_.get(), &info, sizeof info) != sizeof info) return std::nullopt;
  return static_cast<int>(info.ssi_signo);
}

}  // namespace paddle_launch
