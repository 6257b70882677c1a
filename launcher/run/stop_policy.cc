// SPDX-License-Identifier: Apache-2.0
#include "launcher/run/stop_policy.h"

#include <csignal>
#include <utility>

namespace paddle_launch {
namespace {

// Closer together, two interrupts are one keypress or one scheduler.
constexpr std::chrono::milliseconds kBetweenInterrupts{500};

bool is_typed(int signal) { return signal == SIGINT || signal == SIGQUIT; }

}  // namespace

StopPolicy::StopPolicy(int workers, std::optional<int> terminal_worker)
    : alive_(workers), terminal_worker_(terminal_worker) {}

StopPolicy::Order StopPolicy::stop(Outcome because) {
  if (verdict_) return Order::Nothing;
  verdict_ = std::move(because);
  return Order::Stop;
}

StopPolicy::Order StopPolicy::worker_exited(const ProcessExit& exit) {
  --alive_;
  exits_.push_back(exit);
  if (!exit.failed()) return Order::Nothing;
  if (exit.worker == terminal_worker_ && is_typed(exit.signal))
    return stop(Interrupted{exit.signal});
  return stop(Failed{exit});
}

// Processes are started in order: those behind this one never were.
StopPolicy::Order StopPolicy::not_started(const NotStarted& problem) {
  alive_ = problem.worker - static_cast<int>(exits_.size());
  return stop(problem);
}

StopPolicy::Order StopPolicy::interrupted(int signal, SteadyTime now) {
  const bool again = first_typed_interrupt_ && now - *first_typed_interrupt_ >= kBetweenInterrupts;
  if (is_typed(signal) && again) return Order::Kill;
  if (is_typed(signal) && !first_typed_interrupt_) first_typed_interrupt_ = now;
  return stop(Interrupted{signal});
}

StopPolicy::Order StopPolicy::guard_lost() {
  alive_ = 0;
  return stop(GuardLost{});
}

StopPolicy::Order StopPolicy::job_stopped(const StopCause& cause) {
  return stop(JobStopped{cause});
}

}  // namespace paddle_launch
