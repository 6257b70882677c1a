// SPDX-License-Identifier: Apache-2.0
// Who knocks at the hub of a running round: turned away, kept for the next one, or back.
#include <fmt/format.h>

#include "launcher/channel/hub_channel.h"

namespace paddle_launch {
namespace {

std::optional<RefusalMessage> full_house() {
  return RefusalMessage{.status = 1,
                        .node = -1,
                        .text =
                            "this job is running already with all its nodes; wait for its end, "
                            "or give this launch a --job_id of its own"};
}

}  // namespace

void HubChannel::take_newcomer(int member, const Message& message) {
  const auto* offer = std::get_if<OfferMessage>(&message);
  if (offer == nullptr) return;
  const int nodes = static_cast<int>(accounts_.size());
  spares_.insert_or_assign(member, *offer);
  // The round ends, and there may be another: then whoever was lost may be back.
  const bool may_be_needed = has_policy() && stopping_;
  if (!doorkeeper() && may_be_needed) return hub_->send(member, WaitingMessage{1, nodes, {}});
  const auto refusal = doorkeeper() ? doorkeeper()(*offer) : full_house();
  if (refusal) spares_.erase(member);
  hub_->send(member, refusal ? Message(*refusal) : Message(WaitingMessage{0, nodes, {}}));
}

void HubChannel::tell_of_absence(int member, const std::string* why) {
  const auto found = members_.find(member);
  if (found == members_.end() || !events_.remark) return;
  const std::string& host = account(found->second).host;
  events_.remark(why == nullptr
                     ? fmt::format("node {} is back", host)
                     : fmt::format("node {} is out of reach: {}; waiting for it", host, *why));
}

std::vector<OfferMessage> HubChannel::newcomers() const {
  std::vector<OfferMessage> offers;
  for (const auto& [member, offer] : spares_) {
    if (hub_->has(member)) offers.push_back(offer);
  }
  return offers;
}

}  // namespace paddle_launch
