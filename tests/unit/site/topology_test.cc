// SPDX-License-Identifier: Apache-2.0
#include "launcher/site/topology.h"

#include <numeric>
#include <string>

#include <gtest/gtest.h>

#include "tests/unit/site/fake_root.h"

namespace paddle_launch {
namespace {

using Cpus = std::vector<int>;
using Shares = std::vector<Cpus>;

Card card_at(const std::string& bus) { return {"0", "0", bus}; }

// Two sockets of four cores with two threads each, numbered as usual: 0-3 and 4-7 are the cores'
// first threads, 8-11 and 12-15 the second ones.
class Topology : public testing::Test {
 protected:
  Topology() {
    for (int cpu = 0; cpu < 16; ++cpu) {
      const auto folder = "sys/devices/system/cpu/cpu" + std::to_string(cpu) + "/topology/";
      root_.write(folder + "physical_package_id", std::to_string(cpu % 8 / 4) + "\n");
      root_.write(folder + "core_id", std::to_string(cpu % 4) + "\n");
    }
    root_.write("sys/devices/system/node/online", "0-1\n");
    root_.write("sys/devices/system/node/node0/cpulist", "0-3,8-11\n");
    root_.write("sys/devices/system/node/node1/cpulist", "4-7,12-15\n");
    put_card("0000:3b:00.0", "0-3,8-11\n");
    put_card("0000:5e:00.0", "0-3,8-11\n");
    put_card("0000:af:00.0", "4-7,12-15\n");
    std::iota(all_.begin(), all_.end(), 0);
  }

  void put_card(const std::string& bus, const std::string& cpus) const {
    root_.write("sys/bus/pci/devices/" + bus + "/local_cpulist", cpus);
  }

  Shares shares(const std::vector<std::vector<Card>>& trainers, const Cpus& mask) const {
    return cpus_for_trainers(trainers, mask, root_.path());
  }

  std::string path() const { return root_.path(); }

  Cpus all_ = Cpus(16);

 private:
  FakeRoot root_;
};

TEST_F(Topology, CardsThatShareASocketSplitItByWholeCores) {
  EXPECT_EQ(shares({{card_at("00000000:3B:00.0")},
                    {card_at("00000000:AF:00.0")},
                    {card_at("00000000:5E:00.0")}},
                   all_),
            (Shares{{0, 1, 8, 9}, {4, 5, 6, 7, 12, 13, 14, 15}, {2, 3, 10, 11}}));
}

TEST_F(Topology, TheFirstCardDecides) {
  EXPECT_EQ(shares({{card_at("0000:af:00.0"), card_at("0000:3b:00.0")}}, all_),
            (Shares{{4, 5, 6, 7, 12, 13, 14, 15}}));
}

TEST_F(Topology, NothingOutsideTheMaskIsGiven) {
  EXPECT_EQ(shares({{card_at("0000:3b:00.0")}, {card_at("0000:af:00.0")}}, {1, 2, 4, 9}),
            (Shares{{1, 2, 9}, {4}}));
}

TEST_F(Topology, ACardWithoutAPlaceGetsItsPartOfTheWholeMask) {
  const Card unknown{"0", "0", std::nullopt};
  EXPECT_EQ(shares({{card_at("0000:3b:00.0")}, {unknown}}, all_),
            (Shares{{0, 1, 2, 3, 8, 9, 10, 11}, {4, 5, 6, 7, 12, 13, 14, 15}}));
  EXPECT_EQ(shares({{card_at("0000:3b:00.0")}, {card_at("0000:3b:00.0")}}, {4, 5, 12, 13}),
            (Shares{{4, 12}, {5, 13}}))
      << "the card's own CPUs are not in the mask";
  EXPECT_EQ(shares({{card_at("0000:00:00.0")}}, {0, 1}), (Shares{{0, 1}}));
}

TEST_F(Topology, WithoutCardsTheMaskIsSplitNodeByNode) {
  EXPECT_EQ(shares({{}, {}}, all_),
            (Shares{{0, 1, 2, 3, 8, 9, 10, 11}, {4, 5, 6, 7, 12, 13, 14, 15}}));
  const auto three = shares({{}, {}, {}}, all_);
  EXPECT_EQ(three, (Shares{{0, 1, 8, 9}, {2, 3, 4, 10, 11, 12}, {5, 6, 7, 13, 14, 15}}));
}

TEST_F(Topology, CoresAreTornOnlyWhenThereAreTooFew) {
  EXPECT_EQ(shares({{}, {}, {}, {}}, {0, 1, 8, 9}), (Shares{{0}, {8}, {1}, {9}}));
}

TEST_F(Topology, MoreTrainersThanCpusShareThem) {
  EXPECT_EQ(shares({{}, {}, {}, {}, {}}, {0, 1}), (Shares{{0}, {1}, {0}, {1}, {0}}));
}

TEST(CpusForTrainers, AMachineThatTellsNothingIsSplitByNumbers) {
  const FakeRoot root;
  EXPECT_EQ(cpus_for_trainers({{}, {}}, {0, 1, 2, 3}, root.path()), (Shares{{0, 1}, {2, 3}}));
}

TEST_F(Topology, TwoThreadsOfACoreAreOneCore) {
  EXPECT_EQ(number_of_cores({0, 8, 1}, path()), 2);
  EXPECT_EQ(number_of_cores(all_, path()), 8);
  EXPECT_EQ(number_of_cores({}, path()), 0);
}

}  // namespace
}  // namespace paddle_launch
