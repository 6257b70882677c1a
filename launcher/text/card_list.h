// SPDX-License-Identifier: Apache-2.0
// Lists of cards as people and schedulers write them: "0, 1", "GPU-8f1c,GPU-77ab", "MIG-…".
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace paddle_launch {

enum class CardNameForm { Number, Uuid, Mig };

struct CardName {
  CardNameForm form = CardNameForm::Number;
  std::string text;  // a number without leading zeros, or the name as written

  bool operator==(const CardName&) const = default;
};

// The entries between commas, blanks and quotes around each taken off. Always at least one, maybe
// empty.
std::vector<std::string> split_card_list(std::string_view list);

// None: not the name of a card.
std::optional<CardName> parse_card_name(std::string_view entry);

}  // namespace paddle_launch
