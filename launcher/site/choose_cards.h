// SPDX-License-Identifier: Apache-2.0
// Which cards this node's trainers use: options, visibility variables and what the machine has,
// brought together. Only the probe asks the machine.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "launcher/job/card.h"
#include "launcher/job/environment.h"
#include "launcher/job/job_spec.h"
#include "launcher/job/pod.h"
#include "launcher/site/found_cards.h"
#include "launcher/text/device_list.h"

namespace paddle_launch {

struct ChosenCards {
  std::optional<CardKind> kind;  // none: CPU
  std::vector<Card> cards;       // in the order of the trainers

  bool operator==(const ChosenCards&) const = default;
};

// The probe is asked at most once, and not at all under --assume_gpus.
ChosenCards choose_cards(const JobSpec& job, const Environment& env,
                         const std::function<FoundCards(CardKind)>& probe);
// With the cards that this machine has.
ChosenCards choose_cards(const JobSpec& job, const Environment& env);

// The cards of each of this launcher's trainers. One trainer a card; with --nproc_per_node (which
// speaks of the whole node) equal consecutive slices; on the CPU empty slices, one for each
// launcher unless told otherwise. The launchers of a node take equal parts of its trainers, in
// their order.
std::vector<std::vector<Card>> deal_cards(const ChosenCards& chosen,
                                          std::optional<int> nproc_per_node,
                                          const NodeShare& share = {});

struct VisibleCards {
  std::string variable;
  std::string value;            // as set
  std::vector<CardName> names;  // in logical order; empty: every card is hidden

  bool operator==(const VisibleCards&) const = default;
};

// None: unset or "all". The list ends, as for CUDA, at the first empty entry, "-1" or "NoDevFiles".
// Throws UsageError where it names no card, names one twice, or mixes numbers and UUIDs.
std::optional<VisibleCards> visible_cards(CardKind kind, const Environment& env);

// The variable of this kind that is set; none: none is.
std::optional<std::string> visibility_variable(CardKind kind, const Environment& env);

}  // namespace paddle_launch
