// SPDX-License-Identifier: Apache-2.0
#include "launcher/nccl/id_keeper_process.h"

#include <cstdint>
#include <cstdlib>
#include <exception>
#include <stdexcept>
#include <utility>

#include <fmt/format.h>

#include "launcher/nccl/libnccl.h"
#include "launcher/text/wire.h"

namespace paddle_launch {
namespace {

constexpr const char* kInterfaceVariable = "NCCL_SOCKET_IFNAME";
constexpr std::uint64_t kMostNumber = 1'000'000'000;

int read_number(WireReader& reader) { return static_cast<int>(reader.varint(kMostNumber)); }

void write_number(WireWriter& writer, int number) {
  writer.varint(static_cast<std::uint64_t>(number));
}

// The user's variable and NCCL's configuration files win: the trainers obey them as well.
void choose_interface(const std::string& name, const Environment& env) {
  if (name.empty() || conf_sets(nccl_conf_files(env), kInterfaceVariable)) return;
  setenv(kInterfaceVariable, ("=" + name).c_str(), 0);
}

NcclLibrary open_library(FramePipe& launcher, const NcclSearch& search) {
  launcher.push(KeeperWord::Step, "looking for libnccl.so.2");
  const NcclCandidates found = find_nccl(search);
  if (!found.problem.empty()) throw std::runtime_error(found.problem);
  launcher.push(KeeperWord::Step, fmt::format("opening {}", found.paths.front()));
  OpenedNccl opened = open_nccl(found.paths);
  if (!opened.library) throw std::runtime_error(opened.problem);
  launcher.push(KeeperWord::Step, "waiting for the order");
  return std::move(*opened.library);
}

void make_ids(FramePipe& launcher, const NcclLibrary& nccl, const Environment& env) {
  const auto packed = launcher.wait();
  if (!packed) return;
  const auto order = unpack_order(*packed);
  if (!order) throw std::runtime_error("the NCCL keeper did not understand its order");
  choose_interface(order->interface_name, env);
  launcher.push(KeeperWord::Step, "making ids with ncclGetUniqueId");
  launcher.push(KeeperWord::Ids, pack_ids(nccl.make_ids(order->count)));
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

void be_the_nccl_keeper(FramePipe& launcher, const NcclSearch& search) {
  std::optional<NcclLibrary> nccl;  // stays open: ranks check in with a thread that NCCL runs
  try {
    nccl = open_library(launcher, search);
    make_ids(launcher, *nccl, search.env);
  } catch (const std::exception& error) {
    launcher.push(KeeperWord::Problem, error.what());
  }
  while (launcher.wait()) continue;
}

}  // namespace paddle_launch
