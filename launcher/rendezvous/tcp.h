// SPDX-License-Identifier: Apache-2.0
// Nodes that were started by hand meet over TCP: --ips or --master says where.
#pragma once

#include <optional>

#include "launcher/rendezvous/rendezvous.h"
#include "launcher/rendezvous/star.h"
#include "launcher/site/launch_values.h"
#include "launcher/tell/narrator.h"

namespace paddle_launch {

class Tcp final : public Rendezvous {
 public:
  Tcp(const Launch& launch, Narrator& narrator) : launch_(launch), narrator_(narrator) {}

  Gathered gather(const Brought& brought) override;
  Session& session() override { return star_->session(); }
  bool others_may_come() const override { return true; }

 private:
  const Launch& launch_;
  Narrator& narrator_;
  std::optional<Star> star_;
};

// A node that cannot take part tells the others so, but keeps its own user waiting no longer.
std::chrono::milliseconds patience_with(const Offer& offer, const JobSpec& job);

}  // namespace paddle_launch
