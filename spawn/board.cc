// SPDX-License-Identifier: Apache-2.0
#include "spawn/board.h"

#include <sys/mman.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <system_error>

#include "launcher/cli/value_rule.h"

namespace paddle_launch {
namespace {

constexpr std::size_t kLongestText = 4000;

// Plain numbers with atomic_ref: fresh pages are zero, and those that nobody writes cost nothing.
struct Text {
  std::size_t size;
  std::array<char, kLongestText> bytes;

  void set(std::string_view text) {
    const std::size_t length = std::min(text.size(), bytes.size());
    std::copy_n(text.begin(), length, bytes.begin());
    std::atomic_ref(size).store(length, std::memory_order_release);
  }
  std::string get() {
    const std::size_t length = std::atomic_ref(size).load(std::memory_order_acquire);
    return {bytes.data(), std::min(length, bytes.size())};
  }
};

struct Slot {
  pid_t pid;
  Text error;
};

struct Ending {
  int is_told;
  int status;
  int rank;
  pid_t pid;
  int code;
  int signal;
  bool was_stopped;
  Text text;
};

}  // namespace

struct Board::Layout {
  std::size_t count;
  Ending ending;
  std::array<Slot, kMostOnANode> slots;
};

Board::Board() {
  void* const memory = mmap(nullptr, sizeof(Layout), PROT_READ | PROT_WRITE,
                            MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory == MAP_FAILED)
    throw std::system_error(errno, std::generic_category(), "mmap for spawn");
  layout_ = static_cast<Layout*>(memory);
}

Board::~Board() { munmap(layout_, sizeof(Layout)); }

void Board::begin(std::size_t index, std::size_t count, pid_t pid) {
  Slot& slot = layout_->slots.at(index);
  std::atomic_ref(slot.error.size).store(0);  // of an earlier round
  std::atomic_ref(slot.pid).store(pid);
  std::atomic_ref(layout_->count).store(count);
}

void Board::tell_error(std::size_t index, std::string_view message) {
  layout_->slots.at(index).error.set(message);
}

void Board::end(const BoardEnd& end) {
  Ending& ending = layout_->ending;
  ending.status = end.status;
  ending.rank = end.rank;
  ending.pid = end.pid;
  ending.code = end.code;
  ending.signal = end.signal;
  ending.was_stopped = end.was_stopped;
  ending.text.set(end.text);
  std::atomic_ref(ending.is_told).store(1, std::memory_order_release);
}

std::optional<std::vector<pid_t>> Board::pids() const {
  const std::size_t count = std::atomic_ref(layout_->count).load();
  std::vector<pid_t> pids;
  for (std::size_t i = 0; i < count; ++i) {
    const pid_t pid = std::atomic_ref(layout_->slots.at(i).pid).load();
    if (pid == 0) return std::nullopt;
    pids.push_back(pid);
  }
  if (pids.empty()) return std::nullopt;
  return pids;
}

std::string Board::error_of(pid_t pid) const {
  const std::size_t count = std::atomic_ref(layout_->count).load();
  for (std::size_t i = 0; i < count; ++i) {
    Slot& slot = layout_->slots.at(i);
    if (std::atomic_ref(slot.pid).load() == pid) return slot.error.get();
  }
  return {};
}

std::optional<BoardEnd> Board::ending() const {
  Ending& ending = layout_->ending;
  if (std::atomic_ref(ending.is_told).load(std::memory_order_acquire) == 0) return std::nullopt;
  return BoardEnd{.status = ending.status,
                  .rank = ending.rank,
                  .pid = ending.pid,
                  .code = ending.code,
                  .signal = ending.signal,
                  .was_stopped = ending.was_stopped,
                  .text = ending.text.get()};
}

}  // namespace paddle_launch
