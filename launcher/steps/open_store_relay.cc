// SPDX-License-Identifier: Apache-2.0
#include "launcher/steps/open_store_relay.h"

#include <system_error>

#include <fmt/format.h>

#include "launcher/job/errors.h"
#include "launcher/text/ipv4.h"

namespace paddle_launch {

std::unique_ptr<StoreRelay> open_store_relay(EventLoop& loop,
                                             const std::optional<StoreRelayPlace>& relay,
                                             const Voice& voice) {
  if (!relay) return nullptr;
  // A store listens on all addresses of its host, as this name may mean another one elsewhere.
  const auto address = parse_ipv4(relay->host);
  const bool is_for_this_host = address && is_loopback(*address);
  try {
    return std::make_unique<StoreRelay>(
        loop,
        StoreRelaySettings{.address = is_for_this_host ? *address : 0,
                           .port = relay->port,
                           .store_port = relay->store_port,
                           .tell = [&voice](const std::string& text) { voice.warning(text); }});
  } catch (const std::system_error& error) {
    throw LaunchError(
        fmt::format("cannot receive the ranks at PADDLE_MASTER={}:{} in place of rank 0's store: "
                    "{}; start the job again, or leave that to rank 0 with --store_door=off",
                    relay->host, relay->port, error.code().message()));
  }
}

}  // namespace paddle_launch
