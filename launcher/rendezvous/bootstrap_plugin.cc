// SPDX-License-Identifier: Apache-2.0
// docs/writing-a-plugin.md.
#include "launcher/rendezvous/bootstrap_plugin.h"

#include <array>
#include <stdexcept>

#include <fmt/format.h>

namespace paddle_launch {
namespace {

constexpr std::size_t kLongestReason = 1024;

// Makes one call with room for its reason.
template <typename Call>
void demand(Call call) {
  std::array<char, kLongestReason> text{};
  paddle_launch_reason why{text.data(), text.size()};
  if (call(&why) == 0) return;
  text.back() = '\0';
  throw std::runtime_error(text.front() != '\0' ? text.data() : "it gave no reason");
}

using Call = const paddle_launch_bootstrap_v1* (*)();

const paddle_launch_bootstrap_v1* enter(const SharedLibrary& library) {
  const auto* calls = library.symbol<Call>("paddle_launch_bootstrap")();
  if (calls == nullptr) throw std::runtime_error("it says that it cannot be used here");
  if (calls->abi != PADDLE_LAUNCH_BOOTSTRAP_ABI) {
    throw std::runtime_error(
        fmt::format("it was built for version {} of the plugin interface, this launcher has "
                    "version {}; install plugins and launcher of one version",
                    calls->abi, PADDLE_LAUNCH_BOOTSTRAP_ABI));
  }
  if (calls->open == nullptr) throw std::runtime_error(calls->name);
  return calls;
}

// Called from C: nothing may be thrown through it.
struct Taken {
  std::vector<std::string> by_task{};
  bool failed = false;
};

void take(void* user, std::uint32_t rank, const void* bytes, std::size_t size) noexcept {
  auto* taken = static_cast<Taken*>(user);
  try {
    if (taken->by_task.size() <= rank) taken->by_task.resize(rank + std::size_t{1});
    if (size > 0) taken->by_task[rank].assign(static_cast<const char*>(bytes), size);
  } catch (...) {
    taken->failed = true;
  }
}

void must_be_complete(const Taken& taken) {
  if (taken.failed) throw std::runtime_error("there is not enough memory for what the tasks said");
}

}  // namespace

BootstrapPlugin::BootstrapPlugin(const std::string& path)
    : library_(path), calls_(enter(library_)) {}

void BootstrapPlugin::open() const {
  demand([this](paddle_launch_reason* why) { return calls_->open(why); });
}

TaskNumber BootstrapPlugin::number() const {
  std::uint32_t rank = 0;
  std::uint32_t size = 0;
  demand([&](paddle_launch_reason* why) { return calls_->identity(&rank, &size, why); });
  if (rank >= size) {
    throw std::runtime_error(fmt::format("it says that this is task {} of {}", rank, size));
  }
  return {static_cast<int>(rank), static_cast<int>(size)};
}

std::vector<std::string> BootstrapPlugin::allgather(std::string_view mine) const {
  Taken taken;
  demand([&](paddle_launch_reason* why) {
    return calls_->allgather(mine.data(), mine.size(), take, &taken, why);
  });
  must_be_complete(taken);
  return std::move(taken.by_task);
}

std::string BootstrapPlugin::broadcast(std::string_view bytes) const {
  Taken taken;
  demand([&](paddle_launch_reason* why) {
    return calls_->broadcast(bytes.empty() ? nullptr : bytes.data(), bytes.size(), take, &taken,
                             why);
  });
  must_be_complete(taken);
  return taken.by_task.empty() ? std::string() : std::move(taken.by_task.front());
}

void BootstrapPlugin::abort(int status, const std::string& message) const {
  if (calls_->abort != nullptr) calls_->abort(status, message.c_str());
}

void BootstrapPlugin::close() const {
  demand([this](paddle_launch_reason* why) { return calls_->close(why); });
}

}  // namespace paddle_launch
