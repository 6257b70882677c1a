// SPDX-License-Identifier: Apache-2.0
// Where the hub of a meeting over TCP is: typed by the user, or found with the help of a scheduler.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "launcher/channel/hub.h"

namespace paddle_launch {

struct TcpSettings {
  ChannelIdentity identity{};
  std::string hub_host{};                      // as typed
  std::vector<std::uint32_t> hub_addresses{};  // known already: no name is looked up
  std::vector<int> ports{};                    // where the hub may be: the first that is free
  bool is_hub = false;            // the others look for the hub at one of our addresses
  bool may_join_instead = false;  // --master: somebody else on this machine may be the hub already
  std::optional<std::uint32_t> listen_on{};  // none: every address of this machine
  std::optional<std::uint32_t> from{};       // connect from this address; none: the kernel chooses
  std::vector<std::string> names{};          // of the places, for messages; empty: not known
  bool is_list_typed = false;  // names are addresses, and another one may be the hub's
  std::chrono::milliseconds timeout{0};

  // Where a scheduler started several pods on a node: the node of each pod's place.
  std::vector<int> node_of{};
  bool hub_tells_for_all = false;  // all launchers share one console: a refusal is said once
  bool are_compared = false;       // the offers, before anybody listened
};

}  // namespace paddle_launch
