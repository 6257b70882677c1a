// SPDX-License-Identifier: Apache-2.0
#include "launcher/channel/dialer.h"

#include <algorithm>
#include <cerrno>
#include <system_error>
#include <utility>

#include "launcher/os/sockets.h"

namespace paddle_launch {
namespace {

// Packets that vanish in a firewall are not waited for any longer.
constexpr std::chrono::seconds kConnectTime{3};
constexpr std::chrono::milliseconds kHeadStart{100};
constexpr std::chrono::milliseconds kHeadStartOfAnAnswer{1000};
constexpr std::size_t kLongestFromHub = 64 * 1024 * 1024;

}  // namespace

Dialer::Dialer(EventLoop& loop, ChannelIdentity identity, const std::vector<DialTarget>& targets,
               std::optional<std::uint32_t> from, Events events)
    : loop_(loop),
      identity_(std::move(identity)),
      events_(std::move(events)),
      connect_time_(loop),
      head_start_(loop),
      from_(from) {
  for (const DialTarget& target : targets) {
    if (target.port == targets.front().port) {
      begin(target);
    } else {
      others_.push_back(target);
    }
  }
  if (connecting_.empty()) begin_others();
  give_head_start();
  // Also when every attempt failed at once: nobody expects an event before the constructor is done.
  const bool none = connecting_.empty();
  connect_time_.set(none ? std::chrono::milliseconds(0) : kConnectTime, [this] {
    std::vector<int> silent;
    for (const auto& attempt : connecting_) silent.push_back(attempt.first);
    for (const int fd : silent) lose(fd, Depth::Silent, connection_problem(ETIMEDOUT));
    finish_if_all_failed();
  });
}

Dialer::~Dialer() {
  for (const auto& attempt : connecting_) loop_.forget(attempt.first);
}

// The first port is nearly always the hub's: ten attempts of each of thousands of nodes would be
// nine too many.
void Dialer::give_head_start() {
  if (others_.empty()) return;
  head_start_.set(kHeadStart, [this] {
    // A busy machine may be connected and not have come round to it.
    const bool answered =
        !greeting_.empty() ||
        std::any_of(connecting_.begin(), connecting_.end(),
                    [](const auto& attempt) { return connect_result(attempt.first) == 0; });
    if (!answered) return begin_others();
    head_start_.set(kHeadStartOfAnAnswer, [this] { begin_others(); });
  });
}

void Dialer::begin_others() {
  head_start_.stop();
  for (const DialTarget& target : std::exchange(others_, {})) begin(target);
}

void Dialer::begin(const DialTarget& target) {
  try {
    UniqueFd socket = begin_connect(target.address, target.port, from_);
    const int fd = socket.get();
    connecting_.emplace(fd, std::move(socket));
    targets_[fd] = target;
    loop_.on_writable(fd, [this, fd] { connected(fd); });
  } catch (const std::system_error& error) {
    const int number = error.code().value();
    lose(-1, number == ECONNREFUSED ? Depth::Refused : Depth::Failed, connection_problem(number));
  }
}

void Dialer::connected(int fd) {
  const int error = connect_result(fd);
  if (error != 0) {
    lose(fd, error == ECONNREFUSED ? Depth::Refused : Depth::Failed, connection_problem(error));
    return finish_if_all_failed();
  }
  loop_.forget(fd);
  UniqueFd socket = std::move(connecting_.at(fd));
  connecting_.erase(fd);
  set_no_delay(fd);
  set_keep_alive(fd, identity_.keep_alive);
  greeting_.emplace(fd,
                    std::make_unique<Link>(
                        loop_, std::move(socket),
                        Handshake(Handshake::Role::Member, identity_.secret, identity_.greeting,
                                  identity_.open, identity_.any_command),
                        kLongestFromHub,
                        Link::Events{.proved = [this, fd] { proved(fd); },
                                     .message = [](const Message&) {},
                                     .ended = [this, fd](const LinkEnd& end) { ended(fd, end); }}));
}

void Dialer::ended(int fd, const LinkEnd& end) {
  const Handshake& handshake = greeting_.at(fd)->handshake();
  const bool is_other_command = end.greeting == Handshake::State::OtherCommand;
  if (is_other_command || end.greeting == Handshake::State::OtherJob) {
    failure_.other_jobs.push_back({handshake.theirs(), targets_.at(fd), is_other_command});
  }
  lose(fd, Depth::Answered, end.why);
  finish_if_all_failed();
}

void Dialer::proved(int fd) {
  std::unique_ptr<Link> link = std::move(greeting_.at(fd));
  greeting_.clear();
  for (const auto& attempt : connecting_) loop_.forget(attempt.first);
  connecting_.clear();
  connect_time_.stop();
  head_start_.stop();
  link->stop_listening();
  const auto found = events_.found;  // the dialer may go while it is called
  found(std::move(link));
}

void Dialer::lose(int fd, Depth depth, const std::string& why) {
  if (connecting_.contains(fd)) loop_.forget(fd);
  connecting_.erase(fd);
  greeting_.erase(fd);
  if (depth_ && depth <= *depth_) return;
  depth_ = depth;
  failure_.is_refused = depth == Depth::Refused;
  failure_.why = why;
}

void Dialer::finish_if_all_failed() {
  if (connecting_.empty() && greeting_.empty()) begin_others();
  if (!connecting_.empty() || !greeting_.empty()) return;
  connect_time_.stop();
  const auto failed = events_.failed;
  const DialFailure failure = failure_;
  failed(failure);
}

}  // namespace paddle_launch
