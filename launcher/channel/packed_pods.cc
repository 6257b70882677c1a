// SPDX-License-Identifier: Apache-2.0
// docs/job-channel.md says how many bytes a roster takes. On the wire: number of pods, the first
// one's master port, then the pods. One pod:
//   forms     one byte: which of several forms follow, always the shortest that holds the pod
//   host      Known: nothing · Ipv4: distance from the host of the pod before · Text: a text
//   shape     Same as that of the pod before: nothing
//             Counted: kind, trainers, cards of each trainer; they are called 0, 1, 2, …
//             Listed: kind, and each trainer's port and cards by name and index
//   port      of the first trainer, unless Listed; the others have the next ones
//   roles     where there are any: each one's role, stage, place and port
#include "launcher/channel/packed_pods.h"

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <utility>

#include "launcher/text/ipv4.h"

namespace paddle_launch {

template <typename Wire>
void fields(Wire& wire, Of<Wire, Card>& card) {
  wire.text(card.name, kWholeText);
  wire.text(card.index, kWholeText);
}

template <typename Wire>
void fields(Wire& wire, Of<Wire, TrainerOffer>& trainer) {
  wire.port(trainer.port);
  wire.list(trainer.cards, kNoLimit);
}

template <typename Wire>
void fields(Wire& wire, Of<Wire, RoleOffer>& process) {
  wire.one_of(process.role, Role::HeterWorker);
  wire.number(process.stage, {0, 1000});
  wire.number(process.index, kPlaceOrNone);
  wire.port(process.port);
}

namespace {

enum class HostForm { Known, Ipv4, Text };
enum class ShapeForm { Same, Counted, Listed };
constexpr int kHostForms = 3;
constexpr int kHostAndShapeForms = 9;
constexpr Range kForms{0, 2 * kHostAndShapeForms - 1};  // with and without roles

// A shape that takes no bytes of its own could fill the reader's memory: only small ones may, and
// all pods together have a limit above any job. In trainers without cards.
constexpr std::size_t kMostUnpaid = 256;
constexpr std::size_t kMostOfJob = 1'000'000;
constexpr Range kPods{0, kMostOfJob};
constexpr std::size_t kWeightOfCard = 3;
constexpr std::size_t kLettersOfWeight = 16;  // names of so many letters weigh one more

constexpr auto kLastKind = static_cast<CardKind>(std::size(kCardWords) - 1);
constexpr std::int64_t kLastIpv4 = 0xffffffff;

// What both sides know when a pod is sent.
struct KnownBefore {
  const PodOffer& pod;      // the one before
  const std::string* host;  // what this one's host should be; null: nobody knows
};

std::size_t weight_of(const PodOffer& pod) {
  std::size_t weight = pod.trainers.size();
  for (const TrainerOffer& trainer : pod.trainers) {
    for (const Card& card : trainer.cards) {
      weight += kWeightOfCard + (card.name.size() + card.index.size()) / kLettersOfWeight;
    }
  }
  return weight;
}

// Cards 0, 1, 2, … for trainers that have equally many.
std::vector<TrainerOffer> counted_trainers(std::size_t trainers, std::size_t cards_of_each) {
  std::vector<TrainerOffer> counted(trainers);
  int number = 0;
  for (TrainerOffer& trainer : counted) {
    for (std::size_t i = 0; i < cards_of_each; ++i) {
      const std::string name = std::to_string(number++);
      trainer.cards.push_back({.name = name, .index = name, .pci_bus = {}});
    }
  }
  return counted;
}

// These trainers with the pod's ports, which follow each other, are the pod's.
bool has_shape(const PodOffer& pod, const std::vector<TrainerOffer>& shape) {
  const auto same_card = [](const Card& one, const Card& other) {
    return one.name == other.name && one.index == other.index;
  };
  int port = pod.trainers.empty() ? 0 : pod.trainers.front().port;
  const auto same_trainer = [&](const TrainerOffer& one, const TrainerOffer& other) {
    return one.port == port && port >= 0 && port++ <= kLastPort &&
           std::equal(one.cards.begin(), one.cards.end(), other.cards.begin(), other.cards.end(),
                      same_card);
  };
  return std::equal(pod.trainers.begin(), pod.trainers.end(), shape.begin(), shape.end(),
                    same_trainer);
}

ShapeForm form_of_shape(const PodOffer& pod, const PodOffer& before) {
  if (weight_of(pod) > kMostUnpaid) return ShapeForm::Listed;
  if (pod.card_kind == before.card_kind && has_shape(pod, before.trainers)) return ShapeForm::Same;
  if (pod.trainers.empty()) return ShapeForm::Listed;
  const std::size_t cards_of_each = pod.trainers.front().cards.size();
  const bool is_counted = has_shape(pod, counted_trainers(pod.trainers.size(), cards_of_each));
  return is_counted ? ShapeForm::Counted : ShapeForm::Listed;
}

HostForm form_of_host(const std::string& host, const std::string* known) {
  if (known != nullptr && host == *known) return HostForm::Known;
  return parse_ipv4(host) ? HostForm::Ipv4 : HostForm::Text;
}

template <typename Wire>
void host_field(Wire& wire, HostForm form, Of<Wire, std::string>& host, const KnownBefore& known) {
  if (form == HostForm::Text) return wire.text(host, kWholeText);
  if (form == HostForm::Ipv4) {
    const std::int64_t before = parse_ipv4(known.pod.host).value_or(0);
    std::int64_t distance = parse_ipv4(host).value_or(0) - before;
    wire.number(distance, {-before, kLastIpv4 - before});
    if constexpr (Wire::kReads) host = format_ipv4(static_cast<std::uint32_t>(before + distance));
  } else if constexpr (Wire::kReads) {
    if (known.host == nullptr) return wire.fail();
    host = *known.host;
  }
}

template <typename Wire>
void counted_fields(Wire& wire, Of<Wire, PodOffer>& pod) {
  std::size_t trainers = pod.trainers.size();
  std::size_t cards_of_each = trainers > 0 ? pod.trainers.front().cards.size() : 0;
  wire.number(trainers, {1, kMostUnpaid});
  wire.number(cards_of_each, {0, kMostUnpaid});
  if constexpr (Wire::kReads) {
    if (trainers * (1 + kWeightOfCard * cards_of_each) > kMostUnpaid) return wire.fail();
    pod.trainers = counted_trainers(trainers, cards_of_each);
  }
}

template <typename Wire>
void shape_fields(Wire& wire, ShapeForm form, Of<Wire, PodOffer>& pod, const PodOffer& before) {
  if (form != ShapeForm::Same) {
    wire.maybe(pod.card_kind, [&](auto& kind) { wire.one_of(kind, kLastKind); });
    if (form == ShapeForm::Listed) return wire.list(pod.trainers, kNoLimit);
    counted_fields(wire, pod);
  } else if constexpr (Wire::kReads) {
    if (weight_of(before) > kMostUnpaid) return wire.fail();
    pod.card_kind = before.card_kind;
    pod.trainers = before.trainers;
  }
  int port = pod.trainers.empty() ? 0 : pod.trainers.front().port;
  wire.port(port);
  if constexpr (Wire::kReads) {
    for (TrainerOffer& trainer : pod.trainers) trainer.port = port++;
    if (!pod.trainers.empty() && pod.trainers.back().port > kLastPort) wire.fail();
  }
}

template <typename Wire>
void pod_fields(Wire& wire, Of<Wire, PodOffer>& pod, const KnownBefore& known) {
  int forms = 0;
  if constexpr (!Wire::kReads) {
    forms = static_cast<int>(form_of_host(pod.host, known.host)) +
            static_cast<int>(form_of_shape(pod, known.pod)) * kHostForms +
            (pod.roles.empty() ? 0 : kHostAndShapeForms);
  }
  wire.number(forms, kForms);
  const auto shape = static_cast<ShapeForm>(forms % kHostAndShapeForms / kHostForms);
  host_field(wire, static_cast<HostForm>(forms % kHostForms), pod.host, known);
  shape_fields(wire, shape, pod, known.pod);
  if (forms >= kHostAndShapeForms) wire.list(pod.roles, kNoLimit);
}

const PodOffer kNoPod;

KnownBefore known_before(const std::vector<PodOffer>& pods, std::size_t place,
                         const std::vector<std::string>& hosts) {
  return {place > 0 ? pods[place - 1] : kNoPod, place < hosts.size() ? &hosts[place] : nullptr};
}

}  // namespace

void packed_pod(FieldWriter& wire, const PodOffer& pod) {
  pod_fields(wire, pod, {kNoPod, nullptr});
}
void packed_pod(FieldReader& wire, PodOffer& pod) { pod_fields(wire, pod, {kNoPod, nullptr}); }

std::string pack_pods(const std::vector<PodOffer>& pods,
                      const std::vector<std::string>& known_hosts) {
  FieldWriter wire;
  wire.number(std::ssize(pods), kPods);
  wire.port(pods.empty() ? 0 : pods.front().master_port);
  for (std::size_t i = 0; i < pods.size(); ++i) {
    pod_fields(wire, pods[i], known_before(pods, i, known_hosts));
  }
  return wire.take();
}

std::optional<std::vector<PodOffer>> unpack_pods(std::string_view bytes,
                                                 const std::vector<std::string>& known_hosts) {
  FieldReader wire(bytes);
  std::size_t count = 0;
  int master_port = 0;
  wire.number(count, kPods);
  wire.port(master_port);
  std::vector<PodOffer> pods;
  std::size_t weight = 0;
  while (pods.size() < count) {
    PodOffer pod;
    pod_fields(wire, pod, known_before(pods, pods.size(), known_hosts));
    weight += weight_of(pod);
    if (wire.failed() || weight > kMostOfJob) return std::nullopt;
    pods.push_back(std::move(pod));
  }
  if (!wire.finished_well()) return std::nullopt;
  if (!pods.empty()) pods.front().master_port = master_port;
  return pods;
}

}  // namespace paddle_launch
