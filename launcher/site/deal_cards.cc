// SPDX-License-Identifier: Apache-2.0
// How the chosen cards are dealt to the node's trainers.
#include <cstddef>
#include <string>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "launcher/job/errors.h"
#include "launcher/site/choose_cards.h"

namespace paddle_launch {
namespace {

using Hands = std::vector<std::vector<Card>>;

std::string option_of(const ChosenCards& chosen) {
  return fmt::format("--{}", words_of(chosen.kind.value_or(CardKind::Gpu)).option);
}

void require_positive(int nproc_per_node) {
  if (nproc_per_node >= 1) return;
  throw UsageError(fmt::format(
      "--nproc_per_node={}: a node needs at least one process; give 1 or more", nproc_per_node));
}

// The part of `nproc_per_node` that falls to each launcher.
std::size_t part_of_processes(int nproc_per_node, const NodeShare& share) {
  if (nproc_per_node % share.launchers == 0) {
    return static_cast<std::size_t>(nproc_per_node / share.launchers);
  }
  throw UsageError(fmt::format(
      "--nproc_per_node={0}: this node has {1} launchers, and {0} processes cannot be shared out "
      "evenly among them; start as many launchers on a node as divide {0}, or change "
      "--nproc_per_node, which counts the processes of the whole node",
      nproc_per_node, share.launchers));
}

std::size_t part_of_cards(const ChosenCards& chosen, const NodeShare& share) {
  const std::size_t cards = chosen.cards.size();
  const auto launchers = static_cast<std::size_t>(share.launchers);
  if (cards % launchers == 0) return cards / launchers;
  std::vector<std::string> names;
  for (const Card& card : chosen.cards) names.push_back(card.name);
  throw UsageError(fmt::format(
      "this node has {} card{} ({}) and {} launchers; the launchers cannot have the same number of "
      "cards each. Start as many launchers on a node as divide its cards (one is enough for all of "
      "them), or name cards with {}.",
      cards, cards == 1 ? "" : "s", fmt::join(names, ","), share.launchers, option_of(chosen)));
}

Hands deal_evenly(const ChosenCards& chosen, std::size_t trainers) {
  const std::size_t cards = chosen.cards.size();
  if (cards % trainers != 0) {
    throw UsageError(fmt::format(
        "{0}' number:{1} mod nproc_per_node:{2} must == 0: {1} cards cannot be dealt evenly to {2} "
        "processes; change --nproc_per_node, or name other cards with --{0}",
        words_of(chosen.kind.value_or(CardKind::Gpu)).option, cards, trainers));
  }
  const auto each = static_cast<std::ptrdiff_t>(cards / trainers);
  Hands dealt;
  for (auto next = chosen.cards.begin(); next != chosen.cards.end(); next += each) {
    dealt.emplace_back(next, next + each);
  }
  return dealt;
}

std::size_t trainers_of_mine(const ChosenCards& chosen, std::optional<int> nproc_per_node,
                             const NodeShare& share) {
  if (nproc_per_node) return part_of_processes(*nproc_per_node, share);
  if (chosen.cards.empty()) return 1;
  return share.own_cards ? chosen.cards.size() : part_of_cards(chosen, share);
}

}  // namespace

Hands deal_cards(const ChosenCards& chosen, std::optional<int> nproc_per_node,
                 const NodeShare& share) {
  if (nproc_per_node) require_positive(*nproc_per_node);
  const std::size_t mine = trainers_of_mine(chosen, nproc_per_node, share);
  if (chosen.cards.empty()) return Hands(mine);
  if (share.own_cards) return deal_evenly(chosen, mine);
  const Hands all = deal_evenly(chosen, mine * static_cast<std::size_t>(share.launchers));
  const auto first = all.begin() + first_of_share(share, static_cast<int>(mine));
  return {first, first + static_cast<std::ptrdiff_t>(mine)};
}

}  // namespace paddle_launch
