// SPDX-License-Identifier: Apache-2.0
#include "launcher/steps/end_on_signal.h"

#include <csignal>
#include <optional>

#include <fmt/format.h>

#include "launcher/job/errors.h"
#include "launcher/run/terminal.h"
#include "launcher/text/signal_name.h"

namespace paddle_launch {
namespace {

void take(int signal, const std::string& when) {
  if (signal == SIGTSTP) return Terminal(false).suspend_launcher();
  if (signal == SIGUSR1 || signal == SIGUSR2 || signal == SIGCHLD) return;
  throw StoppedBySignal(signal, fmt::format("stopped by {} {}", signal_name(signal), when));
}

}  // namespace

EndOnSignal::EndOnSignal(EventLoop& loop, SignalWatch& signals, const std::string& when)
    : loop_(loop), fd_(signals.fd()) {
  loop_.on_readable(fd_, [&signals, when] {
    while (const std::optional<int> signal = signals.next()) take(*signal, when);
  });
}

}  // namespace paddle_launch
