// SPDX-License-Identifier: Apache-2.0
#include "launcher/nccl/keeper_wire.h"

#include "launcher/text/wire.h"

namespace paddle_launch {
namespace {

constexpr std::uint64_t kMostNumber = 1'000'000'000;

int read_number(WireReader& reader) { return static_cast<int>(reader.varint(kMostNumber)); }

void write_number(WireWriter& writer, int number) {
  writer.varint(static_cast<std::uint64_t>(number));
}

}  // namespace

std::string pack_order(const IdOrder& order) {
  WireWriter writer;
  write_number(writer, order.count);
  writer.text(order.interface_name);
  return writer.take();
}

std::optional<IdOrder> unpack_order(std::string_view packet) {
  WireReader reader(packet);
  IdOrder order{.count = read_number(reader)};
  order.interface_name = reader.text(reader.left());
  if (!reader.finished_well()) return std::nullopt;
  return order;
}

std::string pack_ids(const NcclIds& ids) {
  std::string all;
  for (const std::string& id : ids.ids) all += id;
  WireWriter writer;
  write_number(writer, ids.version);
  writer.text(ids.library);
  writer.text(all);
  return writer.take();
}

std::optional<NcclIds> unpack_ids(std::string_view packet) {
  WireReader reader(packet);
  NcclIds ids{};
  ids.version = read_number(reader);
  ids.library = reader.text(reader.left());
  const std::string all = reader.text(reader.left());
  if (!reader.finished_well() || all.empty() || all.size() % kNcclIdBytes != 0) return std::nullopt;
  for (std::size_t at = 0; at < all.size(); at += kNcclIdBytes) {
    ids.ids.push_back(all.substr(at, kNcclIdBytes));
  }
  return ids;
}

}  // namespace paddle_launch
