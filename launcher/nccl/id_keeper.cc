// SPDX-License-Identifier: Apache-2.0
#include "launcher/nccl/id_keeper.h"

#include <poll.h>
#include <sys/socket.h>
#include <sys/wait.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <ctime>
#include <utility>

#include <fmt/format.h>

#include "launcher/nccl/keeper_process.h"
#include "launcher/nccl/keeper_wire.h"
#include "launcher/os/check.h"
#include "launcher/text/signal_name.h"

namespace paddle_launch {
namespace {

using std::chrono::milliseconds;
using std::chrono::steady_clock;

// The longest to wait for a killed keeper to be gone; usually it takes a few milliseconds.
constexpr milliseconds kLastBreath{500};

// Signals stay blocked from before the fork on: a handler of the launcher's must not run in the
// child, and nothing but SIGKILL ends it before the launcher does.
pid_t fork_keeper(int socket, const NcclSearch& search) {
  sigset_t all;
  sigset_t before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  const pid_t launcher = getpid();
  const pid_t child = fork();
  const int error = errno;
  if (child == 0) be_the_keeper(socket, launcher, search);
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  errno = error;
  return check(child, "fork");
}

enum class Life { Going, Gone };

// Reaps it if it is dead. Gone as well is what somebody else has reaped: its number may be a
// stranger's, who must not be killed.
Life look_after(pid_t child, int* status) {
  return waitpid(child, status, WNOHANG) == 0 ? Life::Going : Life::Gone;
}

Life look_after_for(pid_t child, milliseconds patience, int* status) {
  const auto until = steady_clock::now() + patience;
  for (timespec pause{0, 20'000};; pause.tv_nsec = std::min(pause.tv_nsec * 2, 1'000'000L)) {
    if (look_after(child, status) == Life::Gone) return Life::Gone;
    if (steady_clock::now() >= until) return Life::Going;
    nanosleep(&pause, nullptr);
  }
}

}  // namespace

NcclKeeper::NcclKeeper(const NcclSearch& search) {
  std::array<int, 2> ends{};
  check(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends.data()), "socketpair");
  socket_.reset(ends[0]);
  const UniqueFd theirs(ends[1]);
  pid_ = fork_keeper(theirs.get(), search);
}

NcclKeeper::NcclKeeper(NcclKeeper&& other) noexcept
    : pid_(std::exchange(other.pid_, -1)),
      socket_(std::move(other.socket_)),
      ids_(std::move(other.ids_)),
      problem_(std::move(other.problem_)),
      step_(std::move(other.step_)) {}

NcclKeeper& NcclKeeper::operator=(NcclKeeper&& other) noexcept {
  if (this == &other) return *this;
  end();
  pid_ = std::exchange(other.pid_, -1);
  socket_ = std::move(other.socket_);
  ids_ = std::move(other.ids_);
  problem_ = std::move(other.problem_);
  step_ = std::move(other.step_);
  return *this;
}

NcclKeeper::~NcclKeeper() { end(); }

void NcclKeeper::end() {
  socket_.reset();
  if (pid_ < 0) return;
  int status = 0;
  if (look_after(pid_, &status) == Life::Going) {
    kill(pid_, SIGKILL);
    look_after_for(pid_, kLastBreath, &status);
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
  if (look_after_for(pid_, kLastBreath, &status) == Life::Gone) {
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
