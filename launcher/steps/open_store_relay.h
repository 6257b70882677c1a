// SPDX-License-Identifier: Apache-2.0
// Where rank 0 is: the relay before its store, there before the first trainer starts.
#pragma once

#include <memory>
#include <optional>

#include "launcher/os/event_loop.h"
#include "launcher/job/plan.h"
#include "launcher/run/store_relay.h"
#include "launcher/tell/voice.h"

namespace paddle_launch {

// None: this pod has no such relay. `voice` outlives it. Throws LaunchError.
std::unique_ptr<StoreRelay> open_store_relay(EventLoop& loop,
                                             const std::optional<StoreRelayPlace>& relay,
                                             const Voice& voice);

}  // namespace paddle_launch
