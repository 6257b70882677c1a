// SPDX-License-Identifier: Apache-2.0
// Tasks of a step of Slurm that can be joined by no plugin: the step itself says how many there are
// and where, so they meet over TCP without being told.
#pragma once

#include <optional>

#include "launcher/rendezvous/rendezvous.h"
#include "launcher/rendezvous/star.h"
#include "launcher/site/launch_values.h"
#include "launcher/tell/narrator.h"

namespace paddle_launch {

class SlurmStepRendezvous final : public Rendezvous {
 public:
  SlurmStepRendezvous(const Launch& launch, Narrator& narrator);

  const TaskGroup* tasks() const override { return &group_; }
  Gathered gather(const Brought& brought) override;
  Session& session() override { return star_->session(); }

 private:
  const Launch& launch_;
  Narrator& narrator_;
  TaskGroup group_;
  std::optional<Star> star_;
};

}  // namespace paddle_launch
