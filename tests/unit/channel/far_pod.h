// SPDX-License-Identifier: Apache-2.0
// A hub on the loopback interface and launchers that come to it, all on the test's one loop.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "launcher/channel/dialer.h"
#include "launcher/channel/hub.h"
#include "launcher/os/event_loop.h"
#include "launcher/os/sockets.h"
#include "launcher/text/ipv4.h"

namespace paddle_launch {

inline ChannelIdentity identity_of_tests() {
  return {.secret = job_secret("token", "train.py"),
          .greeting = {"0.1.0", "ann", "train.py", "n1"},
          .keep_alive = keep_alive_for(std::chrono::seconds(10))};
}

// The other side of one of the hub's links: writes down what it hears.
class FarPod {
 public:
  FarPod(EventLoop& loop, int port)
      : dialer_(loop, identity_of_tests(), {{kLoopback, port}}, std::nullopt,
                {.found = [this](std::unique_ptr<Link> link) { take(std::move(link)); },
                 .failed =
                     [](const DialFailure& failure) {
                       throw std::runtime_error("no way to the hub: " + failure.why);
                     }}) {}

  bool is_connected() const { return link_ != nullptr; }
  // As soon as it is connected.
  void say(const Message& message) {
    unsent_.push_back(message);
    if (link_) flush();
  }
  void leave() { link_.reset(); }
  std::unique_ptr<Link> give_link() {
    link_->stop_listening();
    return std::move(link_);
  }

  // The last of this kind; null: none.
  template <class Kind>
  const Kind* heard() const {
    const Kind* last = nullptr;
    for (const Message& message : messages) {
      if (const auto* one = std::get_if<Kind>(&message)) last = one;
    }
    return last;
  }

  std::vector<Message> messages{};
  bool is_gone = false;  // the hub closed it
  std::function<void(const Message&)> on_message{};

 private:
  void take(std::unique_ptr<Link> link) {
    link_ = std::move(link);
    link_->listen([this](const Message& message) { hear(message); },
                  [this](const LinkEnd&) { is_gone = true; });
    flush();
  }
  void flush() {
    for (const Message& message : std::exchange(unsent_, {})) link_->send(message);
  }
  // Whoever is refused goes, as a launcher does.
  void hear(const Message& message) {
    messages.push_back(message);
    if (on_message) on_message(message);
    if (std::holds_alternative<RefusalMessage>(message)) leave();
  }

  std::unique_ptr<Link> link_;
  std::vector<Message> unsent_;
  Dialer dialer_;
};

class WithHub : public ::testing::Test {
 protected:
  WithHub() : watchdog_(loop_) {
    watchdog_.set(std::chrono::seconds(15), [] { throw std::runtime_error("nothing happens"); });
    UniqueFd listener = listen_on(kLoopback, 0, 64);
    port_ = local_port(listener.get());
    hub_ = std::make_unique<Hub>(loop_, std::move(listener), identity_of_tests());
    at_hub_ = hub_.get();
  }

  void turn_until(const std::function<bool()>& condition) {
    while (!run_until(loop_, std::chrono::milliseconds(2), condition)) {
    }
  }
  // For conditions of what happens while something else turns the loop.
  void once(std::function<bool()> condition, std::function<void()> then) {
    loop_.after(std::chrono::milliseconds(2),
                [this, condition = std::move(condition), then = std::move(then)] {
                  return condition() ? then() : once(condition, then);
                });
  }

  // Connected when this returns; the hub counts those who come from 0.
  std::unique_ptr<FarPod> come() {
    const std::size_t before = at_hub_->members();
    auto pod = std::make_unique<FarPod>(loop_, port_);
    turn_until([&] { return pod->is_connected() && at_hub_->members() > before; });
    return pod;
  }

  EventLoop loop_;
  Alarm watchdog_;
  int port_ = 0;
  std::unique_ptr<Hub> hub_;  // until a test gives it away
  Hub* at_hub_ = nullptr;     // wherever it is
};

}  // namespace paddle_launch
