// SPDX-License-Identifier: Apache-2.0
// Tasks that mpirun or srun started together: their offers are gathered, task 0 shares the job's
// secret and where its hub is, and from then on the job channel holds them together as always.
#pragma once

#include "launcher/os/event_loop.h"
#include "launcher/rendezvous/rendezvous.h"
#include "launcher/rendezvous/task_group.h"
#include "launcher/rendezvous/task_meeting.h"
#include "launcher/rendezvous/tcp_settings.h"

namespace paddle_launch {

struct TaskParty {
  TaskGroup group{};
  std::vector<NodeFacts> facts{};  // by pod
};

// Asks every task where it is.
TaskParty gather_tasks(TaskMeeting& meeting, int my_task, const NodeFacts& mine);

class Scheduler final : public Rendezvous {
 public:
  // `settings`: identity without its secret, time-out and callbacks.
  Scheduler(EventLoop& loop, TaskMeeting& meeting, const TaskParty& party, TcpSettings settings);
  Met meet(const JobTerms& terms, const PodOffer& mine, const PayloadMaker& payload) override;

 private:
  std::vector<OfferMessage> gather_offers(const JobTerms& terms, const PodOffer& mine);
  std::vector<std::uint32_t> own_addresses() const;
  [[noreturn]] void refuse(const RefusalMessage& problem);
  void share_hub_address(int trainers, const PayloadMaker& payload);

  EventLoop& loop_;
  TaskMeeting& meeting_;
  const TaskParty& party_;
  TcpSettings settings_;
  UniqueFd listener_;  // on the first pod
  std::string payload_;
};

}  // namespace paddle_launch
