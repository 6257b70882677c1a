// SPDX-License-Identifier: Apache-2.0
// Members whose connection broke while the job was being stopped, and who come back over another.
#include <utility>

#include "launcher/channel/hub.h"
#include "launcher/job/errors.h"

namespace paddle_launch {

void Hub::void_tickets() {
  tickets_.clear();
  away_.clear();
  for_returning_.clear();
  places_held_.stop();
}

Ticket Hub::give_ticket(int member) {
  const Key key = random_key();
  tickets_[member] = key;
  return {.member = member, .key = std::string(bytes_of(key))};
}

void Hub::hold_places(std::chrono::milliseconds longest) {
  places_held_.set(longest, [this] {
    for (const auto& [member, why] : std::exchange(away_, {})) {
      drop(member);
      if (events_.gone) events_.gone(member, why);
    }
  });
}

// A launcher that ended closes its connections; one that lives behind a broken network does not.
bool Hub::goes_away(int id, const LinkEnd& end) {
  if (end.is_closed || !places_held_.is_set() || !tickets_.contains(id)) return false;
  links_.erase(id);
  away_[id] = end.why;
  if (events_.away) events_.away(id, end.why);
  return true;
}

// The hub may not have noticed yet that the connection before this one is broken.
void Hub::take_return(int id, const Ticket& ticket) {
  const int member = ticket.member;
  const auto given = tickets_.find(member);
  const auto key = key_of(ticket.key);
  if (given == tickets_.end() || !key || !same(given->second, *key)) {
    note_stranger(id, "it asked for the place of a node and has no ticket for it");
    return send(id, RefusalMessage{.status = kNodeMissingStatus,
                                   .node = -1,
                                   .text = "the job has gone on without this node"});
  }
  if (id == member) return;
  std::unique_ptr<Link> link = std::move(links_.at(id));
  peers_[member] = peers_.at(id);
  if (const auto clock = clock_of(id)) clocks_.insert_or_assign(member, *clock);
  drop(id);
  link->set_events(link_events(member));
  for (const std::string& message : for_returning_) link->send_encoded(message);
  links_[member] = std::move(link);
  const bool was_away = away_.erase(member) > 0;
  if (was_away && events_.back) events_.back(member);
}

}  // namespace paddle_launch
