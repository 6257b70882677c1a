// SPDX-License-Identifier: Apache-2.0
#include "launcher/run/terminal.h"

#include <unistd.h>

#include <csignal>

namespace paddle_launch {

bool Terminal::can_be_lent() {
  return isatty(STDIN_FILENO) == 1 && tcgetpgrp(STDIN_FILENO) == getpgrp();
}

void Terminal::take_back() const {
  if (lent_) tcsetpgrp(STDIN_FILENO, getpgrp());  // SIGTTOU is blocked, so this works from behind
}

void Terminal::suspend_launcher() const {
  take_back();
  kill(getpid(), SIGSTOP);
}

}  // namespace paddle_launch
