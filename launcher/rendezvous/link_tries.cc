// SPDX-License-Identifier: Apache-2.0
#include "launcher/rendezvous/link_tries.h"

#include <algorithm>
#include <system_error>
#include <utility>

#include "launcher/channel/link.h"
#include "launcher/os/sockets.h"

namespace paddle_launch {
namespace {

constexpr std::size_t kTriesAtOnce = 64;

}  // namespace

LinkTries::LinkTries(EventLoop& loop, int from, Done done)
    : loop_(loop), from_(from), done_(std::move(done)), late_(loop) {}

LinkTries::~LinkTries() {
  for (const auto& attempt : trying_) loop_.forget(attempt.first);
}

std::chrono::seconds LinkTries::longest(std::size_t ports) {
  return kTryTime * static_cast<int>((ports + kTriesAtOnce - 1) / kTriesAtOnce);
}

void LinkTries::add(int to, std::uint32_t address, const std::vector<int>& ports) {
  row_[to] = LinkTry{.from = from_, .to = to};
  for (const int port : ports) waiting_.push_back({.to = to, .address = address, .port = port});
}

void LinkTries::add_failed(int to, const std::string& problem) {
  row_[to] = LinkTry{.from = from_, .to = to, .problem = problem};
}

void LinkTries::begin_some() {
  while (!waiting_.empty() && trying_.size() < kTriesAtOnce) {
    Attempt next = std::move(waiting_.front());
    waiting_.pop_front();
    begin_one(std::move(next));
  }
  if (trying_.empty()) return hand_in();
  wait_for_the_oldest();
}

void LinkTries::begin_one(Attempt attempt) {
  attempt.begun = EventLoop::Clock::now();
  try {
    attempt.socket = begin_connect(attempt.address, attempt.port);
  } catch (const std::system_error& error) {
    return note(attempt.to, attempt.port, 0, connection_problem(error.code().value()));
  }
  const int fd = attempt.socket.get();
  trying_.emplace(fd, std::move(attempt));
  loop_.on_writable(fd, [this, fd] {
    const int error = connect_result(fd);
    finish(fd, error == 0 ? "" : connection_problem(error));
    begin_some();
  });
}

void LinkTries::finish(int fd, const std::string& problem) {
  const auto found = trying_.find(fd);
  const Attempt& attempt = found->second;
  const std::chrono::duration<double, std::milli> took = EventLoop::Clock::now() - attempt.begun;
  note(attempt.to, attempt.port, took.count(), problem);
  loop_.forget(fd);
  trying_.erase(found);
}

void LinkTries::wait_for_the_oldest() {
  const auto oldest = std::min_element(
      trying_.begin(), trying_.end(),
      [](const auto& a, const auto& b) { return a.second.begun < b.second.begun; });
  const auto left = oldest->second.begun + kTryTime - EventLoop::Clock::now();
  late_.set(std::chrono::ceil<std::chrono::milliseconds>(left), [this] { finish_late_ones(); });
}

void LinkTries::finish_late_ones() {
  std::vector<int> late;
  const auto now = EventLoop::Clock::now();
  for (const auto& [fd, attempt] : trying_) {
    if (now - attempt.begun >= kTryTime) late.push_back(fd);
  }
  const std::string silence = "no answer in " + std::to_string(kTryTime.count()) + " s";
  for (const int fd : late) finish(fd, silence);
  begin_some();
}

// A link is as good as the worst of its ports.
void LinkTries::note(int to, int port, double ms, const std::string& problem) {
  LinkTry& link = row_[to];
  const bool is_worse =
      problem.empty() ? link.problem.empty() && ms >= link.ms : link.problem.empty();
  if (!is_worse) return;
  link.port = port;
  link.ms = ms;
  link.problem = problem;
}

void LinkTries::hand_in() {
  late_.stop();
  std::vector<LinkTry> tries;
  for (const auto& link : row_) tries.push_back(link.second);
  done_(tries);
}

}  // namespace paddle_launch
