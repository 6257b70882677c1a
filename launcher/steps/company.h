// SPDX-License-Identifier: Apache-2.0
// Which launchers this one was started together with, and the way to meet them. Alone is a company
// of one.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "launcher/job/environment.h"
#include "launcher/job/job_spec.h"
#include "launcher/os/event_loop.h"
#include "launcher/rendezvous/choose.h"
#include "launcher/rendezvous/scheduler.h"
#include "launcher/site/machine.h"

namespace paddle_launch {

class Company {
 public:
  // The meeting of tasks begins at once, in a child.
  Company(EventLoop& loop, const JobSpec& job, const Environment& env, const Surroundings& around,
          const Machine& here);

  // Waits until every task has said where it is. Throws what hinders it.
  void gather();

  Way way() const { return way_; }
  const Surroundings& surroundings() const { return around_; }
  const TaskGroup& group() const { return party_.group; }
  // Those that a scheduler started; null: nobody did.
  const TaskGroup* tasks() const { return is_scheduled() ? &party_.group : nullptr; }
  const TaskParty& party() const { return party_; }
  TaskMeeting& meeting() { return *meeting_; }
  void expect_ids() {
    if (meeting_) meeting_->expect_ids();
  }
  std::string remark() const { return meeting_ ? meeting_->remark() : std::string(); }

  // Where --ips, --master or --nnodes say something else than the scheduler, whose word counts.
  std::vector<std::string> contradictions(const JobSpec& job, const Roster& roster) const;

  // A scheduler says who belongs together; all its tasks share one console, and the first one
  // speaks.
  bool is_scheduled() const { return way_ == Way::Tasks || way_ == Way::SlurmStep; }
  bool speaks() const { return !is_scheduled() || party_.group.mine == 0; }
  bool has_several_pods() const { return way_ != Way::Solo; }

 private:
  void gather_through_plugins();
  void let_the_first_task_speak();
  void read_step();

  EventLoop& loop_;
  const Machine& here_;
  const Environment& env_;
  Surroundings around_;
  Choice choice_;
  Way way_;
  TaskParty party_;
  std::unique_ptr<TaskMeeting> meeting_;
};

}  // namespace paddle_launch
