// SPDX-License-Identifier: Apache-2.0
#include "launcher/run/conclusion.h"

#include <csignal>
#include <utility>

namespace paddle_launch {
namespace {

// Nodes seldom finish in the same instant: less is not worth a word.
constexpr std::chrono::seconds kWorthAWord{2};

}  // namespace

Conclusion::Conclusion(EventLoop& loop, SignalWatch& signals, Session& session,
                       const Terminal& terminal, std::chrono::milliseconds patience,
                       ConclusionNews news)
    : loop_(loop),
      signals_(signals),
      session_(session),
      terminal_(terminal),
      patience_(patience),
      news_(std::move(news)),
      deadline_(loop),
      slow_(loop) {}

Conclusion::~Conclusion() { loop_.forget(signals_.fd()); }

void Conclusion::on_stop(const StopCause& cause) {
  news_.stop(cause);
  begin_patience();
}

void Conclusion::wait(const PodEnding& mine, bool stopping,
                      const std::optional<JobVerdict>& verdict) {
  session_.tell_ending(mine);
  if (verdict) return;
  if (stopping) begin_patience();
  loop_.on_readable(signals_.fd(), [this] { take_signals(); });
  slow_.set(kWorthAWord, [this] { news_.waiting(); });
  loop_.run_until([&verdict] { return verdict.has_value(); });
}

void Conclusion::begin_patience() {
  if (!deadline_.is_set()) deadline_.set(patience_, [this] { session_.decide_now(); });
}

void Conclusion::take_signals() {
  while (const std::optional<int> signal = signals_.next()) take(*signal);
}

void Conclusion::take(int signal) {
  if (signal == SIGTSTP) return terminal_.suspend_launcher();
  if (!asks_to_end(signal)) return;
  const StopPolicy::Order order = interrupts_.interrupted(signal, std::chrono::steady_clock::now());
  if (order == StopPolicy::Order::Stop) {
    begin_patience();
    session_.tell_stop(news_.interrupt(signal));
  } else if (order == StopPolicy::Order::Kill) {
    // Once more, and nobody is waited for any longer.
    if (std::exchange(killed_, true)) return session_.decide_now();
    session_.tell_kill();
  }
}

}  // namespace paddle_launch
