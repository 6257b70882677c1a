// SPDX-License-Identifier: Apache-2.0
// Messages and bytes by a seeded generator.
#include <random>

#include <gtest/gtest.h>

#include "launcher/channel/message.h"
#include "tests/unit/channel/sample_messages.h"

namespace paddle_launch {
namespace {

constexpr unsigned kKinds = static_cast<unsigned>(StopCause::Kind::LauncherFailed) + 1;

// A message of random kind with random lists, texts and numbers within their ranges.
class AnyMessage {
 public:
  explicit AnyMessage(unsigned seed) : random_(seed) {}

  Message next() {
    switch (random_() % 4) {
      case 0:
        return EndingMessage{{.own = cause(),
                              .failures = failures(),
                              .stopped = names(),
                              .asked_to_end = random_() % 2 == 0}};
      case 1:
        return VerdictMessage{{.first = cause(),
                               .doubt = text(),
                               .aborted = names(),
                               .stopped = names(),
                               .failures = failures(),
                               .silent = {text(), text()},
                               .asked_to_end = rank(),
                               .next = next_round()}};
      case 2:
        return ClockMessage{.steady = sample_time(wide()), .wall_ns = wide()};
      default:
        return RosterMessage{.mine = rank(),
                             .hub = rank(),
                             .packed_pods = text(),
                             .warnings = {text()},
                             .payload = text(),
                             .round = round()};
    }
  }

 private:
  int rank() { return static_cast<int>(random_() % 10'000'001); }
  long wide() {
    return (static_cast<long>(random_()) << 30 | static_cast<long>(random_())) - rank();
  }
  std::string text() {
    std::string bytes(random_() % 200, '\0');
    for (char& byte : bytes) byte = static_cast<char>(random_());
    return bytes;
  }
  StopCause cause() {
    return {.kind = static_cast<StopCause::Kind>(random_() % kKinds),
            .node = rank(),
            .status = static_cast<int>(random_() % 256),
            .text = text(),
            .at = sample_time(wide())};
  }
  RoundState round() { return {.number = rank(), .restarts = rank(), .quick_failures = rank()}; }
  std::optional<NextRound> next_round() {
    if (random_() % 3 == 0) return std::nullopt;
    return NextRound{round(), std::chrono::milliseconds(rank()), random_() % 2 == 0};
  }
  std::vector<int> ranks() {
    std::vector<int> ranks(random_() % 50);
    for (int& rank_of_list : ranks)
      rank_of_list = random_() % 3 == 0 || ranks.front() > 9'000'000 ? rank() : ++ranks.front();
    return ranks;
  }
  std::vector<ProcessName> names() {
    std::vector<ProcessName> names;
    for (const int index : ranks()) {
      const bool goes_on = !names.empty() && random_() % 4 != 0;
      names.push_back({goes_on ? names.back().role : static_cast<Role>(random_() % 3), index});
    }
    return names;
  }
  std::vector<FailureRecord> failures() {
    std::vector<FailureRecord> failures(random_() % 4);
    for (FailureRecord& failure : failures) {
      failure = sample_failure();
      failure.role = static_cast<Role>(random_() % 3);
      failure.rank = rank();
      failure.log_excerpt = text();
      failure.exit.ended = sample_time(wide());
    }
    return failures;
  }

  std::mt19937 random_;
};

TEST(Message, ComesBackWhateverItHolds) {
  AnyMessage any(3);
  for (int round = 0; round < 5'000; ++round) {
    const Message message = any.next();
    const auto decoded = decode(encode(message));
    ASSERT_TRUE(decoded) << "round " << round;
    ASSERT_EQ(*decoded, message) << "round " << round;
  }
}

TEST(Message, SurvivesRandomBytes) {
  std::mt19937 random(4);  // NOLINT(cert-msc51-cpp): the same numbers each time
  for (int round = 0; round < 200'000; ++round) {
    std::string bytes(1 + random() % 40, '\0');
    for (char& byte : bytes) byte = static_cast<char>(random() % 3 == 0 ? random() : random() % 4);
    bytes.front() = static_cast<char>(random() % std::variant_size_v<Message>);
    const auto decoded = decode(bytes);
    if (decoded) {
      ASSERT_EQ(decode(encode(*decoded)), decoded);
    }
  }
}

}  // namespace
}  // namespace paddle_launch
