// SPDX-License-Identifier: Apache-2.0
// One node's part of --check: it connects to the ports of all the others, some at a time, and none
// of them for longer than kTryTime.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "launcher/job/link_check.h"
#include "launcher/os/event_loop.h"
#include "launcher/os/unique_fd.h"

namespace paddle_launch {

constexpr std::chrono::seconds kTryTime{5};

class LinkTries {
 public:
  // What was found, one for each node that was added, in their order.
  using Done = std::function<void(const std::vector<LinkTry>&)>;

  LinkTries(EventLoop& loop, int from, Done done);
  LinkTries(const LinkTries&) = delete;
  LinkTries& operator=(const LinkTries&) = delete;
  ~LinkTries();

  void add(int to, std::uint32_t address, const std::vector<int>& ports);
  // There is nothing to connect to.
  void add_failed(int to, const std::string& problem);
  void begin() { begin_some(); }

  // Where nobody answers at so many ports.
  static std::chrono::seconds longest(std::size_t ports);

 private:
  struct Attempt {
    int to = 0;
    std::uint32_t address = 0;
    int port = 0;
    UniqueFd socket{};
    EventLoop::Clock::time_point begun{};
  };

  void begin_some();
  void begin_one(Attempt attempt);
  void finish(int fd, const std::string& problem);
  void finish_late_ones();
  void wait_for_the_oldest();
  void note(int to, int port, double ms, const std::string& problem);
  void hand_in();

  EventLoop& loop_;
  int from_;
  Done done_;
  std::deque<Attempt> waiting_;
  std::map<int, Attempt> trying_;
  std::map<int, LinkTry> row_;  // by the node that is tried
  Alarm late_;
};

}  // namespace paddle_launch
