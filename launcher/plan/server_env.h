// SPDX-License-Identifier: Apache-2.0
// The environment that Paddle's readers of 2.0 to 3.x find in a job with parameter servers, and on
// request the one of Paddle's first cluster documents. Every name is written in the .cc files.
#pragma once

#include <optional>
#include <vector>

#include "launcher/job/environment.h"
#include "launcher/job/job_spec.h"
#include "launcher/job/plan.h"
#include "launcher/plan/paddle_env.h"

namespace paddle_launch {

// The cards of this node from which its workers take one each, in turns.
struct CardsOfNode {
  std::optional<CardKind> kind{};  // none: CPU
  std::vector<Card> cards{};

  // None: there are no cards, or a server asks.
  const Card* of(const RoleProcess& process) const {
    if (process.name.role == Role::Server || cards.empty()) return nullptr;
    return &cards[static_cast<std::size_t>(process.on_node) % cards.size()];
  }
};

PaddleEnv common_server_env(const ServerWorld& world, const ServerSpec& spec,
                            const PaddleEnvSettings& settings);

// Of one process of this pod. Servers get back what the user says of visible cards.
std::vector<EnvVar> role_env(const ServerWorld& world, const ServerSpec& spec,
                             const RoleProcess& process, const CardsOfNode& cards,
                             const Environment& user);

}  // namespace paddle_launch
