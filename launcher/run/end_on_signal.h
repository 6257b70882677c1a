// SPDX-License-Identifier: Apache-2.0
// While nothing runs yet, a signal ends the launcher. Also the first process of a container, for
// whom the kernel's own way to end a process does not hold.
#pragma once

#include <string>

#include "launcher/os/event_loop.h"
#include "launcher/os/signals.h"

namespace paddle_launch {

// Ends a wait of the loop with StoppedBySignal. `when`: for its text, "while waiting for …".
class EndOnSignal {
 public:
  EndOnSignal(EventLoop& loop, SignalWatch& signals, const std::string& when);
  EndOnSignal(const EndOnSignal&) = delete;
  EndOnSignal& operator=(const EndOnSignal&) = delete;
  ~EndOnSignal() { loop_.forget(fd_); }

 private:
  EventLoop& loop_;
  int fd_;
};

}  // namespace paddle_launch
