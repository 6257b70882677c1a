// SPDX-License-Identifier: Apache-2.0
#include "launcher/channel/message.h"

#include <cmath>
#include <numeric>

#include <gtest/gtest.h>

#include "tests/unit/channel/allocations.h"
#include "tests/unit/channel/sample_messages.h"

namespace paddle_launch {
namespace {

constexpr std::size_t kKilobyte = 1024;
constexpr std::size_t kEveryNth = 64;

template <typename Kind>
Kind there_and_back(const Kind& message) {
  const auto decoded = decode(encode(message));
  EXPECT_TRUE(decoded && std::holds_alternative<Kind>(*decoded));
  return decoded ? std::get<Kind>(*decoded) : Kind{};
}

// Kind byte, then what a test puts behind it.
std::string bytes_of_kind(const Message& kind, std::string_view rest) {
  return static_cast<char>(kind.index()) + std::string(rest);
}

TEST(Message, ComesBackAsItWas) {
  const auto samples = sample_messages();
  ASSERT_EQ(samples.size(), std::variant_size_v<Message>);
  for (std::size_t i = 0; i < samples.size(); ++i) {
    ASSERT_EQ(samples[i].index(), i) << "a sample of every kind, in their order";
    const auto decoded = decode(encode(samples[i]));
    ASSERT_TRUE(decoded) << "kind " << i;
    EXPECT_EQ(*decoded, samples[i]) << "kind " << i;
  }
}

TEST(Message, ComesBackWhenNothingIsSet) {
  const std::vector<Message> messages = {
      OfferMessage{}, WaitingMessage{}, RosterMessage{},  RefusalMessage{},  StopMessage{},
      ClockMessage{}, EndingMessage{},  VerdictMessage{}, CheckRowMessage{}, CheckDoneMessage{}};
  for (const Message& message : messages) EXPECT_EQ(decode(encode(message)), message);
}

TEST(Message, IsRefusedWhenCutAnywhereOrTooLong) {
  for (const Message& message : sample_messages()) {
    const std::string bytes = encode(message);
    for (std::size_t size = 0; size < bytes.size(); ++size)
      ASSERT_EQ(decode(bytes.substr(0, size)), std::nullopt) << message.index() << " at " << size;
    EXPECT_EQ(decode(bytes + '\0'), std::nullopt);
  }
}

TEST(Message, IsRefusedWhenItsKindIsUnknown) {
  EXPECT_EQ(decode(""), std::nullopt);
  for (std::size_t kind = std::variant_size_v<Message>; kind < 256; ++kind)
    EXPECT_EQ(decode(std::string(1, static_cast<char>(kind))), std::nullopt);
}

TEST(Message, WithOneWrongByteIsReadOrRefused) {
  for (const Message& message : sample_messages()) {
    const std::string bytes = encode(message);
    for (std::size_t at = 0; at < bytes.size(); ++at) {
      for (int flip = 1; flip < 256; ++flip) {
        std::string wrong = bytes;
        wrong[at] = static_cast<char>(static_cast<unsigned char>(wrong[at]) ^ flip);
        const auto decoded = decode(wrong);
        if (!decoded || flip % kEveryNth != 1) continue;
        ASSERT_EQ(decode(encode(*decoded)), decoded);
      }
    }
  }
}

TEST(Message, CutsLogsToTheirEnd) {
  std::string log;
  for (int line = 0; log.size() < 100 * kKilobyte; ++line)
    log += "line " + std::to_string(line) + "\n";
  FailureRecord failure = sample_failure();
  failure.log_excerpt = log;
  RootCauseHint hint = sample_hint();
  hint.log_excerpt = log;
  const PodEnding ending =
      there_and_back(EndingMessage{{.failures = {failure}, .own_error = hint}}).ending;
  for (const std::string& excerpt :
       {ending.failures.at(0).log_excerpt, ending.own_error->log_excerpt}) {
    EXPECT_LE(excerpt.size(), 48 * kKilobyte);
    EXPECT_GT(excerpt.size(), 47 * kKilobyte);
    EXPECT_EQ(excerpt.rfind("line ", 0), 0U);
    EXPECT_EQ(log.substr(log.size() - excerpt.size()), excerpt);
  }
}

TEST(Message, CutsOtherTextsToTheirStart) {
  const std::string text(100 * kKilobyte, 'x');
  EXPECT_EQ(there_and_back(RefusalMessage{.text = text}).text.size(), 8 * kKilobyte);
  EXPECT_EQ(there_and_back(StopMessage{{.text = text}}).cause.text.size(), kKilobyte);
  const OfferMessage offer = there_and_back(OfferMessage{.terms = {.command = text}});
  EXPECT_EQ(offer.terms.command.size(), 4 * kKilobyte);
  const auto ips = std::vector<std::string>(5000, "192.168.100.100");
  EXPECT_EQ(there_and_back(OfferMessage{.terms = {.ips = ips}}).terms.ips, ips);
  const std::string packed(300 * kKilobyte, 'p');
  EXPECT_EQ(there_and_back(RosterMessage{.packed_pods = packed}).packed_pods, packed);
}

TEST(Message, SendsTheFirstFailuresOnly) {
  std::vector<FailureRecord> failures(100);
  for (std::size_t i = 0; i < failures.size(); ++i) failures[i].rank = static_cast<int>(i);
  const PodEnding ending = there_and_back(EndingMessage{{.failures = failures}}).ending;
  failures.resize(32);
  EXPECT_EQ(ending.failures, failures);
  EXPECT_EQ(there_and_back(VerdictMessage{{.failures = failures}}).verdict.failures, failures);
}

TEST(Message, LeavesPciAddressesAtHome) {
  OfferMessage offer = sample_offer_message();
  offer.offer.trainers[0].cards[0].pci_bus = "0000:3b:00.0";
  EXPECT_EQ(there_and_back(offer), sample_offer_message());
}

TEST(Message, SendsManyRanksInFewBytes) {
  std::vector<int> ranks(80'000);
  std::iota(ranks.begin(), ranks.end(), 0);
  ranks.erase(ranks.begin() + 41'000);
  VerdictMessage all;
  all.verdict.stopped = names_of(Role::Trainer, ranks);
  EXPECT_LT(encode(all).size(), 32U);
  EXPECT_EQ(there_and_back(all), all);

  std::vector<int> each_eighth(10'000);
  for (std::size_t i = 0; i < each_eighth.size(); ++i) each_eighth[i] = static_cast<int>(8 * i);
  VerdictMessage some;
  some.verdict.aborted = names_of(Role::Trainer, each_eighth);
  EXPECT_LT(encode(some).size(), 2 * each_eighth.size() + 32);
  EXPECT_EQ(there_and_back(some), some);
}

TEST(Message, WritesOutAMillionRanksAndNoMore) {
  std::vector<int> ranks(1'000'000);
  std::iota(ranks.begin(), ranks.end(), 9'000'001);
  const EndingMessage most{{.stopped = names_of(Role::Trainer, ranks)}};
  EXPECT_EQ(there_and_back(most), most);
  EndingMessage more = most;
  more.ending.stopped.push_back({Role::Server, 1});
  EXPECT_EQ(there_and_back(more), most) << "cut when written";

  // Two runs: 0…999999 and, again from 0, one more.
  const std::string silent_of_two_runs("\0\0\x02\0\xbf\x84\x3d\xff\x88\x7a\0", 11);
  const std::string bytes = bytes_of_kind(CheckDoneMessage{}, silent_of_two_runs);
  EXPECT_EQ(decode(bytes), std::nullopt);
}

// The end of a PodEnding of which nothing is set but the names: own, no failures, names, four
// flags.
std::optional<Message> ending_with_names(const std::string& names) {
  return decode(
      bytes_of_kind(EndingMessage{}, std::string(6, '\0') + names + std::string(4, '\0')));
}

TEST(Message, SpellsNamesInOneWayOnly) {
  EXPECT_TRUE(ending_with_names({'\0'}));
  const std::string servers("\x01\x01\0\x02", 4);  // server 0 to 2
  const std::string rank_7("\0\x01\x0e\0", 4);
  const auto both = ending_with_names("\x02" + servers + rank_7);
  ASSERT_TRUE(both);
  const std::vector<ProcessName> expected = {
      {Role::Server, 0}, {Role::Server, 1}, {Role::Server, 2}, {Role::Trainer, 7}};
  EXPECT_EQ(std::get<EndingMessage>(*both).ending.stopped, expected);
  EXPECT_FALSE(ending_with_names("\x02" + servers + servers)) << "one stretch in two";
  EXPECT_FALSE(ending_with_names(std::string("\x01\x01\0\0\0", 5))) << "an empty stretch";
  EXPECT_FALSE(ending_with_names("\x01\x03" + servers.substr(1))) << "no such role";
  // A million servers, and again as many ranks.
  const std::string million("\x01\0\xbf\x84\x3d", 5);
  EXPECT_TRUE(ending_with_names("\x01\x01" + million));
  EXPECT_FALSE(ending_with_names("\x02\x01" + million + std::string(1, '\0') + million));
}

TEST(Message, BringsOddNumbersIntoTheirRange) {
  const StopMessage stop =
      there_and_back(StopMessage{{.node = -1, .status = 1000, .at = SteadyTime::max()}});
  EXPECT_EQ(stop.cause.node, 0);
  EXPECT_EQ(stop.cause.status, 255);
  EXPECT_GT(stop.cause.at, SteadyTime() + std::chrono::hours(24 * 365 * 100));
  const auto tries = there_and_back(CheckRowMessage{{{.port = 70'000, .ms = std::nan("")}}}).tries;
  EXPECT_EQ(tries, (std::vector<LinkTry>{{.port = 65'535, .ms = 0}}));
  const auto servers = names_of(Role::Server, {-5, 20'000'000, 3});
  EXPECT_EQ(there_and_back(EndingMessage{{.stopped = servers}}).ending.stopped,
            names_of(Role::Server, {0, 10'000'000, 3}));
}

TEST(Message, IsRefusedWithNumbersOutOfRange) {
  const std::string refusal_tail("\0\x02ok", 4);
  const auto refusal = [&](std::string_view status) {
    return decode(bytes_of_kind(RefusalMessage{}, std::string(status) + refusal_tail));
  };
  EXPECT_TRUE(refusal("\xfe\x03"));                   // 255
  EXPECT_FALSE(refusal("\x80\x04"));                  // 256
  EXPECT_FALSE(refusal("\x01"));                      // -1
  EXPECT_FALSE(refusal("\xff\xff\xff\xff\xff\x7f"));  // far below
  const std::string stop_tail("\0\0\0\0", 4);
  EXPECT_TRUE(decode(bytes_of_kind(StopMessage{}, "\x08" + stop_tail)));
  EXPECT_FALSE(decode(bytes_of_kind(StopMessage{}, "\x09" + stop_tail))) << "no such cause";
}

TEST(Message, DoesNotAllocateForHostileLengths) {
  const std::string large = "\xff\xff\xff\xff\x0f";  // 4 294 967 295
  for (const Message& message : sample_messages()) {
    const std::string bytes = encode(message);
    for (std::size_t at = 1; at <= bytes.size(); ++at) {
      const std::string hostile = bytes.substr(0, at) + large + bytes.substr(at);
      EXPECT_LT(bytes_allocated_by([&] { decode(hostile); }), 64 * kKilobyte);
    }
  }
}

}  // namespace
}  // namespace paddle_launch
