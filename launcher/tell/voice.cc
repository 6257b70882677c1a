// SPDX-License-Identifier: Apache-2.0
#include "launcher/tell/voice.h"

#include <array>
#include <chrono>
#include <ctime>

#include <fmt/format.h>

namespace paddle_launch {

namespace {

constexpr std::array<std::string_view, 4> kNames = {"DEBUG", "INFO", "WARNING", "ERROR"};

std::string formatted(std::chrono::system_clock::time_point now) {
  const std::time_t seconds = std::chrono::system_clock::to_time_t(now);
  const auto millis =
      std::chrono::duration_cast<std::chrono::milliseconds>(now.time_since_epoch()).count() % 1000;
  std::tm local{};
  localtime_r(&seconds, &local);
  std::array<char, 32> text{};
  const std::size_t size = std::strftime(text.data(), text.size(), "%Y-%m-%d %H:%M:%S", &local);
  return fmt::format("{},{:03}", std::string_view(text.data(), size), millis);
}

}  // namespace

std::string timestamp() { return formatted(std::chrono::system_clock::now()); }

std::string timestamp_of(std::chrono::steady_clock::time_point moment) {
  const auto ago = std::chrono::steady_clock::now() - moment;
  return formatted(std::chrono::system_clock::now() -
                   std::chrono::duration_cast<std::chrono::system_clock::duration>(ago));
}

void Voice::say(LogLevel level, std::string_view text) const {
  if (level < level_) return;
  sink_(fmt::format("{} {} paddle-launch] {}\n", kNames[static_cast<std::size_t>(level)],
                    timestamp(), text));
}

void Voice::block(std::string_view text) const {
  if (level_ <= LogLevel::Info) sink_(text);
}

}  // namespace paddle_launch
