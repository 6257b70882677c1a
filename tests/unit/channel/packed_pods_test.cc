// SPDX-License-Identifier: Apache-2.0
#include "launcher/channel/packed_pods.h"

#include <algorithm>
#include <random>

#include <gtest/gtest.h>

#include "tests/unit/channel/allocations.h"

namespace paddle_launch {
namespace {

using Pods = std::vector<PodOffer>;
using Hosts = std::vector<std::string>;

constexpr int kPods = 4096;
constexpr int kTrainers = 8;

Card numbered_card(int number) {
  return {.name = std::to_string(number), .index = std::to_string(number), .pci_bus = {}};
}

PodOffer usual_pod(const std::string& host, int first_port, int trainers, int cards_each) {
  PodOffer pod;
  pod.host = host;
  if (cards_each > 0) pod.card_kind = CardKind::Gpu;
  for (int i = 0; i < trainers; ++i) {
    TrainerOffer& trainer = pod.trainers.emplace_back();
    trainer.port = first_port + i;
    for (int k = 0; k < cards_each; ++k) trainer.cards.push_back(numbered_card(i * cards_each + k));
  }
  return pod;
}

std::string ip(int number) {
  return "10.1." + std::to_string(number / 250) + "." + std::to_string(number % 250 + 1);
}

// Every pod with the kernel's choice of a first port.
Pods usual_pods(int cards_each) {
  std::mt19937 random(5);  // NOLINT(cert-msc51-cpp): the same numbers each time
  Pods pods;
  for (int i = 0; i < kPods; ++i) {
    const int first_port = 32'768 + static_cast<int>(random() % 28'000);
    pods.push_back(usual_pod(ip(i), first_port, kTrainers, cards_each));
  }
  return pods;
}

Hosts hosts_of(const Pods& pods) {
  Hosts hosts;
  for (const PodOffer& pod : pods) hosts.push_back(pod.host);
  return hosts;
}

void expect_there_and_back(const Pods& pods, const Hosts& known_hosts) {
  const auto unpacked = unpack_pods(pack_pods(pods, known_hosts), known_hosts);
  ASSERT_TRUE(unpacked);
  EXPECT_EQ(*unpacked, pods);
}

TEST(PackPods, TakesFewBytesForAUsualPod) {
  for (const int cards_each : {0, 1, 2}) {
    Pods pods = usual_pods(cards_each);
    const Hosts known = hosts_of(pods);
    const std::size_t with_hosts = pack_pods(pods, {}).size();
    const std::size_t without_hosts = pack_pods(pods, known).size();
    EXPECT_LE(with_hosts, std::size_t{kPods} * 5);
    EXPECT_LE(without_hosts, std::size_t{kPods} * 4);
    expect_there_and_back(pods, {});
    expect_there_and_back(pods, known);

    std::shuffle(pods.begin(), pods.end(), std::mt19937(6));  // NOLINT(cert-msc51-cpp)
    EXPECT_LE(pack_pods(pods, {}).size(), std::size_t{kPods} * 7);
    expect_there_and_back(pods, known);
  }
}

TEST(PackPods, TakesAtMostSixteenBytesForAnyUsualPodAlone) {
  const Pods pods = {usual_pod("255.255.255.255", 65'528, kTrainers, 4)};
  EXPECT_LE(pack_pods(pods, {}).size(), 16U);
  EXPECT_LE(pack_pods({usual_pod("255.0.0.1", 40'000, 255, 0)}, {}).size(), 16U);
  expect_there_and_back(pods, {});
}

TEST(PackPods, TakesAtMostSixteenBytesWhenEveryPodDiffersFromTheOneBefore) {
  Pods pods;
  for (int i = 0; i < kPods; ++i)
    pods.push_back(usual_pod(i % 2 == 0 ? "250.1.1.1" : "1.2.3.4", 40'000, 4 + i % 5, i % 2));
  EXPECT_LE(pack_pods(pods, {}).size(), std::size_t{kPods} * 16);
  expect_there_and_back(pods, {});
}

TEST(PackPods, LeavesNamesPciAddressesAndOtherMasterPortsAtHome) {
  Pods pods = {usual_pod("a", 6070, 2, 1), usual_pod("b", 6070, 2, 1)};
  Pods expected = pods;
  for (PodOffer& pod : pods) {
    pod.name = "qwerty";
    pod.master_port = 45'000;
    pod.trainers[0].cards[0].pci_bus = "0000:3b:00.0";
  }
  expected[0].master_port = 45'000;
  EXPECT_EQ(unpack_pods(pack_pods(pods, {}), {}), expected);
}

TEST(PackPods, KeepsWhatIsUnusual) {
  Pods pods = {usual_pod("node-1.example.org", 6070, 4, 1),
               usual_pod("10.0.0.1", 6070, 4, 1),
               usual_pod("", 6070, 0, 0),
               usual_pod("010.0.0.1", 6070, 1, 1),  // no literal, although some take it for one
               usual_pod("fe80::1", 65'534, 2, 0),
               usual_pod("10.0.0.2", 6070, 300, 1),
               usual_pod("10.0.0.3", 6070, 300, 1),
               usual_pod("10.0.0.4", 6070, 300, 0),
               usual_pod(std::string("10.0.0.5\0x", 10), 0, 1, 0)};
  pods[0].trainers[2].port = 9999;
  pods[1].card_kind = CardKind::Mlu;
  pods[2].card_kind = CardKind::Xpu;
  pods[3].trainers[0].cards[0] = {.name = "GPU-8f2c", .index = "-0", .pci_bus = {}};
  pods[4].trainers[1].cards = {numbered_card(7), {.name = "007", .index = "", .pci_bus = {}}};
  expect_there_and_back(pods, {});
  expect_there_and_back(pods, hosts_of(pods));
  expect_there_and_back({}, {});
}

TEST(PackPods, RepeatsAnUnusualShapeForNothing) {
  PodOffer pod = usual_pod("10.0.0.1", 6070, 8, 1);
  for (TrainerOffer& trainer : pod.trainers) trainer.cards[0].name = "GPU-8f2c0000-1111-2222";
  const std::size_t one = pack_pods({pod}, {}).size();
  EXPECT_EQ(pack_pods({pod, pod, pod}, {}).size(), one + 2 * 4U);
  expect_there_and_back({pod, pod, pod}, {});
}

TEST(PackPods, BringsPortsIntoTheirRange) {
  const Pods pods = {usual_pod("10.0.0.1", 65'534, 4, 0)};
  const auto unpacked = unpack_pods(pack_pods(pods, {}), {});
  ASSERT_TRUE(unpacked);
  EXPECT_EQ(unpacked->at(0).trainers.at(1).port, 65'535);
  EXPECT_EQ(unpacked->at(0).trainers.at(3).port, 65'535);
}

TEST(UnpackPods, RefusesWhatIsCutAnywhereOrTooLong) {
  Pods pods = {usual_pod("node", 6070, 2, 1), usual_pod("10.0.0.1", 6070, 2, 1),
               usual_pod("10.0.0.2", 6070, 3, 2)};
  pods[1].roles.resize(2);
  const std::string bytes = pack_pods(pods, {});
  for (std::size_t size = 0; size < bytes.size(); ++size)
    EXPECT_EQ(unpack_pods(bytes.substr(0, size), {}), std::nullopt) << size;
  EXPECT_EQ(unpack_pods(bytes + '\0', {}), std::nullopt);
}

TEST(UnpackPods, RefusesAHostThatItDoesNotKnow) {
  const Pods pods = {usual_pod("a", 6070, 1, 0), usual_pod("b", 6070, 1, 0)};
  const std::string bytes = pack_pods(pods, {"a", "b"});
  EXPECT_EQ(unpack_pods(bytes, {"a", "b"}), pods);
  EXPECT_EQ(unpack_pods(bytes, {"a"}), std::nullopt);
  EXPECT_EQ(unpack_pods(bytes, {}), std::nullopt);
}

TEST(UnpackPods, SurvivesEveryWrongByte) {
  Pods pods = {usual_pod("node", 6070, 2, 1), usual_pod("10.0.0.1", 7070, 2, 1),
               usual_pod("k", 6070, 3, 2)};
  pods[1].roles.resize(2);
  const Hosts known = {"x", "y", "k"};
  const std::string bytes = pack_pods(pods, known);
  for (std::size_t at = 0; at < bytes.size(); ++at) {
    for (int flip = 1; flip < 256; ++flip) {
      std::string wrong = bytes;
      wrong[at] = static_cast<char>(static_cast<unsigned char>(wrong[at]) ^ flip);
      const auto unpacked = unpack_pods(wrong, known);
      if (unpacked) {
        ASSERT_EQ(unpack_pods(pack_pods(*unpacked, known), known), unpacked);
      }
    }
  }
}

TEST(UnpackPods, DoesNotAllocateForHostileCounts) {
  const std::string large = "\xff\xff\xff\xff\x0f";
  Pods pods = {usual_pod("10.0.0.9", 6070, 90, 2), usual_pod("10.0.0.1", 1, 2, 1)};
  pods[1].roles.resize(2);
  const std::string bytes = pack_pods(pods, {});
  for (std::size_t at = 0; at <= bytes.size(); ++at) {
    const std::string hostile = bytes.substr(0, at) + large + bytes.substr(at);
    EXPECT_LT(bytes_allocated_by([&] { unpack_pods(hostile, {}); }), 65'536U) << at;
  }
}

TEST(UnpackPods, RefusesToRepeatALargePod) {
  // One pod of 300 trainers without cards, listed, then one of the same shape (form byte 2).
  const std::string one = pack_pods({usual_pod("0.0.0.1", 6070, 300, 0)}, {});
  std::string two = one + std::string("\x02\x02\0\0", 4);
  two.front() = 4;
  EXPECT_TRUE(unpack_pods(one, {}));
  EXPECT_EQ(unpack_pods(two, {}), std::nullopt);
}

TEST(UnpackPods, RefusesToRepeatLongNames) {
  PodOffer pod = usual_pod("0.0.0.1", 6070, 1, 1);
  pod.trainers[0].cards[0].name = std::string(60'000, 'n');
  expect_there_and_back({pod, pod}, {});
  std::string two = pack_pods({pod}, {}) + std::string("\x02\x02\0\0", 4);
  two.front() = 4;
  EXPECT_EQ(unpack_pods(two, {}), std::nullopt);
}

TEST(UnpackPods, HoldsAMillionTrainersAtMost) {
  // 256 trainers a pod at four bytes each: 4 KiB of memory a byte until the limit ends it.
  const Pods pods(4000, usual_pod("10.0.0.1", 6070, 256, 0));
  EXPECT_EQ(unpack_pods(pack_pods(pods, {}), {}), std::nullopt);
  EXPECT_TRUE(unpack_pods(pack_pods(Pods(pods.begin(), pods.begin() + 3900), {}), {}));
}

PodOffer any_pod(std::mt19937& random) {
  const auto below = [&](unsigned limit) { return static_cast<int>(random() % limit); };
  const std::string host = below(3) == 0 ? "host" + std::to_string(below(99)) : ip(below(62'000));
  PodOffer pod = usual_pod(host, below(65'000), below(10), below(3));
  if (below(4) == 0) pod.card_kind = static_cast<CardKind>(below(4));
  if (below(4) == 0) pod.card_kind.reset();
  for (TrainerOffer& trainer : pod.trainers) {
    if (below(20) == 0) trainer.port = below(65'536);
    for (Card& card : trainer.cards) {
      if (below(40) == 0) card.name = std::string(random() % 40, 'G');
      if (below(40) == 0) card.index = std::to_string(below(100));
    }
  }
  for (int i = below(4) == 0 ? below(5) : 0; i > 0; --i) {
    pod.roles.push_back({.role = static_cast<Role>(below(3)),
                         .stage = below(1001),
                         .index = below(300) - 1,
                         .port = below(65'536)});
  }
  return pod;
}

TEST(UnpackPods, GivesBackWhatWasPackedWhateverItIs) {
  std::mt19937 random(7);  // NOLINT(cert-msc51-cpp): the same numbers each time
  for (int round = 0; round < 3'000; ++round) {
    Pods pods(random() % 12);
    for (PodOffer& pod : pods) {
      const bool same = random() % 3 == 0 && &pod != pods.data();
      pod = same ? *(&pod - 1) : any_pod(random);
    }
    if (!pods.empty()) pods[0].master_port = static_cast<int>(random() % 65'536);
    Hosts known = hosts_of(pods);
    if (random() % 2 == 0 && !known.empty()) known[random() % known.size()] = "other";
    if (random() % 3 == 0) known.resize(known.size() / 2);
    ASSERT_EQ(unpack_pods(pack_pods(pods, known), known), pods) << "round " << round;
  }
}

}  // namespace
}  // namespace paddle_launch
