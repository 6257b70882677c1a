// SPDX-License-Identifier: Apache-2.0
#include "launcher/nccl/keeper_wire.h"

#include <fmt/format.h>

#include "launcher/text/number.h"

namespace paddle_launch {
namespace {

// Takes the text up to the line's end out of the packet.
std::optional<std::string_view> take_line(std::string_view& packet) {
  const std::size_t end = packet.find('\n');
  if (end == std::string_view::npos) return std::nullopt;
  const std::string_view line = packet.substr(0, end);
  packet.remove_prefix(end + 1);
  return line;
}

std::optional<int> take_number(std::string_view& packet) {
  const auto line = take_line(packet);
  const auto number = line ? parse_whole_number(*line) : std::nullopt;
  if (!number || *number < 0 || *number > 1'000'000'000) return std::nullopt;
  return static_cast<int>(*number);
}

}  // namespace

std::string pack_order(const IdOrder& order) {
  return fmt::format("{}\n{}", order.count, order.interface_name);
}

std::optional<IdOrder> unpack_order(std::string_view packet) {
  const auto count = take_number(packet);
  if (!count) return std::nullopt;
  return IdOrder{*count, std::string(packet)};
}

std::string pack_ids(const NcclIds& ids) {
  std::string packet = fmt::format("{}\n{}\n", ids.version, ids.library);
  for (const std::string& id : ids.ids) packet += id;
  return packet;
}

std::optional<NcclIds> unpack_ids(std::string_view packet) {
  const auto version = take_number(packet);
  const auto library = version ? take_line(packet) : std::nullopt;
  if (!library || packet.empty() || packet.size() % kNcclIdBytes != 0) return std::nullopt;
  NcclIds ids{{}, *version, std::string(*library)};
  for (; !packet.empty(); packet.remove_prefix(kNcclIdBytes)) {
    ids.ids.emplace_back(packet.substr(0, kNcclIdBytes));
  }
  return ids;
}

}  // namespace paddle_launch
