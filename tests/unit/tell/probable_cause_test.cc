// SPDX-License-Identifier: Apache-2.0
#include "launcher/tell/probable_cause.h"

#include <string>

#include <gtest/gtest.h>

namespace paddle_launch {
namespace {

constexpr std::string_view kOwnError =
    "step 1\nTraceback (most recent call last):\n  File \"train.py\"\nValueError: broken sample\n";
constexpr std::string_view kSecondary =
    "step 1\nTraceback (most recent call last):\n  File \"train.py\"\nConnectionResetError: [Errno "
    "104]\n";
// As real Paddle ends when gloo loses a peer: its own header is under every kind of end.
constexpr std::string_view kGlooSecondary =
    "step 1\nterminate called after throwing an instance of 'gloo::TimeoutException'\n  what():  "
    "TIMEOUT self_rank = 1 pair_rank = 2\n---\nC++ Traceback (most recent call last):\n---\n0   "
    "egr::Backward\n\nFatalError: `Process abort signal` is detected by the operating system.\n";
constexpr std::string_view kStopped =
    "step 1\n---\nC++ Traceback (most recent call last):\n---\n0   gloo::waitRecv\n\nFatalError: "
    "`Termination signal` is detected by the operating system.\n";
constexpr std::int64_t kMillisecond = 1'000'000;

TEST(ProbableCause, IsTheRankWithAnErrorOfItsOwnWhenTheFirstToDieOnlyLostItsNeighbour) {
  EXPECT_EQ(probable_cause(3, {{2, kOwnError, 0}, {3, kSecondary, 0}}), 2);
  EXPECT_EQ(probable_cause(3, {{1, kStopped, 0}, {2, kOwnError, 9}, {3, kGlooSecondary, 0}}), 2);
}

TEST(ProbableCause, IsTheOlderErrorOfTheSameKind) {
  EXPECT_EQ(probable_cause(1, {{0, kOwnError, 0}, {1, kOwnError, 100 * kMillisecond}}), 0);
  EXPECT_EQ(probable_cause(0, {{0, kOwnError, 0}, {1, kOwnError, 100 * kMillisecond}}),
            std::nullopt);
}

TEST(ProbableCause, TrustsTheOrderOfDeathsWithinATick) {
  EXPECT_EQ(probable_cause(1, {{0, kOwnError, 0}, {1, kOwnError, 5 * kMillisecond}}), std::nullopt);
}

TEST(ProbableCause, LeavesAloneWhoDiedWithoutWords) {
  EXPECT_EQ(probable_cause(1, {{0, kSecondary, 0}, {1, "Segmentation fault\n", 9}}), std::nullopt);
  EXPECT_EQ(probable_cause(1, {{0, "fine\n", 0}, {1, kOwnError, 9}}), std::nullopt);
}

TEST(IsSecondary, IsTrueOfALogThatEndsWithALostNeighbourAlone) {
  EXPECT_TRUE(is_secondary(kSecondary));
  EXPECT_FALSE(is_secondary(kOwnError));
  EXPECT_FALSE(is_secondary("fine\n"));
  EXPECT_TRUE(is_secondary(kGlooSecondary));
  EXPECT_FALSE(is_secondary(kStopped));
  EXPECT_FALSE(is_secondary("terminate called after throwing an instance of 'std::bad_alloc'\n"));
}

TEST(IsSecondary, GoesByTheFirstOfChainedExceptions) {
  const std::string chain =
      "\nDuring handling of the above exception, another exception occurred:\n\n";
  EXPECT_TRUE(is_secondary(std::string(kSecondary) + chain + std::string(kOwnError).substr(7)));
  EXPECT_FALSE(is_secondary(std::string(kOwnError) + chain + std::string(kSecondary).substr(7)));
  EXPECT_FALSE(is_secondary(std::string(kSecondary) + std::string(kOwnError))) << "not chained";
}

TEST(EndsWithOwnError, IsTrueOfAnErrorThatWasToldToItsEnd) {
  EXPECT_TRUE(ends_with_own_error(kOwnError));
  EXPECT_FALSE(ends_with_own_error(kSecondary));
  EXPECT_FALSE(ends_with_own_error(kGlooSecondary));
  EXPECT_FALSE(ends_with_own_error(kStopped));
  EXPECT_FALSE(ends_with_own_error("step 1\n"));
  for (const std::size_t cut : {1U, 8U, 26U}) {
    EXPECT_FALSE(ends_with_own_error(kOwnError.substr(0, kOwnError.size() - cut))) << cut;
  }
  const std::string uncaught =
      "terminate called after throwing an instance of 'std::runtime_error'\n";
  EXPECT_FALSE(ends_with_own_error(uncaught)) << "it may have lost a neighbour";
  EXPECT_TRUE(ends_with_own_error(uncaught + "  what():  no room\n"));
  EXPECT_FALSE(ends_with_own_error(uncaught + "  what():  Connection reset by peer\n"));
}

TEST(EndsWithOwnError, KnowsPaddlesWords) {
  const std::string paddles =
      "step 1\nTraceback (most recent call last):\n  File \"train.py\"\nMemoryError: \n\n---\nC++ "
      "Traceback (most recent call last):\n---\n0   paddle::f()\n1   paddle::f()\n\n---\nError "
      "Message Summary:\n---\nResourceExhaustedError: \n\nOut of memory error on GPU 0.\n";
  EXPECT_TRUE(ends_with_own_error(paddles));
  EXPECT_EQ(error_line(paddles), "MemoryError: ");
  const std::string crash =
      "step 1\n---\nC++ Traceback (most recent call last):\n---\n0   f()\n\nFatalError: "
      "`Segmentation fault` is detected by the operating system.\n";
  EXPECT_TRUE(ends_with_own_error(crash));
  EXPECT_TRUE(error_line(crash).starts_with("FatalError: `Segmentation fault`"));
}

TEST(EndsWithOwnError, IsFalseWhereTheProgramWentOn) {
  const std::string log(kOwnError);
  EXPECT_FALSE(ends_with_own_error(log + "step 2\n")) << "as before the error";
  EXPECT_FALSE(ends_with_own_error(log + "loss 0.51\nloss 0.4\n"));
  EXPECT_TRUE(ends_with_own_error(log + "in two lines\nException ignored in: <f>\n\n  x\n  x\n"));
}

TEST(ErrorLine, NamesTheError) {
  EXPECT_EQ(error_line(kOwnError), "ValueError: broken sample");
  EXPECT_EQ(error_line(std::string(kOwnError) + std::string(kStopped)),
            "ValueError: broken sample");
  EXPECT_EQ(error_line("step 1\n"), "");
}

TEST(FirstOwnError, IsTheOldestErrorThatIsNotSecondary) {
  EXPECT_EQ(first_own_error({{0, kSecondary, 0}, {1, kOwnError, 9}, {2, kOwnError, 5}}), 2);
  EXPECT_EQ(first_own_error(
                {{0, kSecondary, 0}, {1, "fine\n", 1}, {2, kGlooSecondary, 1}, {3, kStopped, 1}}),
            std::nullopt);
}

}  // namespace
}  // namespace paddle_launch
