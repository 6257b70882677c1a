// SPDX-License-Identifier: Apache-2.0
#include "launcher/run/end_on_signal.h"

#include <csignal>
#include <exception>
#include <optional>

#include <fmt/format.h>

#include "launcher/job/errors.h"
#include "launcher/run/terminal.h"
#include "launcher/text/signal_name.h"

namespace paddle_launch {
namespace {

// The reason to end; none: it is no such signal.
std::exception_ptr take(int signal, const std::string& when) {
  if (signal == SIGTSTP) Terminal(false).suspend_launcher();
  if (!asks_to_end(signal)) return nullptr;
  return std::make_exception_ptr(
      StoppedBySignal(signal, fmt::format("stopped by {} {}", signal_name(signal), when)));
}

}  // namespace

EndOnSignal::EndOnSignal(EventLoop& loop, SignalWatch& signals, const std::string& when)
    : loop_(loop), fd_(signals.fd()) {
  loop_.on_readable(fd_, [&loop, &signals, when] {
    while (const std::optional<int> signal = signals.next()) {
      if (const std::exception_ptr reason = take(*signal, when)) return loop.end_wait(reason);
    }
  });
}

}  // namespace paddle_launch
