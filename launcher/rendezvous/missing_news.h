// SPDX-License-Identifier: Apache-2.0
// What a hub tells those who have come about those who have not. Everyone once a second would be
// many messages for a line that few people read: each hears only what is news to it, and of many
// names the first few.
#pragma once

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "launcher/channel/hub.h"
#include "launcher/job/waiting_facts.h"

namespace paddle_launch {

inline void keep_first_names(std::vector<std::string>& names) {
  constexpr std::size_t most = 8;
  names.resize(std::min(names.size(), most));
}

class MissingNews {
 public:
  void tell(Hub& hub, const WaitingFacts& now, const std::map<int, OfferMessage>& arrived) {
    WaitingMessage message{now.missing, now.nodes, now.names};
    if (std::exchange(last_, message) != message) told_.clear();
    const std::string encoded = encode(std::move(message));
    for (const auto& [member, offer] : arrived) {
      if (told_.insert(member).second) hub.send_encoded(member, encoded);
    }
  }

 private:
  WaitingMessage last_;
  std::set<int> told_;  // the members that know it
};

}  // namespace paddle_launch
