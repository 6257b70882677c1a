// SPDX-License-Identifier: Apache-2.0
// In which of several forms the parts of a pod travel: the shortest that holds them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include "launcher/job/pod.h"

namespace paddle_launch {

// What the forms are: see pod_wire.cc.
enum class HostForm : std::uint8_t { Known, Ipv4, Text };
enum class ShapeForm : std::uint8_t { Same, Counted, Listed };
enum class PortsForm : std::uint8_t { Consecutive, Listed };
enum class RolesForm : std::uint8_t { None, Listed };

struct Forms {
  HostForm host = HostForm::Known;
  ShapeForm shape = ShapeForm::Same;
  PortsForm ports = PortsForm::Consecutive;
  RolesForm roles = RolesForm::None;
};

// What a pod may hold that takes no bytes of its own, in the forms Same and Counted. A larger pod
// is listed, and so pays for its memory on the other side.
constexpr std::size_t kMostUnpaid = 256;
bool may_be_unpaid(std::size_t trainers, std::size_t cards);
bool may_be_unpaid(const PodOffer& pod);

inline bool is_port(int port) { return port >= 0 && port <= kLastPort; }

Forms choose_forms(const PodOffer& pod, const PodOffer& previous, const std::string* known_host);

std::uint8_t byte_of(Forms forms);
std::optional<Forms> forms_of(std::uint8_t byte);

}  // namespace paddle_launch
