// SPDX-License-Identifier: Apache-2.0
#include "launcher/run/console.h"

#include <poll.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <exception>

#include "launcher/os/check.h"
#include "launcher/os/child.h"
#include "launcher/os/clock.h"
#include "launcher/run/console_process.h"
#include "launcher/run/own_words.h"
#include "launcher/text/utf8.h"

namespace paddle_launch {
namespace {

constexpr std::size_t kLargestText = 32 * 1024;
constexpr std::chrono::milliseconds kPatienceWithStderr{500};

// What it means for the job is for others to say.
bool takes_interrupt(SignalWatch& signals) {
  const std::optional<int> signal = signals.next();
  if (!signal || !asks_to_end(*signal)) return false;
  SignalWatch::put_back(*signal);
  return true;
}

}  // namespace

Console::Console(const ConsoleSettings& settings, std::vector<FollowedLog> logs) {
  std::array<int, 2> ends{};
  check(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends.data()), "socketpair");
  socket_.reset(ends[0]);
  UniqueFd consoles_end(ends[1]);
  const pid_t launcher = getpid();
  pid_ = check(fork(), "fork the console");
  if (pid_ != 0) return;
  socket_.reset();
  // Whatever else is open belongs to the launcher: another node must not take us for it.
  close_all_but({consoles_end.get()});
  try {
    ConsoleProcess console(settings, std::move(logs), std::move(consoles_end), launcher);
    console.run();
  } catch (const std::exception&) {
    _exit(1);
  }
  _exit(0);
}

Console::~Console() { give_up(); }

void Console::say(std::string_view text) {
  if (!socket_) return say_patiently(text, kPatienceWithStderr);
  const std::string words = printable(text);
  for (std::string_view rest = words; !rest.empty();) {
    const std::string_view part = rest.substr(0, kLargestText);
    rest.remove_prefix(part.size());
    send_or_keep(std::string(1, kConsoleSay).append(part));
  }
}

void Console::follow(const std::vector<std::int64_t>& begins) {
  send_or_keep(std::string(1, kConsoleFollow)
                   .append(reinterpret_cast<const char*>(begins.data()),
                           begins.size() * sizeof(std::int64_t)));
}

void Console::send_or_keep(std::string message) {
  if (!socket_) return;
  unsent_.push_back(std::move(message));
  send_unsent();
}

void Console::send_unsent() {
  while (!unsent_.empty() && socket_) {
    const std::string& message = unsent_.front();
    const ssize_t sent =
        send(socket_.get(), message.data(), message.size(), MSG_DONTWAIT | MSG_NOSIGNAL);
    if (sent < 0 && errno == EINTR) continue;
    if (sent < 0 && (errno == EAGAIN || errno == EWOULDBLOCK || errno == ENOBUFS)) return;
    if (sent < 0) return give_up();
    unsent_.pop_front();
  }
}

std::optional<char> Console::wait_for_answer(SignalWatch& signals,
                                             std::optional<std::chrono::milliseconds> patience) {
  using Clock = std::chrono::steady_clock;
  std::optional<Clock::time_point> deadline;
  if (patience) deadline = Clock::now() + *patience;
  int signals_fd = signals.fd();
  while (socket_) {
    const auto wanted = static_cast<short>(POLLIN | (unsent_.empty() ? 0 : POLLOUT));
    std::array<pollfd, 2> watched = {pollfd{socket_.get(), wanted, 0},
                                     pollfd{signals_fd, POLLIN, 0}};
    if (deadline && *deadline <= Clock::now()) break;
    poll(watched.data(), watched.size(), deadline ? milliseconds_until(*deadline) : -1);
    if (watched[1].revents != 0 && takes_interrupt(signals)) {
      const auto soon = Clock::now() + kPatienceOfAnImpatientUser;
      deadline = std::min(deadline.value_or(soon), soon);
      signals_fd = -1;
    }
    send_unsent();
    char answer = 0;
    const ssize_t size = recv(socket_.get(), &answer, sizeof answer, MSG_DONTWAIT);
    if (size == 1) return answer;
    if (size == 0 || (size < 0 && errno != EAGAIN && errno != EINTR)) break;
  }
  give_up();
  return std::nullopt;
}

bool Console::drain(SignalWatch& signals, std::optional<std::chrono::milliseconds> patience) {
  send_or_keep(std::string(1, kConsoleDrain));
  return wait_for_answer(signals, patience).has_value();
}

void Console::finish(SignalWatch& signals, std::optional<std::chrono::milliseconds> patience) {
  send_or_keep(std::string(1, kConsoleEnd));
  const std::optional<char> answer = wait_for_answer(signals, patience);
  socket_.reset();
  // Closing inotify takes the kernel some 15 ms; that process is left to end by itself.
  if (answer == kConsoleEnd) waitpid(pid_, nullptr, 0);
  pid_ = -1;
}

void Console::give_up() {
  socket_.reset();
  unsent_.clear();
  if (pid_ <= 0) return;
  kill(pid_, SIGKILL);
  waitpid(pid_, nullptr, WNOHANG);
  pid_ = -1;
}

}  // namespace paddle_launch
