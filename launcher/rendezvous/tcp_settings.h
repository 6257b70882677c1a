// SPDX-License-Identifier: Apache-2.0
// Where the hub of a meeting over TCP is, and what is told meanwhile: typed by the user, or found
// with the help of a scheduler.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "launcher/channel/hub.h"
#include "launcher/job/waiting_facts.h"

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
  std::chrono::milliseconds timeout{0};

  // Where a scheduler started several pods on a node: the node and the name of each pod's place.
  std::vector<int> node_of{};
  std::vector<std::string> names{};
  bool hub_tells_for_all = false;  // all launchers share one console: a refusal is said once

  std::function<void(const WaitingFacts&)> waiting{};            // about once a second
  std::function<std::string(const WaitingFacts&)> never_came{};  // the error after the timeout
  std::function<void(const std::string&)> refusal{};  // with hub_tells_for_all: said at once
  std::function<void(const std::string&)> remark{};
  std::function<void(const std::string&)> problem{};  // why it takes a while until we end
};

}  // namespace paddle_launch
