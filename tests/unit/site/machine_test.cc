// SPDX-License-Identifier: Apache-2.0
#include "launcher/site/machine.h"

#include <sched.h>
#include <unistd.h>

#include <algorithm>

#include <gtest/gtest.h>

namespace paddle_launch {
namespace {

const Machine kNode{"n1", {"10.0.0.7", "127.0.0.1", "192.168.3.7"}, {0, 1}};

TEST(LookAround, FindsHostLoopbackAndTheMaskItWasGiven) {
  const Machine machine = look_around();
  char name[256] = {};
  gethostname(name, sizeof name - 1);
  EXPECT_EQ(machine.host_name, name);
  EXPECT_EQ(std::count(machine.addresses.begin(), machine.addresses.end(), "127.0.0.1"), 1);
  cpu_set_t mask;
  sched_getaffinity(0, sizeof mask, &mask);
  ASSERT_EQ(machine.cpus.size(), static_cast<std::size_t>(CPU_COUNT(&mask)));
  for (const int cpu : machine.cpus) EXPECT_TRUE(CPU_ISSET(cpu, &mask)) << cpu;
}

TEST(IsMine, KnowsItsAddressesAndAllOfLoopback) {
  for (const char* entry : {"10.0.0.7", "192.168.3.7", "127.0.0.1", "127.0.1.1", "127.9.9.9"}) {
    EXPECT_TRUE(is_mine(kNode, entry)) << entry;
  }
  for (const char* entry : {"10.0.0.8", "192.168.3.70", "0.0.0.0", "128.0.0.1"}) {
    EXPECT_FALSE(is_mine(kNode, entry)) << entry;
  }
}

TEST(IsMine, KnowsItsNamesWithoutALookUp) {
  EXPECT_TRUE(is_mine(kNode, "localhost"));
  EXPECT_TRUE(is_mine(kNode, "n1"));
}

TEST(IsMine, RefusesWhatIsNeitherAddressNorName) {
  for (const char* entry : {"", "10.1", "10.0.0.7.1", "7", "10.0.0.256", "no-such-host.invalid"}) {
    EXPECT_FALSE(is_mine(kNode, entry)) << entry;
  }
}

TEST(IsMine, ResolvesOtherNames) {
  // Spelled like this it is no plain name, and every hosts file still has it under loopback.
  const Machine elsewhere{"n2", {"10.0.0.9"}, {0}};
  EXPECT_TRUE(is_mine(elsewhere, "LOCALHOST"));
}

}  // namespace
}  // namespace paddle_launch
