// SPDX-License-Identifier: Apache-2.0
#include "launcher/steps/open_store_door.h"

#include <system_error>

#include <fmt/format.h>

#include "launcher/job/errors.h"
#include "launcher/text/ipv4.h"

namespace paddle_launch {

std::unique_ptr<StoreDoor> open_store_door(EventLoop& loop, const std::optional<DoorOfStore>& door,
                                           const Voice& voice) {
  if (!door) return nullptr;
  // A store listens on all addresses of its host, as this name may mean another one elsewhere.
  const auto address = parse_ipv4(door->host);
  const bool is_for_this_host = address && is_loopback(*address);
  try {
    return std::make_unique<StoreDoor>(
        loop,
        StoreDoorSettings{.address = is_for_this_host ? *address : 0,
                          .port = door->port,
                          .store_port = door->store_port,
                          .tell = [&voice](const std::string& text) { voice.warning(text); }});
  } catch (const std::system_error& error) {
    throw LaunchError(
        fmt::format("cannot receive the ranks at PADDLE_MASTER={}:{} in place of rank 0's store: "
                    "{}; start the job again, or leave that to rank 0 with --store_door=off",
                    door->host, door->port, error.code().message()));
  }
}

}  // namespace paddle_launch
