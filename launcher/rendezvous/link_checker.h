// SPDX-License-Identifier: Apache-2.0
// --check: each pod opens the ports that it offered, and every pod tries every other one's. The hub
// gives the sign when all ports are open, and collects what was found. A node that is lost on the
// way is a row without answers, and holds up nobody; without a hub each has its own row to show.
#pragma once

#include <chrono>
#include <set>
#include <string>
#include <vector>

#include "launcher/channel/session.h"
#include "launcher/job/link_check.h"
#include "launcher/job/pod.h"
#include "launcher/os/event_loop.h"
#include "launcher/os/unique_fd.h"
#include "launcher/rendezvous/link_tries.h"

namespace paddle_launch {

class LinkChecker final : private RoundEvents {
 public:
  // `machine`: this node's host name.
  LinkChecker(EventLoop& loop, Session& session, const Roster& roster, std::string machine);
  LinkChecker(const LinkChecker&) = delete;
  LinkChecker& operator=(const LinkChecker&) = delete;
  ~LinkChecker();

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
