// SPDX-License-Identifier: Apache-2.0
// How the chosen cards are dealt to the node's trainers.
#include <cstddef>

#include <fmt/format.h>

#include "launcher/job/errors.h"
#include "launcher/site/choose_cards.h"

namespace paddle_launch {

std::vector<std::vector<Card>> deal_cards(const ChosenCards& chosen,
                                          std::optional<int> nproc_per_node) {
  if (nproc_per_node && *nproc_per_node < 1) {
    throw UsageError(
        fmt::format("--nproc_per_node={}: a node needs at least one process; give 1 or more.",
                    *nproc_per_node));
  }
  const std::size_t cards = chosen.cards.size();
  if (cards == 0)
    return std::vector<std::vector<Card>>(static_cast<std::size_t>(nproc_per_node.value_or(1)));
  const auto trainers = nproc_per_node ? static_cast<std::size_t>(*nproc_per_node) : cards;
  if (cards % trainers != 0) {
    throw UsageError(fmt::format(
        "{0}' number:{1} mod nproc_per_node:{2} must == 0: {1} cards cannot be dealt evenly to {2} "
        "processes; change --nproc_per_node, or name other cards with --{0}.",
        words_of(chosen.kind.value_or(CardKind::Gpu)).option, cards, trainers));
  }
  const auto share = static_cast<std::ptrdiff_t>(cards / trainers);
  std::vector<std::vector<Card>> dealt;
  for (auto next = chosen.cards.begin(); next != chosen.cards.end(); next += share) {
    dealt.emplace_back(next, next + share);
  }
  return dealt;
}

}  // namespace paddle_launch
