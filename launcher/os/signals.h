// SPDX-License-Identifier: Apache-2.0
// The launcher's signals as a descriptor, and what it owes to the trainers: whoever started the
// launcher left it a mask, limits and ignored signals. It changes them for itself; a trainer is to
// find them as they were. A signal that was ignored when we were started stays ignored (nohup,
// background jobs), in us and in every trainer.
#pragma once

#include <sys/resource.h>

#include <csignal>
#include <initializer_list>
#include <optional>

#include "launcher/os/unique_fd.h"

namespace paddle_launch {

struct Inherited {
  sigset_t mask{};               // blocked signals
  bool ignores_sigchld = false;  // the kernel would throw away how children ended
  rlimit open_files{};           // all zero: not known, and left as it is
};

// Before anything of it is changed.
Inherited what_was_inherited();

// Port locks, logs and sockets of large pods need more descriptors than the usual soft limit
// allows.
void raise_open_files();

// What a person, a terminal or a scheduler sends to end a process.
constexpr bool asks_to_end(int signal) {
  return signal == SIGINT || signal == SIGTERM || signal == SIGQUIT || signal == SIGHUP;
}

class SignalWatch {
 public:
  // Blocks the given signals, less the ignored ones, and those that must never end or stop a
  // launcher (SIGPIPE, SIGXFSZ, SIGTTIN, SIGTTOU).
  explicit SignalWatch(std::initializer_list<int> signals);

  int fd() const { return fd_.get(); }
  std::optional<int> next();
  // For whoever asks next: it was taken by someone who cannot carry it out. Being blocked, it waits
  // in the descriptor again.
  static void put_back(int signal) { raise(signal); }

 private:
  UniqueFd fd_;
};

// While it lives, a signal that asks us to end does so at once, as if nobody watched: for work that
// may hang before anything was started. Also as the first process of a container, for which the
// kernel drops every signal that has no handler.
class SignalsAsBefore {
 public:
  // What was blocked then stays blocked.
  explicit SignalsAsBefore(const Inherited& before);
  SignalsAsBefore(const SignalsAsBefore&) = delete;
  SignalsAsBefore& operator=(const SignalsAsBefore&) = delete;
  ~SignalsAsBefore();

 private:
  sigset_t blocked_{};
  sigset_t handled_{};
};

bool is_ignored(int signal);

}  // namespace paddle_launch
