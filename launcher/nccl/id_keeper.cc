// SPDX-License-Identifier: Apache-2.0
#include "launcher/nccl/id_keeper.h"

#include <poll.h>
#include <sys/socket.h>
#include <sys/wait.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>

#include <fmt/format.h>

#include "launcher/nccl/keeper_process.h"
#include "launcher/nccl/keeper_wire.h"
#include "launcher/os/check.h"
#include "launcher/os/child.h"
#include "launcher/text/signal_name.h"

namespace paddle_launch {
namespace {

using std::chrono::milliseconds;
using std::chrono::steady_clock;

// The longest to wait for a killed keeper to be gone; usually it takes a few milliseconds.
constexpr milliseconds kLastBreath{500};

}  // namespace

NcclKeeper::NcclKeeper(const NcclSearch& search) {
  std::array<int, 2> ends{};
  check(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends.data()), "socketpair");
  socket_.reset(ends[0]);
  const UniqueFd theirs(ends[1]);
  pid_ = fork_with_signals_blocked(
      [&](pid_t launcher) { be_the_nccl_keeper(theirs.get(), launcher, search); });
}

NcclKeeper::~NcclKeeper() { end(); }

void NcclKeeper::end() {
  socket_.reset();
  if (pid_ < 0) return;
  if (!is_gone(pid_)) {
    kill(pid_, SIGKILL);
    is_gone_within(pid_, kLastBreath);
  }
  pid_ = -1;
}

void NcclKeeper::ask(int count, const std::string& interface_name) {
  const std::string order = pack_order({count, interface_name});
  // A keeper that is gone shows in receive(), with what it said last.
  const ssize_t sent = send(socket_.get(), order.data(), order.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
  if (sent < 0 && errno != EPIPE && errno != ECONNRESET) check(sent, "send", "the NCCL keeper");
}

bool NcclKeeper::receive() {
  std::string packet;
  while (!is_answered()) {
    packet.resize(kLongestPacket);
    const ssize_t size = recv(socket_.get(), packet.data(), packet.size(), MSG_DONTWAIT);
    if (size < 0 && errno == EINTR) continue;
    if (size < 0 && errno == EAGAIN) return false;
    packet.resize(static_cast<std::size_t>(std::max<ssize_t>(size, 0)));
    packet.empty() ? explain_the_end() : take(packet);
  }
  return true;
}

void NcclKeeper::take(const std::string& packet) {
  const std::string text = packet.substr(1);
  switch (static_cast<KeeperWord>(packet.front())) {
    case KeeperWord::Step:
      step_ = text;
      break;
    case KeeperWord::Problem:
      problem_ = text;
      break;
    case KeeperWord::Ids:
      ids_ = unpack_ids(text);
      if (!ids_) problem_ = "the NCCL keeper gave ids that cannot be read";
      break;
  }
}

void NcclKeeper::explain_the_end() {
  int status = 0;
  std::string how;
  if (is_gone_within(pid_, kLastBreath, &status)) {
    pid_ = -1;
    if (WIFSIGNALED(status)) how = fmt::format("by {} ", signal_name(WTERMSIG(status)));
  }
  problem_ = fmt::format("the process that holds libnccl ended {}while {}", how, step_);
}

const std::optional<NcclIds>& NcclKeeper::wait(milliseconds deadline) {
  const auto until = steady_clock::now() + deadline;
  while (!receive()) {
    const auto left = std::chrono::ceil<milliseconds>(until - steady_clock::now()).count();
    if (left <= 0) {
      problem_ =
          fmt::format("libnccl gave no ids within {} ms; it was {}", deadline.count(), step_);
      break;
    }
    pollfd waiting{socket_.get(), POLLIN, 0};
    poll(&waiting, 1, static_cast<int>(std::min<long>(left, 60'000)));
  }
  return ids_;
}

}  // namespace paddle_launch
