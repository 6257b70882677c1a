// SPDX-License-Identifier: Apache-2.0
// --check: each pod opens the ports that it offered, and every pod tries every other one's. The hub
// gives the sign when all ports are open, and collects what was found. A node that is lost on the
// way is a row without answers, and holds up nobody; without a hub each has its own row to show.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "launcher/channel/session.h"
#include "launcher/job/link_check.h"
#include "launcher/job/pod.h"
#include "launcher/os/event_loop.h"
#include "launcher/os/unique_fd.h"

namespace paddle_launch {

constexpr std::chrono::seconds kTryTime{5};

// One node's part: it connects to the ports of all the others, some at a time, and none of them for
// longer than kTryTime.
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

class LinkChecker final : private RoundEvents {
 public:
  // `machine`: this node's host name.
  LinkChecker(EventLoop& loop, Session& session, const Roster& roster, std::string machine);
  LinkChecker(const LinkChecker&) = delete;
  LinkChecker& operator=(const LinkChecker&) = delete;
  ~LinkChecker() override;

  LinkCheck run();

 private:
  enum class Phase { OpeningPorts, Trying, OwnRowIsIn, Over };

  void open_ports();
  void on_message(int node, const Message& message) override;
  // Of the hub: a node was lost.
  bool on_lost(const StopCause& cause) override;
  // Of a member: the hub was.
  void on_stop(const StopCause& cause) override;
  void begin_when_all_are_ready();
  void begin();
  std::chrono::seconds time_for_rows() const;
  void on_own_row(const std::vector<LinkTry>& tries);
  void on_row(int node, const std::vector<LinkTry>& tries);
  void give_up_on_silent_ones();
  void report_when_all_rows_are_in();
  void end_without_hub();
  void end();

  EventLoop& loop_;
  Session& session_;
  const Roster& roster_;
  int mine_;
  std::string machine_;
  Phase phase_ = Phase::OpeningPorts;
  std::vector<UniqueFd> listeners_;
  LinkTries tries_;
  Alarm deadline_;
  std::set<int> not_ready_;     // of the hub
  std::set<int> rows_missing_;  // of the hub
  LinkCheck result_;
};

}  // namespace paddle_launch
