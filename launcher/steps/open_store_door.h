// SPDX-License-Identifier: Apache-2.0
// Where rank 0 is: the door before its store, open before the first trainer starts.
#pragma once

#include <memory>
#include <optional>

#include "launcher/os/event_loop.h"
#include "launcher/plan/pod_plan.h"
#include "launcher/run/store_door.h"
#include "launcher/tell/voice.h"

namespace paddle_launch {

// None: this pod has no such door. `voice` outlives it. Throws LaunchError.
std::unique_ptr<StoreDoor> open_store_door(EventLoop& loop, const std::optional<DoorOfStore>& door,
                                           const Voice& voice);

}  // namespace paddle_launch
