// SPDX-License-Identifier: Apache-2.0
// A collective job of one pod, for the tests of this room.
#pragma once

#include <string>

#include "launcher/plan/paddle_env.h"
#include "launcher/plan/world.h"

namespace paddle_launch {

inline WorldPlan world_of(int trainers, int cards_each, const std::string& host = "127.0.0.1") {
  PodOffer pod{
      .name = "abcdef", .host = host, .card_kind = {}, .trainers = {}, .master_port = 6000};
  if (cards_each > 0) pod.card_kind = CardKind::Gpu;
  int card = 0;
  for (int i = 0; i < trainers; ++i) {
    TrainerOffer offer{.cards = {}, .port = 7000 + i};
    for (int j = 0; j < cards_each; ++j, ++card)
      offer.cards.push_back({std::to_string(card), std::to_string(card), {}});
    pod.trainers.push_back(offer);
  }
  return plan_world({.pods = {pod}, .mine = 0});
}

inline const PaddleEnvSettings kSettings{
    .backend = "auto", .log_dir = "/logs", .job_id = "default", .temporary_dir = "/tmp"};

}  // namespace paddle_launch
