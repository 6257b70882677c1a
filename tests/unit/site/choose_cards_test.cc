// SPDX-License-Identifier: Apache-2.0
#include "launcher/site/choose_cards.h"

#include <string>

#include <gtest/gtest.h>

#include "launcher/job/errors.h"

namespace paddle_launch {
namespace {

// Four cards that NVML has found.
FoundCards four(CardKind /*kind*/) {
  return {{{0, "GPU-aa00", "0000:3b:00.0"},
           {1, "GPU-ab11", "0000:5e:00.0"},
           {2, "GPU-cc22", "0000:af:00.0"},
           {3, "GPU-dd33", "0000:d8:00.0"}},
          "NVML"};
}

FoundCards none(CardKind /*kind*/) { return {{}, "no cards: nothing was tried"}; }

FoundCards must_not_be_asked(CardKind /*kind*/) {
  ADD_FAILURE() << "the probe was asked";
  return {};
}

JobSpec job_with(const std::string& option, const std::string& list) {
  JobSpec job;
  std::optional<CardKind> kind;
  for (const auto& words : kCardWords) {
    if (words.option == kOpenOption) continue;
    if (option == "--" + std::string(words.option)) kind = words.kind;
  }
  job.cards = CardChoice{option, kind, list};
  return job;
}

JobSpec gpus(const std::string& list) { return job_with("--gpus", list); }

JobSpec assumed(JobSpec job) {
  job.assume_cards = true;
  return job;
}

Environment cuda(const std::string& value) { return {{"CUDA_VISIBLE_DEVICES", value}}; }

// "5@1" is card 5, which the trainer is told as 1.
std::string summary(const ChosenCards& chosen) {
  if (!chosen.kind) return chosen.cards.empty() ? "cpu" : "broken";
  std::string text(words_of(*chosen.kind).option);
  for (const auto& card : chosen.cards) text += " " + card.name + "@" + card.index;
  return text;
}

std::string refusal(const JobSpec& job, const Environment& env,
                    const std::function<FoundCards(CardKind)>& probe) {
  try {
    return "no refusal: " + summary(choose_cards(job, env, probe));
  } catch (const UsageError& error) {
    return error.what();
  }
}

bool says(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos && !text.starts_with("no refusal");
}

TEST(ChooseCards, WithoutAnyWishAllFoundCardsAreUsed) {
  const auto chosen = choose_cards({}, {}, four);
  EXPECT_EQ(summary(chosen), "gpus 0@0 1@1 2@2 3@3");
  EXPECT_EQ(chosen.cards[1].pci_bus, "0000:5e:00.0");
  EXPECT_EQ(summary(choose_cards({}, cuda("all"), four)), "gpus 0@0 1@1 2@2 3@3");
  EXPECT_EQ(summary(choose_cards({}, {}, none)), "cpu");
}

TEST(ChooseCards, NamedCardsKeepTheGivenOrder) {
  const auto chosen = choose_cards(gpus("3, '1' ,0"), {}, four);
  EXPECT_EQ(summary(chosen), "gpus 3@3 1@1 0@0");
  EXPECT_EQ(chosen.cards[0].pci_bus, "0000:d8:00.0");
}

TEST(ChooseCards, EmptyRepeatedAndUnreadableEntriesAreRefused) {
  EXPECT_TRUE(says(refusal(gpus("0,,1"), {}, four), "--gpus=0,,1: an entry is empty"));
  EXPECT_TRUE(says(refusal(gpus(""), {}, four), "an entry is empty"));
  EXPECT_TRUE(says(refusal(gpus("0,1,00"), {}, four), "card 0 is named twice"));
  EXPECT_TRUE(says(refusal(gpus("0,GPU-aa"), {}, four), "card GPU-aa is named twice"));
  EXPECT_TRUE(says(refusal(gpus("0-3"), {}, four), "'0-3' is not a card"));
}

TEST(ChooseCards, ACardThatIsNotThereIsRefusedWithTheProbeAndTheRemedies) {
  const auto text = refusal(gpus("0,9"), {}, four);
  EXPECT_TRUE(says(text, "card 9 is not there; 4 gpus were found here by NVML: 0,1,2,3")) << text;
  EXPECT_TRUE(says(text, "--assume_gpus (PADDLE_LAUNCH_ASSUME_GPUS=1)")) << text;
  EXPECT_TRUE(says(text, "--nproc_per_node")) << text;
  const auto bare = refusal(gpus("0"), {}, none);
  EXPECT_TRUE(says(bare, "0 gpus were found here (no cards: nothing was tried)")) << bare;
  EXPECT_TRUE(says(refusal({}, cuda("0,7"), four), "CUDA_VISIBLE_DEVICES=0,7: card 7"));
  EXPECT_TRUE(says(refusal({}, cuda("GPU-zz"), four), "card GPU-zz is not there"));
  EXPECT_TRUE(says(refusal({}, cuda("MIG-x"), none), "card MIG-x is not there"));
}

TEST(ChooseCards, AssumedCardsAreNotProbed) {
  EXPECT_EQ(summary(choose_cards(assumed(gpus("0,1,6")), {}, must_not_be_asked)),
            "gpus 0@0 1@1 6@6");
  EXPECT_EQ(summary(choose_cards(assumed({}), cuda("4,5"), must_not_be_asked)), "gpus 4@0 5@1");
  EXPECT_EQ(
      summary(choose_cards(assumed(job_with("--devices", "5")), cuda("4,5"), must_not_be_asked)),
      "gpus 5@1");
  EXPECT_EQ(summary(choose_cards(assumed({}), {}, must_not_be_asked)), "cpu");
}

TEST(ChooseCards, TheVariableMakesIndicesOfNames) {
  EXPECT_EQ(summary(choose_cards({}, cuda("2,0"), four)), "gpus 2@0 0@1");
  EXPECT_EQ(summary(choose_cards(gpus("0"), cuda("2, 0"), four)), "gpus 0@1");
  EXPECT_EQ(summary(choose_cards(gpus("0,2"), cuda("\"2,0\""), four)), "gpus 0@1 2@0");
  EXPECT_EQ(choose_cards(gpus("0"), cuda("2,0"), four).cards[0].pci_bus, "0000:3b:00.0");
}

TEST(ChooseCards, ACardOutsideTheVariableIsRefusedInPaddlesWords) {
  const auto text = refusal(assumed(gpus("6")), cuda("4,5"), four);
  EXPECT_TRUE(text.starts_with("Can't find your gpus 6 in CUDA_VISIBLE_DEVICES[4,5].")) << text;
  EXPECT_TRUE(says(refusal(gpus("0"), cuda("GPU-aa00"), four), "Can't find your gpus 0 in"));
}

TEST(ChooseCards, TheVariableEndsWhereCudaStopsReading) {
  EXPECT_EQ(summary(choose_cards({}, cuda("1,-1,2"), four)), "gpus 1@0");
  EXPECT_EQ(summary(choose_cards({}, cuda("1,2,"), four)), "gpus 1@0 2@1");
  for (const char* value : {"", "\"\"", "-1", "NoDevFiles", " "}) {
    EXPECT_EQ(summary(choose_cards({}, cuda(value), must_not_be_asked)), "cpu") << value;
    EXPECT_TRUE(says(refusal(gpus("0"), cuda(value), four), "hides all cards")) << value;
  }
}

TEST(ChooseCards, AVariableThatIsNoCleanListIsRefused) {
  EXPECT_TRUE(says(refusal({}, cuda("0,1,0"), four), "named twice"));
  EXPECT_TRUE(says(refusal({}, cuda("0,GPU-ab11"), four), "mixed"));
  EXPECT_TRUE(says(refusal({}, cuda("first"), four), "'first' does not name a card"));
  EXPECT_TRUE(says(refusal({}, cuda("GPU-ab,GPU-ab1"), four), "a second time"));
}

TEST(ChooseCards, UuidsMayBeShortenedWhileTheyFitOneCard) {
  const auto chosen = choose_cards({}, cuda("GPU-cc,GPU-ab"), four);
  EXPECT_EQ(summary(chosen), "gpus GPU-cc@0 GPU-ab@1");
  EXPECT_EQ(chosen.cards[1].pci_bus, "0000:5e:00.0");
  EXPECT_TRUE(says(refusal({}, cuda("GPU-a"), four), "fits more than one card"));
  EXPECT_EQ(summary(choose_cards(gpus("GPU-c"), cuda("GPU-ab11,GPU-cc22"), four)),
            "gpus GPU-cc22@1");
}

TEST(ChooseCards, AUuidWithoutTheVariableBecomesItsNumber) {
  EXPECT_EQ(summary(choose_cards(gpus("GPU-dd33,0"), {}, four)), "gpus GPU-dd33@3 0@0");
  EXPECT_TRUE(says(refusal(gpus("GPU-zz"), {}, four), "is not there"));
  EXPECT_TRUE(says(refusal(assumed(gpus("GPU-zz")), {}, must_not_be_asked),
                   "set CUDA_VISIBLE_DEVICES=GPU-zz"));
}

TEST(ChooseCards, MigPartsWorkThroughTheVariableOnly) {
  EXPECT_EQ(summary(choose_cards({}, cuda("MIG-1,MIG-2"), four)), "gpus MIG-1@0 MIG-2@1");
  EXPECT_EQ(summary(choose_cards(gpus("MIG-2"), cuda("MIG-1,MIG-2"), four)), "gpus MIG-2@1");
  EXPECT_TRUE(says(refusal(gpus("MIG-1"), {}, four), "set CUDA_VISIBLE_DEVICES=MIG-1"));
}

TEST(ChooseCards, CpuIsChosenByNameAndByGloo) {
  EXPECT_EQ(summary(choose_cards(job_with("--devices", "cpu"), cuda("0"), must_not_be_asked)),
            "cpu");
  JobSpec gloo = gpus("0,1");
  gloo.backend = "gloo";
  EXPECT_EQ(summary(choose_cards(gloo, {}, must_not_be_asked)), "cpu");
}

TEST(ChooseCards, OtherKindsComeWithTheirOptionBackendOrVariable) {
  EXPECT_EQ(summary(choose_cards(job_with("--xpus", "1,0"), {}, four)), "xpus 1@1 0@0");
  const Environment xpu{{"XPU_VISIBLE_DEVICES", "2,3"}};
  EXPECT_EQ(summary(choose_cards({}, xpu, four)), "xpus 2@0 3@1");
  EXPECT_EQ(summary(choose_cards(job_with("--devices", "3"), xpu, four)), "xpus 3@1");
  EXPECT_EQ(summary(choose_cards(gpus("3"), xpu, four)), "gpus 3@3");
  EXPECT_EQ(summary(choose_cards({}, {{"XPULINK_VISIBLE_DEVICES", "1"}}, four)), "xpus 1@0");
  EXPECT_EQ(summary(choose_cards({}, {{"ASCEND_RT_VISIBLE_DEVICES", "1"}}, four)), "npus 1@0");
  EXPECT_EQ(summary(choose_cards({}, {{"MLU_VISIBLE_DEVICES", "1"}}, four)), "mlus 1@0");
  EXPECT_EQ(summary(choose_cards({}, {{"XPU_VISIBLE_DEVICES", "1"}, {"CUDA_VISIBLE_DEVICES", "0"}},
                                 four)),
            "gpus 0@0");
  EXPECT_EQ(summary(choose_cards({}, {{"PADDLE_XCCL_BACKEND", "npu"}}, four)),
            "npus 0@0 1@1 2@2 3@3");
  EXPECT_EQ(summary(choose_cards({}, {{"SDAA_VISIBLE_DEVICES", "1"}}, four)), "devices 1@0");
  JobSpec hccl;
  hccl.backend = "hccl";
  EXPECT_EQ(summary(choose_cards(hccl, {}, four)), "npus 0@0 1@1 2@2 3@3");
}

std::vector<std::size_t> sizes(const std::vector<std::vector<Card>>& dealt) {
  std::vector<std::size_t> result;
  result.reserve(dealt.size());
  for (const auto& cards : dealt) result.push_back(cards.size());
  return result;
}

TEST(DealCards, OneTrainerACardOrEqualConsecutiveSlices) {
  const auto chosen = choose_cards({}, {}, four);
  EXPECT_EQ(sizes(deal_cards(chosen, {})), (std::vector<std::size_t>{1, 1, 1, 1}));
  const auto two = deal_cards(chosen, 2);
  EXPECT_EQ(sizes(two), (std::vector<std::size_t>{2, 2}));
  EXPECT_EQ(two[1][0].name, "2");
  EXPECT_EQ(sizes(deal_cards(chosen, 1)), std::vector<std::size_t>{4});
}

TEST(DealCards, RefusesANumberThatDoesNotDivideTheCards) {
  const auto chosen = choose_cards({}, {}, four);
  EXPECT_THROW(deal_cards(chosen, 8), UsageError);
  EXPECT_THROW(deal_cards(chosen, 0), UsageError);
  try {
    deal_cards(chosen, 3);
    FAIL();
  } catch (const UsageError& error) {
    EXPECT_TRUE(says(error.what(), "gpus' number:4 mod nproc_per_node:3 must == 0"))
        << error.what();
  }
}

TEST(DealCards, OnTheCpuThereAreAsManyEmptySlicesAsProcesses) {
  EXPECT_EQ(sizes(deal_cards({}, {})), std::vector<std::size_t>{0});
  EXPECT_EQ(sizes(deal_cards({}, 3)), (std::vector<std::size_t>{0, 0, 0}));
}

TEST(CustomDevices, AreThoseThatTheUserNames) {
  const auto never = [](CardKind) -> FoundCards { throw std::logic_error("looked for"); };
  JobSpec job;
  job.cards = CardChoice{"--devices", std::nullopt, "0,3"};
  const Environment env{{"PADDLE_XCCL_BACKEND", "iluvatar_gpu"}};
  const ChosenCards chosen = choose_cards(job, env, never);
  EXPECT_EQ(chosen.kind, CardKind::IluvatarGpu);
  EXPECT_EQ(summary(chosen), "devices 0@0 3@3");
  Environment visible = env;
  visible["ILUVATAR_GPU_VISIBLE_DEVICES"] = "2,3";
  EXPECT_EQ(summary(choose_cards({}, visible, never)), "devices 2@0 3@1");
  EXPECT_EQ(summary(choose_cards(job, {{"SDAA_VISIBLE_DEVICES", "0,1,2,3"}}, never)),
            "devices 0@0 3@3");
}

TEST(CustomDevices, AreRefusedWhereNobodyNamesThemOrTheirKindIsNotKnown) {
  const auto never = [](CardKind) -> FoundCards { throw std::logic_error("looked for"); };
  EXPECT_THROW(choose_cards({}, {{"PADDLE_XCCL_BACKEND", "gcu"}}, never), UsageError);
  EXPECT_THROW(choose_cards({}, {{"PADDLE_XCCL_BACKEND", "none"}}, never), UsageError);
  JobSpec cpu;
  cpu.cards = CardChoice{"--devices", std::nullopt, "cpu"};
  EXPECT_EQ(choose_cards(cpu, {{"PADDLE_XCCL_BACKEND", "gcu"}}, never).kind, std::nullopt);
  const Environment inner{{"PADDLE_XCCL_BACKEND", "gcu"}, {"PADDLE_LAUNCH_JOB", "outer"}};
  const auto none = [](CardKind) { return FoundCards{}; };
  EXPECT_EQ(choose_cards({}, inner, none).kind, std::nullopt);
}

}  // namespace
}  // namespace paddle_launch
