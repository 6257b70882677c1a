// SPDX-License-Identifier: Apache-2.0
#include "launcher/run/console.h"

#include <poll.h>
#include <sys/wait.h>

#include <algorithm>
#include <array>
#include <csignal>
#include <utility>

#include "launcher/os/child.h"
#include "launcher/os/clock.h"
#include "launcher/run/console_process.h"
#include "launcher/run/own_words.h"
#include "launcher/text/utf8.h"
#include "launcher/text/wire.h"

namespace paddle_launch {
namespace {

constexpr std::chrono::milliseconds kPatienceWithStderr{500};

// What it means for the job is for others to say.
bool takes_interrupt(SignalWatch& signals) {
  const std::optional<int> signal = signals.next();
  if (!signal || !asks_to_end(*signal)) return false;
  SignalWatch::put_back(*signal);
  return true;
}

}  // namespace

std::string pack_begins(const std::vector<std::int64_t>& begins) {
  WireWriter out;
  out.varint(begins.size());
  for (const std::int64_t begin : begins) out.signed_varint(begin);
  return out.take();
}

std::vector<std::int64_t> unpack_begins(std::string_view bytes) {
  WireReader in(bytes);
  std::vector<std::int64_t> begins(in.count());
  for (std::int64_t& begin : begins) begin = in.signed_varint();
  return begins;
}

Console::Console(const ConsoleSettings& settings, std::vector<FollowedLog> logs) {
  // Whatever else is open belongs to the launcher: another node must not take us for it.
  Child child =
      start_child({.name = "pl-console", .descriptors = ChildRecipe::Descriptors::Standard},
                  [&](FramePipe launcher) {
                    ConsoleProcess(settings, std::move(logs), std::move(launcher)).run();
                  });
  pid_ = child.pid;
  console_ = std::move(child.pipe);
}

Console::~Console() { give_up(); }

void Console::say(std::string_view text) {
  if (!console_.is_open()) return say_patiently(text, kPatienceWithStderr);
  send_or_keep(ConsoleWord::Say, printable(text));
}

void Console::follow(const std::vector<std::int64_t>& begins) {
  send_or_keep(ConsoleWord::Follow, pack_begins(begins));
}

void Console::send_or_keep(ConsoleWord word, std::string_view bytes) {
  if (console_.is_open() && !console_.push(word, bytes)) give_up();
}

void Console::send_unsent() {
  if (!console_.flush()) give_up();
}

std::optional<ConsoleWord> Console::wait_for_answer(
    SignalWatch& signals, std::optional<std::chrono::milliseconds> patience) {
  using Clock = std::chrono::steady_clock;
  std::optional<Clock::time_point> deadline;
  if (patience) deadline = Clock::now() + *patience;
  int signals_fd = signals.fd();
  while (console_.is_open()) {
    const auto wanted = static_cast<short>(POLLIN | (has_unsent() ? POLLOUT : 0));
    std::array<pollfd, 2> watched = {pollfd{console_.fd(), wanted, 0},
                                     pollfd{signals_fd, POLLIN, 0}};
    if (deadline && *deadline <= Clock::now()) break;
    poll(watched.data(), watched.size(), deadline ? milliseconds_until(*deadline) : -1);
    if (watched[1].revents != 0 && takes_interrupt(signals)) {
      const auto soon = Clock::now() + kPatienceOfAnImpatientUser;
      deadline = std::min(deadline.value_or(soon), soon);
      signals_fd = -1;
    }
    send_unsent();
    const bool is_there = console_.receive();
    if (const auto answer = console_.next()) return static_cast<ConsoleWord>(answer->at(0));
    if (!is_there) break;
  }
  give_up();
  return std::nullopt;
}

bool Console::drain(SignalWatch& signals, std::optional<std::chrono::milliseconds> patience) {
  send_or_keep(ConsoleWord::Drain, "");
  return wait_for_answer(signals, patience).has_value();
}

void Console::finish(SignalWatch& signals, std::optional<std::chrono::milliseconds> patience) {
  send_or_keep(ConsoleWord::End, "");
  const auto answer = wait_for_answer(signals, patience);
  console_ = FramePipe();
  // Closing inotify takes the kernel some 15 ms; that process is left to end by itself.
  if (answer == ConsoleWord::End) waitpid(pid_, nullptr, 0);
  pid_ = -1;
}

void Console::give_up() {
  console_ = FramePipe();
  if (pid_ <= 0) return;
  kill(pid_, SIGKILL);
  waitpid(pid_, nullptr, WNOHANG);
  pid_ = -1;
}

}  // namespace paddle_launch
