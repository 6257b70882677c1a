// SPDX-License-Identifier: Apache-2.0
// Host, cards, ports and roles of one pod in as few bytes as it takes: what the roster and an offer
// share. Pod name, master port and PCI addresses are not part of it.
#pragma once

#include <cstddef>
#include <string>

#include "launcher/job/pod.h"
#include "launcher/text/wire.h"

namespace paddle_launch {

constexpr std::size_t kLeastBytesOfPod = 3;

// `previous`: the pod before, PodOffer{} for the first. `known_host`: what the other side takes for
// its host when none is sent; may be null. Both must be the same on both sides.
void write_pod(WireWriter& writer, const PodOffer& pod, const PodOffer& previous,
               const std::string* known_host);
PodOffer read_pod(WireReader& reader, const PodOffer& previous, const std::string* known_host);

}  // namespace paddle_launch
