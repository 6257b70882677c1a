// SPDX-License-Identifier: Apache-2.0
// The roster as it travels: at most 16 bytes a pod in the usual case, since a star that sends text
// to M pods sends M times M lines of it.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "launcher/job/pod.h"
#include "launcher/text/wire.h"

namespace paddle_launch {

// Host, cards, ports and roles of one pod in as few bytes as it takes: what the roster and an offer
// share. Pod name, master port and PCI addresses are not part of it.
//
// `previous`: the pod before, PodOffer{} for the first. `known_host`: what the other side takes for
// its host when none is sent; may be null. Both must be the same on both sides.
void write_pod(WireWriter& writer, const PodOffer& pod, const PodOffer& previous,
               const std::string* known_host);
PodOffer read_pod(WireReader& reader, const PodOffer& previous, const std::string* known_host);

// `known_hosts`: what every pod knows already (--ips); a pod whose host is the entry at its own
// place sends no host at all. Pod names and PCI addresses stay at home, and so do master ports
// except the first pod's.
std::string pack_pods(const std::vector<PodOffer>& pods,
                      const std::vector<std::string>& known_hosts);

// Nothing: malformed. Never allocates more than a small multiple of what the bytes can hold.
std::optional<std::vector<PodOffer>> unpack_pods(std::string_view bytes,
                                                 const std::vector<std::string>& known_hosts);

}  // namespace paddle_launch
