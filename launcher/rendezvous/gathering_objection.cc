// SPDX-License-Identifier: Apache-2.0
// Why somebody who comes to a gathering cannot take part.
#include <algorithm>

#include <fmt/format.h>

#include "launcher/rendezvous/agreement.h"
#include "launcher/rendezvous/gathering.h"

namespace paddle_launch {

std::optional<std::string> Gathering::objection(int member, const OfferMessage& offer) const {
  if (auto problem = misfit(mine_, offer)) return problem;
  if (settings_.elastic) return std::nullopt;
  if (auto taken = taken_place(member, offer)) return taken;
  if (members_.contains(member) || free_places() > 0) return std::nullopt;
  return fmt::format(
      "{} is one launcher too many: all {} nodes of this job are there; give this launch a "
      "--job_id of its own",
      node_name(offer), settings_.nodes);
}

std::optional<std::string> Gathering::taken_place(int member, const OfferMessage& offer) const {
  if (!offer.terms.place) return std::nullopt;
  const int place = *offer.terms.place;
  if (mine_.terms.place == place) return both_claim(mine_, offer);
  for (const auto& [other, arrived] : arrived_) {
    if (other != member && arrived.terms.place == place) return both_claim(arrived, offer);
  }
  // It is still about to make its offer.
  for (const auto& [other, others_place] : members_) {
    const bool is_here = other != member && others_place == place && hub_->has(other);
    if (!is_here) continue;
    return fmt::format(
        "{} is in this job already, with another launcher; stop one of them, or, if these are two "
        "jobs, give each its own --job_id",
        node_name(offer));
  }
  if (place < settings_.nodes) return std::nullopt;
  return no_such_place(offer, settings_.nodes);
}

// That neither those who have come nor those who are about to make their offer will need.
int Gathering::free_places() const {
  const auto is_awaited = [this](const auto& one) {
    return hub_->has(one.first) && !arrived_.contains(one.first);
  };
  const auto awaited = std::count_if(members_.begin(), members_.end(), is_awaited);
  return settings_.nodes - here() - static_cast<int>(awaited);
}

// Who is out of reach comes too late when somebody else has its place; where others are free, a
// node without a place of its own takes one of those.
void Gathering::take_place_of_absent(const OfferMessage& offer) {
  const auto away = std::find_if(members_.begin(), members_.end(), [&](const auto& one) {
    return hub_->is_away(one.first) && offer.terms.place.value_or(one.second) == one.second;
  });
  if (away == members_.end()) return;
  const auto absent = std::count_if(members_.begin(), members_.end(),
                                    [this](const auto& one) { return hub_->is_away(one.first); });
  if (offer.terms.place || free_places() <= absent) hub_->drop(away->first);
}

}  // namespace paddle_launch
