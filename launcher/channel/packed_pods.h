// SPDX-License-Identifier: Apache-2.0
// The roster as it travels: 3 to 5 bytes a pod in the usual case, since a star that sends text to M
// pods sends M times M lines of it.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "launcher/channel/fields.h"
#include "launcher/job/pod.h"

namespace paddle_launch {

// Host, cards, ports and roles of one pod alone, as an offer brings them. Pod name, master port and
// PCI addresses are not part of it.
void packed_pod(FieldWriter& wire, const PodOffer& pod);
void packed_pod(FieldReader& wire, PodOffer& pod);  // into a new one

// `known_hosts`: what every pod knows already (--ips); a pod whose host is the entry at its own
// place sends no host at all. Pod names and PCI addresses stay at home, and so do master ports
// except the first pod's.
std::string pack_pods(const std::vector<PodOffer>& pods,
                      const std::vector<std::string>& known_hosts);

// Nothing: malformed. Never allocates more than a small multiple of what the bytes can hold.
std::optional<std::vector<PodOffer>> unpack_pods(std::string_view bytes,
                                                 const std::vector<std::string>& known_hosts);

}  // namespace paddle_launch
