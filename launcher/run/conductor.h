// SPDX-License-Identifier: Apache-2.0
// When workers start and when servers may go, in a job with servers. The hub hears from every pod
// and tells all. It lives until the end of the round, also when this pod's processes are gone: the
// others may still have something to say.
#pragma once

#include <chrono>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "launcher/channel/session.h"
#include "launcher/job/job_spec.h"
#include "launcher/job/plan.h"
#include "launcher/os/event_loop.h"

namespace paddle_launch {

// Which of these ports of this machine somebody listens on.
using ListeningPorts = std::function<std::set<int>(const std::vector<int>& wanted)>;

struct ConductorSettings {
  std::vector<int> own_servers{};          // their places in the job's list, in the plan's order
  std::vector<int> own_ports{};            // in the same order
  std::vector<std::string> all_servers{};  // the endpoints of the whole job
  std::set<int> pods_with_workers{};       // places in the roster
  int pod = 0;                             // our own
  // With Gloo a server listens only when workers run: servers count as soon as they are started.
  bool start_at_once = false;
  std::chrono::milliseconds server_wait{10'000};
};

ConductorSettings conductor_settings(const ServerWorld& world, const ServerSpec& spec);

// Looks which servers of this pod listen. Warns of one that the other nodes cannot reach.
ListeningPorts look_for_servers(const ServerWorld& world,
                                std::function<void(const std::string&)> warn);

class Conductor {
 public:
  // Whoever has the processes of this pod.
  class Observer {
   public:
    virtual void start_workers() = 0;  // once at most, as the next
    virtual void stop_servers() = 0;
    virtual void on_progress(const std::string& line) = 0;

   protected:
    ~Observer() = default;
  };

  Conductor(EventLoop& loop, Session& channel, ConductorSettings settings, Observer& observer,
            ListeningPorts probe);
  Conductor(const Conductor&) = delete;
  Conductor& operator=(const Conductor&) = delete;

  // The servers of this pod are started. What was taken before has its effect now.
  void begin();
  // What a pod tells those of its job, or one of them.
  void on_message(int node, const Message& message);

  // This process of the plan has exited with 0: nobody waits until it listens.
  void ended_well(int process);
  // All workers of this pod have.
  void workers_done();
  // The last process of this pod is gone: there is nothing to start or stop any more.
  void pod_ended();
  // All workers of the job have ended well, and everybody was told.
  bool is_work_done() const { return phase_ == Phase::Done; }

  // There is a reason to stop: no worker is started from now on, and nothing said about servers.
  void job_stops();

 private:
  enum class Phase { Early, Waiting, Working, Done, Stopping };
  using Clock = EventLoop::Clock;

  void look_for_listeners();
  std::vector<int> those_that_listen() const;
  void tell_who_is_silent(const std::set<int>& silent) const;
  void stop_waiting_for_listeners();
  void give_up_on_silent();
  void count_as_ready(const std::vector<int>& servers, bool are_silent = false);
  void note_ready(const std::vector<int>& servers, bool are_silent);
  void tell_progress();
  void act();
  void start_workers();
  void stop_servers();
  std::string names_of(const std::set<int>& servers) const;

  Session& channel_;
  ConductorSettings settings_;
  Observer& observer_;
  ListeningPorts probe_;
  Alarm next_look_;
  Alarm progress_;
  Clock::time_point begun_at_{};
  std::chrono::milliseconds pause_;   // until the next look
  std::map<int, int> not_listening_;  // own servers that are waited for, with their ports
  std::set<int> not_ready_;           // the hub's: of the whole job
  std::set<int> silent_;              // the hub's: of the whole job, told when workers start
  std::set<int> still_working_;       // the hub's: pods
  Phase phase_ = Phase::Early;
  // A member's: what the hub has told.
  bool may_start_ = false;
  bool may_stop_ = false;
  bool pod_ended_ = false;
};

}  // namespace paddle_launch
