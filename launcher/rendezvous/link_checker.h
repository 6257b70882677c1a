// SPDX-License-Identifier: Apache-2.0
// --check: each pod opens the ports that it offered, and every pod tries every other one's. The hub
// gives the sign when all ports are open, and collects what was found.
#pragma once

#include <deque>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "launcher/channel/job_channel.h"
#include "launcher/job/link_check.h"
#include "launcher/job/roster.h"
#include "launcher/os/alarm.h"
#include "launcher/os/event_loop.h"
#include "launcher/os/unique_fd.h"

namespace paddle_launch {

class LinkChecker {
 public:
  // `machine`: this node's host name.
  LinkChecker(EventLoop& loop, JobChannel& channel, const Roster& roster, std::string machine);
  LinkChecker(const LinkChecker&) = delete;
  LinkChecker& operator=(const LinkChecker&) = delete;
  ~LinkChecker();

  // Throws NodeMissing when the hub was lost.
  LinkCheck run();

 private:
  struct Attempt {
    int to = 0;
    std::uint32_t address = 0;
    int port = 0;
    UniqueFd socket{};
    EventLoop::Clock::time_point begun{};
  };

  void open_ports();
  void take(int node, const Message& message);
  void lose(const StopCause& cause);
  void give_sign_when_all_are_ready();
  void begin_tries();
  void queue_tries(int to, const std::vector<std::uint32_t>& addresses, const std::string& problem);
  void begin_some();
  void finish(int fd, const std::string& problem);
  void finish_late_ones();
  void note(int to, int port, double ms, const std::string& problem);
  void hand_in();
  void take_row(int node, const std::vector<LinkTry>& tries);
  void report_when_all_rows_are_in();
  void give_up_on_silent_ones();

  EventLoop& loop_;
  JobChannel& channel_;
  const Roster& roster_;
  int mine_;
  std::string machine_;
  std::vector<UniqueFd> listeners_;
  std::deque<Attempt> waiting_;
  std::map<int, Attempt> trying_;
  std::map<int, LinkTry> row_;  // by the node that was tried
  Alarm late_;
  Alarm deadline_;
  std::set<int> not_ready_;     // of the hub
  std::set<int> rows_missing_;  // of the hub
  LinkCheck result_;
  std::optional<std::string> hub_lost_;
};

}  // namespace paddle_launch
