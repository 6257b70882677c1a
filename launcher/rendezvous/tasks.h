// SPDX-License-Identifier: Apache-2.0
// Tasks that mpirun or srun started together, and that a plugin joins: everything that has to be
// known is exchanged through a child that speaks PMIx or MPI (task_meeting). Task 0 shares the
// job's secret and where its hub is, and from then on the session holds them together as always.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "launcher/rendezvous/choose.h"
#include "launcher/rendezvous/rendezvous.h"
#include "launcher/rendezvous/star.h"
#include "launcher/rendezvous/task_meeting.h"
#include "launcher/site/launch_values.h"
#include "launcher/tell/narrator.h"

namespace paddle_launch {

class Tasks final : public Rendezvous {
 public:
  // The child begins at once.
  Tasks(const Launch& launch, const Choice& choice, Narrator& narrator);

  // Waits until every task has said where it is. False: no plugin can be used, reasons() say why.
  bool open();
  const std::string& reasons() const { return meeting_.reasons(); }

  const TaskGroup* tasks() const override { return &group_; }
  Gathered gather(const Brought& brought) override;
  Session& session() override { return star_->session(); }

 private:
  std::vector<OfferMessage> gather_offers(const OfferMessage& mine);
  std::vector<std::uint32_t> own_addresses() const;
  [[noreturn]] void refuse(const RefusalMessage& problem);
  Gathered gather_first(const OfferMessage& mine, const Brought& brought);

  const Launch& launch_;
  Narrator& narrator_;
  TaskMeeting meeting_;
  TaskGroup group_;
  std::vector<NodeFacts> facts_;  // by pod
  std::vector<std::string> pod_names_;
  std::optional<Star> star_;
};

}  // namespace paddle_launch
