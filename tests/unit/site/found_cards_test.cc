// SPDX-License-Identifier: Apache-2.0
// FAKE_NVML_PATH, from the build, is the library made of tests/fakes/fake_nvml.cc.
#include "launcher/site/found_cards.h"

#include <chrono>
#include <cstdlib>

#include <gtest/gtest.h>

#include "tests/unit/site/fake_root.h"

namespace paddle_launch {
namespace {

const Environment kFakeNvml{{"PADDLE_LAUNCH_NVML_LIBRARY", FAKE_NVML_PATH}};

class Variable {
 public:
  Variable(const char* name, const char* value) : name_(name) { setenv(name, value, 1); }
  Variable(const Variable&) = delete;
  Variable& operator=(const Variable&) = delete;
  ~Variable() { unsetenv(name_); }

 private:
  const char* name_;
};

std::string information(const std::string& uuid, const std::string& bus, const std::string& minor) {
  return "Model: \t\t NVIDIA A100\nIRQ:   \t\t 75\nGPU UUID: \t " + uuid + "\nBus Location: \t " +
         bus + "\nDevice Minor: \t " + minor + "\nGPU Excluded:\t No\n";
}

TEST(FindGpus, NvmlIsAskedFirst) {
  const FakeRoot root;
  root.write("dev/nvidia0", "");
  const auto found = find_gpus(kFakeNvml, root.path());
  EXPECT_EQ(found.probe, "NVML");
  ASSERT_EQ(found.cards.size(), 4U);
  EXPECT_EQ(found.cards[2], (FoundCard{2, "GPU-fake-0002", "0000:02:00.0"}));
}

TEST(FindGpus, NvmlThatKnowsNoCardsIsBelieved) {
  const Variable none("FAKE_NVML_CARDS", "0");
  const FakeRoot root;
  EXPECT_EQ(find_gpus(kFakeNvml, root.path()), (FoundCards{{}, "no cards: NVML knows none"}));
}

TEST(FindGpus, ACardThatFellOffTheBusLeavesTheOthersTheirNumbers) {
  const Variable lost("FAKE_NVML_LOST", "1");
  const auto found = find_gpus(kFakeNvml);
  ASSERT_EQ(found.cards.size(), 3U);
  EXPECT_EQ(found.cards[1].index, 2);
}

TEST(FindGpus, WithoutNvmlProcIsReadInTheOrderOfTheBus) {
  const FakeRoot root;
  const std::string gpus = "proc/driver/nvidia/gpus/";
  root.write(gpus + "0000:af:00.0/information", information("GPU-b", "0000:af:00.0", "0"));
  root.write(gpus + "0000:3b:00.0/information", information("GPU-a", "0000:3b:00.0", "1"));
  const auto found = find_gpus({{"PADDLE_LAUNCH_NVML_LIBRARY", "/does/not/exist.so"}}, root.path());
  EXPECT_EQ(found, (FoundCards{{{0, "GPU-a", "0000:3b:00.0"}, {1, "GPU-b", "0000:af:00.0"}},
                               "/proc/driver/nvidia/gpus"}));
}

TEST(FindGpus, CardsWithoutADeviceFileBelongToAnotherContainer) {
  const FakeRoot root;
  const std::string gpus = "proc/driver/nvidia/gpus/";
  root.write(gpus + "0000:3b:00.0/information", information("GPU-a", "0000:3b:00.0", "0"));
  root.write(gpus + "0000:af:00.0/information", information("GPU-b", "0000:af:00.0", "1"));
  root.write("dev/nvidia1", "");
  const auto found = find_gpus({{"PADDLE_LAUNCH_NVML_LIBRARY", "/does/not/exist.so"}}, root.path());
  ASSERT_EQ(found.cards.size(), 1U);
  EXPECT_EQ(found.cards[0], (FoundCard{0, "GPU-b", "0000:af:00.0"}));
}

TEST(FindGpus, DeviceFilesAreCountedLast) {
  const FakeRoot root;
  for (const char* name : {"nvidia10", "nvidia4", "nvidia-uvm", "nvidia-caps", "null"}) {
    root.write(std::string("dev/") + name, "");
  }
  EXPECT_EQ(find_gpus({}, root.path()), (FoundCards{{{0, "", ""}, {1, "", ""}}, "/dev/nvidia*"}));
}

TEST(FindGpus, NothingFoundSaysWhatWasTried) {
  const FakeRoot root;
  std::string probe = find_gpus({}, root.path()).probe;
  for (const char* const tried : {"no cards: NVML ", "/proc/driver/nvidia/gpus", "/dev/nvidia*"}) {
    EXPECT_NE(probe.find(tried), std::string::npos) << tried << " in: " << probe;
  }
  probe = find_gpus({{"PADDLE_LAUNCH_NVML_LIBRARY", "/does/not/exist.so"}}, root.path()).probe;
  EXPECT_TRUE(probe.starts_with("no cards: NVML not installed (")) << probe;
}

TEST(AskNvml, ADriverThatHangsDoesNotHangTheLauncher) {
  const Variable hang("FAKE_NVML_HANG", "1");
  const auto before = std::chrono::steady_clock::now();
  const auto answer = ask_nvml(FAKE_NVML_PATH, std::chrono::milliseconds(50));
  EXPECT_TRUE(answer.trouble.starts_with("NVML did not answer")) << answer.trouble;
  EXPECT_LT(std::chrono::steady_clock::now() - before, std::chrono::seconds(5));
}

TEST(AskNvml, ALibraryThatIsNotNvmlIsTrouble) {
  const auto answer = ask_nvml("libm.so.6");
  EXPECT_TRUE(answer.trouble.starts_with("NVML failed (no symbol")) << answer.trouble;
}

TEST(FindCardsOf, OtherKindsAreCountedByTheirDeviceFiles) {
  const FakeRoot root;
  for (const char* name : {"xpu0", "xpu1", "xpuctrl", "davinci4", "davinci_manager"}) {
    root.write(std::string("dev/") + name, "");
  }
  EXPECT_EQ(find_cards_of(CardKind::Xpu, {}, root.path()),
            (FoundCards{{{0, "", ""}, {1, "", ""}}, "/dev/xpu*"}));
  EXPECT_EQ(find_cards_of(CardKind::Npu, {}, root.path()),
            (FoundCards{{{4, "", ""}}, "/dev/davinci*"}));
  EXPECT_EQ(find_cards_of(CardKind::Mlu, {}, root.path()),
            (FoundCards{{}, "no cards: no /dev/cambricon_dev*"}));
  EXPECT_TRUE(find_cards_of(CardKind::Gpu, {}, root.path()).cards.empty());
}

}  // namespace
}  // namespace paddle_launch
