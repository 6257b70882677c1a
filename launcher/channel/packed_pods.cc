// SPDX-License-Identifier: Apache-2.0
// On the wire: number of pods, the first one's master port, then the pods.
//
// One pod on the wire:
//   byte      host form | shape form << 2 | ports form << 4 | roles form << 5
//   host      Known: nothing · Ipv4: signed distance from the previous pod's · Text: a text
//   shape     Same as the previous pod's: nothing
//             Counted: kind, trainers, cards of each trainer; they are called 0, 1, 2, …
//             Listed: kind, trainers, and each trainer's cards by name and index
//   ports     Consecutive: the first · Listed: each
//   roles     None: nothing · Listed: how many, and each one's role, stage, place + 1 and port
#include "launcher/channel/packed_pods.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <string_view>
#include <utility>

#include "launcher/job/pod.h"
#include "launcher/text/ipv4.h"
#include "launcher/text/number.h"
#include "launcher/text/wire.h"

namespace paddle_launch {
namespace {

// In which of several forms the parts of a pod travel, as above: the shortest that holds them.
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
bool may_be_unpaid(const PodOffer& pod);

bool is_port(int port) { return port >= 0 && port <= kLastPort; }

constexpr std::size_t kLeastBytesOfPod = 3;
constexpr unsigned kFormMask = 3;
constexpr unsigned kShapeShift = 2;
constexpr unsigned kPortsShift = 4;
constexpr unsigned kRolesShift = 5;

constexpr std::size_t kCostOfCard = 3;      // in trainers, by its size in memory
constexpr std::size_t kLongestUnpaid = 64;  // name of a card; a MIG instance has 50 letters

HostForm form_of_host(const std::string& host, const std::string* known_host) {
  if (known_host != nullptr && host == *known_host) return HostForm::Known;
  return parse_ipv4(host) ? HostForm::Ipv4 : HostForm::Text;
}

bool same_shape(const PodOffer& one, const PodOffer& other) {
  const auto same_card = [](const Card& a, const Card& b) {
    return a.name == b.name && a.index == b.index;
  };
  const auto same_trainer = [&](const TrainerOffer& a, const TrainerOffer& b) {
    return std::equal(a.cards.begin(), a.cards.end(), b.cards.begin(), b.cards.end(), same_card);
  };
  return one.card_kind == other.card_kind &&
         std::equal(one.trainers.begin(), one.trainers.end(), other.trainers.begin(),
                    other.trainers.end(), same_trainer);
}

bool can_be_counted(const PodOffer& pod) {
  std::size_t number = 0;
  for (const TrainerOffer& trainer : pod.trainers) {
    if (trainer.cards.size() != pod.trainers.front().cards.size()) return false;
    for (const Card& card : trainer.cards) {
      if (card.name != card.index || card.name != std::to_string(number++)) return false;
    }
  }
  return !pod.trainers.empty();  // a list of none is shorter
}

ShapeForm form_of_shape(const PodOffer& pod, const PodOffer& previous) {
  if (!may_be_unpaid(pod)) return ShapeForm::Listed;
  if (same_shape(pod, previous)) return ShapeForm::Same;
  return can_be_counted(pod) ? ShapeForm::Counted : ShapeForm::Listed;
}

PortsForm form_of_ports(const PodOffer& pod) {
  std::optional<int> expected;
  for (const TrainerOffer& trainer : pod.trainers) {
    if (trainer.port != expected.value_or(trainer.port) || !is_port(trainer.port))
      return PortsForm::Listed;
    expected = trainer.port + 1;
  }
  return PortsForm::Consecutive;
}

bool may_be_unpaid(std::size_t trainers, std::size_t cards) {
  return trainers <= kMostUnpaid && cards <= kMostUnpaid &&
         trainers + kCostOfCard * cards <= kMostUnpaid;
}

bool may_be_unpaid(const PodOffer& pod) {
  std::size_t cards = 0;
  for (const TrainerOffer& trainer : pod.trainers) {
    cards += trainer.cards.size();
    for (const Card& card : trainer.cards) {
      if (std::max(card.name.size(), card.index.size()) > kLongestUnpaid) return false;
    }
  }
  return may_be_unpaid(pod.trainers.size(), cards);
}

Forms choose_forms(const PodOffer& pod, const PodOffer& previous, const std::string* known_host) {
  return {form_of_host(pod.host, known_host), form_of_shape(pod, previous), form_of_ports(pod),
          pod.roles.empty() ? RolesForm::None : RolesForm::Listed};
}

std::uint8_t byte_of(Forms forms) {
  return static_cast<std::uint8_t>(static_cast<unsigned>(forms.host) |
                                   static_cast<unsigned>(forms.shape) << kShapeShift |
                                   static_cast<unsigned>(forms.ports) << kPortsShift |
                                   static_cast<unsigned>(forms.roles) << kRolesShift);
}

std::optional<Forms> forms_of(std::uint8_t byte) {
  const unsigned host = byte & kFormMask;
  const unsigned shape = byte >> kShapeShift & kFormMask;
  const unsigned ports = byte >> kPortsShift & 1U;
  const unsigned roles = byte >> kRolesShift;
  if (host > static_cast<unsigned>(HostForm::Text) ||
      shape > static_cast<unsigned>(ShapeForm::Listed) ||
      roles > static_cast<unsigned>(RolesForm::Listed)) {
    return std::nullopt;
  }
  return Forms{static_cast<HostForm>(host), static_cast<ShapeForm>(shape),
               static_cast<PortsForm>(ports), static_cast<RolesForm>(roles)};
}

constexpr std::size_t kMostText = 64 * 1024;
constexpr std::int64_t kLastIpv4 = 0xffffffff;
constexpr std::size_t kLeastBytesOfCard = 2;  // its name and its index
constexpr std::uint64_t kMostNumberInName = 1'000'000;
constexpr std::size_t kLeastBytesOfRole = 5;
constexpr int kLastStage = 1000;
constexpr int kLastIndex = 10'000'000;

void write_host(WireWriter& writer, HostForm form, const PodOffer& pod, const PodOffer& previous) {
  if (form == HostForm::Ipv4)
    writer.signed_varint(std::int64_t{*parse_ipv4(pod.host)} -
                         parse_ipv4(previous.host).value_or(0));
  if (form == HostForm::Text) writer.text(std::string_view(pod.host).substr(0, kMostText));
}

// Most cards are called by a number, which then takes one byte.
void write_card_name(WireWriter& writer, std::string_view name) {
  const auto number = static_cast<std::uint64_t>(parse_whole_number(name).value_or(-1));
  if (number <= kMostNumberInName && std::to_string(number) == name)
    return writer.varint(number + 1);
  writer.varint(0);
  writer.text(name.substr(0, kMostText));
}

void write_shape(WireWriter& writer, ShapeForm form, const PodOffer& pod) {
  if (form == ShapeForm::Same) return;
  writer.byte(pod.card_kind ? static_cast<std::uint8_t>(static_cast<int>(*pod.card_kind) + 1) : 0);
  writer.varint(pod.trainers.size());
  if (form == ShapeForm::Counted) return writer.varint(pod.trainers.front().cards.size());
  for (const TrainerOffer& trainer : pod.trainers) {
    writer.varint(trainer.cards.size());
    for (const Card& card : trainer.cards) {
      write_card_name(writer, card.name);
      write_card_name(writer, card.index);
    }
  }
}

void write_ports(WireWriter& writer, PortsForm form, const PodOffer& pod) {
  const std::size_t listed = form == PortsForm::Listed ? pod.trainers.size() : 1;
  for (std::size_t i = 0; i < listed; ++i) {
    const int port = i < pod.trainers.size() ? pod.trainers[i].port : 0;
    writer.fixed16(static_cast<std::uint16_t>(std::clamp(port, 0, kLastPort)));
  }
}

void write_roles(WireWriter& writer, RolesForm form, const PodOffer& pod) {
  if (form == RolesForm::None) return;
  writer.varint(pod.roles.size());
  for (const RoleOffer& process : pod.roles) {
    writer.byte(static_cast<std::uint8_t>(std::min(process.role, Role::HeterWorker)));
    writer.varint(static_cast<std::uint64_t>(std::clamp(process.stage, 0, kLastStage)));
    const int place = std::clamp(process.index, -1, kLastIndex) + 1;
    writer.varint(static_cast<std::uint64_t>(place));
    writer.fixed16(static_cast<std::uint16_t>(std::clamp(process.port, 0, kLastPort)));
  }
}

std::string read_host(WireReader& reader, HostForm form, const PodOffer& previous,
                      const std::string* known_host) {
  if (form == HostForm::Text) return reader.text(kMostText);
  if (form == HostForm::Known) {
    if (known_host == nullptr) reader.fail();
    return known_host != nullptr ? *known_host : std::string();
  }
  const std::int64_t before = parse_ipv4(previous.host).value_or(0);
  const std::int64_t distance = reader.signed_varint();
  if (distance < -before || distance > kLastIpv4 - before) {
    reader.fail();
    return {};
  }
  return format_ipv4(static_cast<std::uint32_t>(before + distance));
}

std::string read_card_name(WireReader& reader) {
  const std::uint64_t number = reader.varint(kMostNumberInName + 1);
  return number == 0 ? reader.text(kMostText) : std::to_string(number - 1);
}

void read_counted_cards(WireReader& reader, PodOffer& pod) {
  const auto trainers = static_cast<std::size_t>(reader.varint(kMostUnpaid));
  const auto each = static_cast<std::size_t>(reader.varint(kMostUnpaid));
  if (trainers == 0 || !may_be_unpaid(trainers, trainers * each)) return reader.fail();
  pod.trainers.resize(trainers);
  std::size_t number = 0;
  for (TrainerOffer& trainer : pod.trainers) {
    for (std::size_t i = 0; i < each; ++i) {
      const std::string name = std::to_string(number++);
      trainer.cards.push_back({.name = name, .index = name, .pci_bus = {}});
    }
  }
}

void read_listed_cards(WireReader& reader, PodOffer& pod) {
  const std::size_t trainers = reader.count();
  for (std::size_t i = 0; i < trainers && !reader.failed(); ++i) {
    TrainerOffer& trainer = pod.trainers.emplace_back();
    const std::size_t cards = reader.count(kLeastBytesOfCard);
    for (std::size_t k = 0; k < cards && !reader.failed(); ++k) {
      std::string name = read_card_name(reader);
      trainer.cards.push_back(
          {.name = std::move(name), .index = read_card_name(reader), .pci_bus = {}});
    }
  }
}

void read_shape(WireReader& reader, ShapeForm form, const PodOffer& previous, PodOffer& pod) {
  if (form == ShapeForm::Same) {
    if (!may_be_unpaid(previous)) return reader.fail();
    pod.card_kind = previous.card_kind;
    pod.trainers = previous.trainers;
    return;
  }
  const std::uint8_t kind = reader.byte();
  if (kind > std::size(kCardWords)) return reader.fail();
  if (kind > 0) pod.card_kind = static_cast<CardKind>(kind - 1);
  return form == ShapeForm::Counted ? read_counted_cards(reader, pod)
                                    : read_listed_cards(reader, pod);
}

void read_ports(WireReader& reader, PortsForm form, PodOffer& pod) {
  // No ports are consecutive ports, or a pod could take less than kLeastBytesOfPod.
  if (form == PortsForm::Listed && pod.trainers.empty()) return reader.fail();
  int next = form == PortsForm::Consecutive ? reader.fixed16() : 0;
  for (TrainerOffer& trainer : pod.trainers) {
    trainer.port = form == PortsForm::Consecutive ? next++ : reader.fixed16();
    if (!is_port(trainer.port)) return reader.fail();
  }
}

void read_roles(WireReader& reader, RolesForm form, PodOffer& pod) {
  if (form == RolesForm::None) return;
  const std::size_t count = reader.count(kLeastBytesOfRole);
  if (count == 0) return reader.fail();  // that is RolesForm::None
  for (std::size_t i = 0; i < count && !reader.failed(); ++i) {
    const std::uint8_t role = reader.byte();
    if (role > static_cast<std::uint8_t>(Role::HeterWorker)) return reader.fail();
    RoleOffer& process = pod.roles.emplace_back();
    process.role = static_cast<Role>(role);
    process.stage = static_cast<int>(reader.varint(kLastStage));
    process.index = static_cast<int>(reader.varint(kLastIndex + 1)) - 1;
    process.port = reader.fixed16();
  }
}

}  // namespace

void write_pod(WireWriter& writer, const PodOffer& pod, const PodOffer& previous,
               const std::string* known_host) {
  const Forms forms = choose_forms(pod, previous, known_host);
  writer.byte(byte_of(forms));
  write_host(writer, forms.host, pod, previous);
  write_shape(writer, forms.shape, pod);
  write_ports(writer, forms.ports, pod);
  write_roles(writer, forms.roles, pod);
}

PodOffer read_pod(WireReader& reader, const PodOffer& previous, const std::string* known_host) {
  const auto forms = forms_of(reader.byte());
  PodOffer pod;
  if (!forms) {
    reader.fail();
    return pod;
  }
  pod.host = read_host(reader, forms->host, previous, known_host);
  read_shape(reader, forms->shape, previous, pod);
  read_ports(reader, forms->ports, pod);
  read_roles(reader, forms->roles, pod);
  return pod;
}

namespace {

// Pods, trainers and cards each; above any job. Repeated pods are so short that the number of bytes
// alone would allow gigabytes. Roles are never repeated: each pays for itself.
constexpr std::size_t kMost = 1'000'000;

const std::string* host_at(const std::vector<std::string>& known_hosts, std::size_t place) {
  return place < known_hosts.size() ? &known_hosts[place] : nullptr;
}

}  // namespace

std::string pack_pods(const std::vector<PodOffer>& pods,
                      const std::vector<std::string>& known_hosts) {
  WireWriter writer;
  writer.varint(pods.size());
  if (!pods.empty()) {
    const int master_port = std::clamp(pods.front().master_port, 0, kLastPort);
    writer.fixed16(static_cast<std::uint16_t>(master_port));
  }
  const PodOffer nothing_before;
  for (std::size_t i = 0; i < pods.size(); ++i)
    write_pod(writer, pods[i], i > 0 ? pods[i - 1] : nothing_before, host_at(known_hosts, i));
  return writer.take();
}

std::optional<std::vector<PodOffer>> unpack_pods(std::string_view bytes,
                                                 const std::vector<std::string>& known_hosts) {
  WireReader reader(bytes);
  const std::size_t count = reader.count(kLeastBytesOfPod);
  const int master_port = count > 0 ? reader.fixed16() : 0;
  std::vector<PodOffer> pods;
  const PodOffer nothing_before;
  std::size_t trainers = 0;
  std::size_t cards = 0;
  while (pods.size() < count) {
    PodOffer pod = read_pod(reader, pods.empty() ? nothing_before : pods.back(),
                            host_at(known_hosts, pods.size()));
    trainers += pod.trainers.size();
    for (const TrainerOffer& trainer : pod.trainers) cards += trainer.cards.size();
    if (reader.failed() || std::max({count, trainers, cards}) > kMost) return std::nullopt;
    pods.push_back(std::move(pod));
  }
  if (!reader.finished_well()) return std::nullopt;
  if (!pods.empty()) pods.front().master_port = master_port;
  return pods;
}

}  // namespace paddle_launch
