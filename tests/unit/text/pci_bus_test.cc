// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "launcher/text/device_list.h"

namespace paddle_launch {
namespace {

TEST(NormalPciBus, SpellsAddressesAsSysDoes) {
  EXPECT_EQ(normal_pci_bus("00000000:3B:00.0"), "0000:3b:00.0");
  EXPECT_EQ(normal_pci_bus("0000:af:1f.7"), "0000:af:1f.7");
  EXPECT_EQ(normal_pci_bus("3b:00.0"), "0000:3b:00.0");
  EXPECT_EQ(normal_pci_bus("00010000:3b:00.0"), "10000:3b:00.0");
  EXPECT_EQ(normal_pci_bus(""), "");
}

}  // namespace
}  // namespace paddle_launch
