// SPDX-License-Identifier: Apache-2.0
// What is left of a round's channel for the next round: connections that need not be made again,
// and what came over them since the verdict.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "launcher/channel/hub.h"
#include "launcher/channel/link.h"
#include "launcher/channel/message.h"

namespace paddle_launch {

// What happens while nobody meets: kept for whoever listens next.
struct BetweenNews {
  std::vector<std::pair<int, Message>> messages{};  // by member of the hub; the hub itself is 0
  std::vector<std::pair<int, std::string>> gone{};  // members that the hub has lost, and why
  std::string hub_is_gone{};                        // of a member: why; empty: it is there

  // Somebody ended the job, or it cannot go on.
  const RefusalMessage* refusal() const {
    for (const auto& [member, message] : messages) {
      if (const auto* refusal = std::get_if<RefusalMessage>(&message)) return refusal;
    }
    return nullptr;
  }
};

struct Connections {
  std::unique_ptr<Hub> hub{};        // of the hub
  std::map<int, int> members{};      // of the hub: the place of each in the round before
  std::vector<std::string> names{};  // of the pods of that round, by their places
  std::unique_ptr<Link> link{};      // of a member
  std::vector<std::string> lost{};   // names of the pods that the hub lost in that round
  // Shared with the events that fill it.
  std::shared_ptr<BetweenNews> news = std::make_shared<BetweenNews>();
};

inline void listen_for_the_next(Connections& connections) {
  const auto news = connections.news;
  if (connections.hub) {
    connections.hub->set_events(
        {.message =
             [news](int member, Message message) {
               news->messages.emplace_back(member, std::move(message));
             },
         .gone = [news](int member,
                        const std::string& why) { news->gone.emplace_back(member, why); },
         .remark = {}});
  }
  if (connections.link) {
    connections.link->set_events(
        {.proved = [] {},
         .message = [news](Message message) { news->messages.emplace_back(0, std::move(message)); },
         .ended = [news](const LinkEnd& end) { news->hub_is_gone = end.why; }});
  }
}

}  // namespace paddle_launch
