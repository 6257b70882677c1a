// SPDX-License-Identifier: Apache-2.0
#include "launcher/run/conclusion.h"

#include <csignal>
#include <utility>

namespace paddle_launch {
namespace {

// Nodes seldom finish in the same instant: less is not worth a word.
constexpr std::chrono::seconds kWorthAWord{2};

}  // namespace

Conclusion::Conclusion(EventLoop& loop, SignalWatch& signals, JobChannel& channel,
                       const Terminal& terminal, std::chrono::milliseconds patience,
                       ConclusionNews news)
    : loop_(loop),
      signals_(signals),
      channel_(channel),
      terminal_(terminal),
      patience_(patience),
      news_(std::move(news)),
      deadline_(loop),
      slow_(loop) {}

Conclusion::~Conclusion() { loop_.forget(signals_.fd()); }

JobVerdict Conclusion::wait(const PodEnding& mine, bool stopping,
                            const std::function<void(const std::string&)>& remark,
                            const std::function<void(int node, const Message&)>& other) {
  channel_.set_events({.stop =
                           [this](const StopCause& cause) {
                             news_.stop(cause);
                             begin_patience();
                           },
                       .kill = [] {},
                       .verdict = [this](const JobVerdict& verdict) { verdict_ = verdict; },
                       .remark = remark,
                       .other = other});
  channel_.tell_ending(mine);
  if (verdict_) return *verdict_;
  if (stopping) begin_patience();
  loop_.on_readable(signals_.fd(), [this] { take_signals(); });
  slow_.set(kWorthAWord, [this] { news_.waiting(); });
  loop_.run_until([this] { return verdict_.has_value(); });
  return *verdict_;
}

void Conclusion::begin_patience() {
  if (!deadline_.is_set()) deadline_.set(patience_, [this] { channel_.decide_now(); });
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
    channel_.tell_stop(news_.interrupt(signal));
  } else if (order == StopPolicy::Order::Kill) {
    // Once more, and nobody is waited for any longer.
    if (std::exchange(killed_, true)) return channel_.decide_now();
    channel_.tell_kill();
  }
}

}  // namespace paddle_launch
