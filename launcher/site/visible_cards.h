// SPDX-License-Identifier: Apache-2.0
// What CUDA_VISIBLE_DEVICES and its relatives for other cards say.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "launcher/job/environment.h"
#include "launcher/job/job_spec.h"
#include "launcher/text/device_list.h"

namespace paddle_launch {

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
