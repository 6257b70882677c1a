// SPDX-License-Identifier: Apache-2.0
#include "launcher/channel/pod_forms.h"

#include <algorithm>

#include "launcher/text/ipv4.h"

namespace paddle_launch {
namespace {

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

}  // namespace

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

}  // namespace paddle_launch
