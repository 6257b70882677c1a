// SPDX-License-Identifier: Apache-2.0
// docs/job-channel.md says when it travels.
#include "launcher/channel/message.h"

#include <type_traits>
#include <utility>

#include "launcher/channel/fields.h"
#include "launcher/channel/packed_pods.h"

namespace paddle_launch {

// A message is its kind (one byte, its place in the variant) and then its fields in
// the order of their declaration.
template <typename Wire>
void fields(Wire& wire, Of<Wire, JobTerms>& terms) {
  wire.text(terms.version, kText);
  wire.text(terms.machine, kText);
  wire.number(terms.pid, kAnyCount);
  wire.texts(terms.ips, kWholeText);
  wire.number(terms.nodes, kRanks);
  wire.maybe(terms.place, [&](auto& place) { wire.number(place, kRanks); });
  wire.number(terms.round, kRoundOrNone);
  wire.flag(terms.sort_ip);
  wire.flag(terms.check);
  wire.text(terms.layout, kCommand);
  wire.text(terms.name, kText);
  wire.text(terms.command, kCommand);
  wire.text(terms.script_digest, kWholeText);
  wire.flag(terms.other_command);
  wire.text(terms.problem, kText);
  wire.number(terms.problem_status, kStatus);
}

template <typename Wire>
void fields(Wire& wire, Of<Wire, PodOffer>& offer) {
  packed_pod(wire, offer);
  wire.text(offer.name, kText);
  wire.number(offer.master_port, kPorts);
}

template <typename Wire>
void fields(Wire& wire, Of<Wire, LinkTry>& tried) {
  wire.number(tried.from, kRanks);
  wire.number(tried.to, kRanks);
  wire.number(tried.port, kPorts);
  wire.real(tried.ms);
  wire.text(tried.problem, kText);
}

template <typename Wire>
void fields(Wire& wire, Of<Wire, CheckedNode>& node) {
  wire.text(node.host, kText);
  wire.text(node.machine, kText);
  wire.number(node.trainers, kRanks);
  wire.number(node.processes, kRanks);
  wire.number(node.cards, kRanks);
  wire.real(node.wall_clock.ms);
  wire.real(node.wall_clock.error_ms);
}

template <typename Wire>
void fields(Wire& wire, Of<Wire, OfferMessage>& message) {
  fields(wire, message.terms);
  fields(wire, message.offer);
  wire.text(message.ips_digest, kText);
}

template <typename Wire>
void fields(Wire& wire, Of<Wire, WaitingMessage>& message) {
  wire.number(message.missing, kRanks);
  wire.number(message.nodes, kRanks);
  wire.texts(message.names, kText);
}

template <typename Wire>
void fields(Wire& wire, Of<Wire, Ticket>& ticket) {
  wire.number(ticket.member, kAnyCount);
  wire.text(ticket.key, kOneLine);
}

template <typename Wire>
void fields(Wire& wire, Of<Wire, RosterMessage>& message) {
  wire.number(message.mine, kRanks);
  wire.number(message.hub, kRanks);
  wire.packed(message.packed_pods);
  wire.texts(message.warnings, kText);
  wire.packed(message.payload);
  fields(wire, message.round);
  fields(wire, message.ticket);
}

template <typename Wire>
void fields(Wire& wire, Of<Wire, RefusalMessage>& message) {
  wire.number(message.status, kStatus);
  wire.number(message.node, kPlaceOrNone);
  wire.text(message.text, kText);
}

template <typename Wire>
void fields(Wire& wire, Of<Wire, StopMessage>& message) {
  fields(wire, message.cause);
}

template <typename Wire>
void fields(Wire& /*wire*/, Of<Wire, KillMessage>& /*message*/) {}

template <typename Wire>
void fields(Wire& wire, Of<Wire, ClockMessage>& message) {
  wire.time(message.steady);
  wire.number(message.wall_ns, kTimes);
}

template <typename Wire>
void fields(Wire& wire, Of<Wire, EndingMessage>& message) {
  fields(wire, message.ending);
}

template <typename Wire>
void fields(Wire& wire, Of<Wire, VerdictMessage>& message) {
  fields(wire, message.verdict);
}

template <typename Wire>
void fields(Wire& wire, Of<Wire, CheckReadyMessage>& message) {
  wire.text(message.machine, kText);
}

template <typename Wire>
void fields(Wire& /*wire*/, Of<Wire, CheckGoMessage>& /*message*/) {}

template <typename Wire>
void fields(Wire& wire, Of<Wire, CheckRowMessage>& message) {
  wire.list(message.tries, kNoLimit);
}

template <typename Wire>
void fields(Wire& wire, Of<Wire, CheckDoneMessage>& message) {
  wire.list(message.check.nodes, kNoLimit);
  wire.list(message.check.tries, kNoLimit);
  wire.ranks(message.check.silent);
}

template <typename Wire>
void fields(Wire& wire, Of<Wire, ServersListenMessage>& message) {
  wire.ranks(message.servers);
  wire.flag(message.are_silent);
}

template <typename Wire>
void fields(Wire& /*wire*/, Of<Wire, StartWorkersMessage>& /*message*/) {}

template <typename Wire>
void fields(Wire& /*wire*/, Of<Wire, WorkersDoneMessage>& /*message*/) {}

template <typename Wire>
void fields(Wire& /*wire*/, Of<Wire, StopServersMessage>& /*message*/) {}

template <typename Wire>
void fields(Wire& wire, Of<Wire, ReturnMessage>& message) {
  fields(wire, message.ticket);
}

namespace {

constexpr std::size_t kKinds = std::variant_size_v<Message>;

template <std::size_t... kKind>
std::optional<Message> empty_message(std::uint8_t kind, std::index_sequence<kKind...> /*kinds*/) {
  std::optional<Message> message;
  ((kind == kKind ? void(message.emplace(std::in_place_index<kKind>)) : void()), ...);
  return message;
}

}  // namespace

std::string encode(const Message& message) {
  const auto kind = static_cast<char>(message.index());
  FieldWriter writer;
  std::visit([&](const auto& any) { fields(writer, any); }, message);
  return kind + writer.take();
}

std::optional<Message> decode(std::string_view bytes) {
  if (bytes.empty()) return std::nullopt;
  const auto kind = static_cast<std::uint8_t>(bytes.front());
  auto message = empty_message(kind, std::make_index_sequence<kKinds>());
  if (!message) return std::nullopt;
  FieldReader reader(bytes.substr(1));
  std::visit([&](auto& any) { fields(reader, any); }, *message);
  return reader.finished_well() ? std::move(message) : std::nullopt;
}

namespace {

template <typename Wire>
void payload_fields(Wire& wire, Of<Wire, JobPayload>& payload) {
  wire.text(payload.log_name, kOneLine);
  wire.number(payload.nccl.version, kAnyCount);
  wire.text(payload.nccl.library, kText);
  wire.texts(payload.nccl.ids, {kNcclIdBytes});
}

}  // namespace

std::string pack_payload(const JobPayload& payload) {
  if (payload == JobPayload{}) return {};
  FieldWriter wire;
  payload_fields(wire, payload);
  return wire.take();
}

JobPayload unpack_payload(std::string_view bytes) {
  FieldReader wire(bytes);
  JobPayload payload;
  payload_fields(wire, payload);
  return wire.finished_well() ? payload : JobPayload{};
}

}  // namespace paddle_launch
