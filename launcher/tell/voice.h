// SPDX-License-Identifier: Apache-2.0
// The launcher's own lines: "INFO 2026-11-16 06:09:36,185 paddle-launch] text".
#pragma once

#include <chrono>
#include <functional>
#include <string>
#include <string_view>
#include <utility>

#include "launcher/job/job_spec.h"

namespace paddle_launch {

// Local time; "2026-11-16 06:09:36,185". A moment of the steady clock is told in the time of
// today's clock, so a clock that jumps moves no durations.
std::string timestamp();
std::string timestamp_of(std::chrono::steady_clock::time_point moment);

class Voice {
 public:
  using Sink = std::function<void(std::string_view)>;

  Voice(LogLevel level, Sink sink) : level_(level), sink_(std::move(sink)) {}

  void debug(std::string_view text) const { say(LogLevel::Debug, text); }
  void info(std::string_view text) const { say(LogLevel::Info, text); }
  void warning(std::string_view text) const { say(LogLevel::Warning, text); }
  void error(std::string_view text) const { say(LogLevel::Error, text); }
  // Without date and level, for what must stand as it is; shown at Info and below.
  void block(std::string_view text) const;
  // Shown whatever the level.
  void always(std::string_view text) const { sink_(text); }

 private:
  void say(LogLevel level, std::string_view text) const;

  LogLevel level_;
  Sink sink_;
};

}  // namespace paddle_launch
