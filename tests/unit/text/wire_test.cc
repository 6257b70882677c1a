// SPDX-License-Identifier: Apache-2.0
#include "launcher/text/wire.h"

#include <cmath>
#include <limits>
#include <random>
#include <vector>

#include <gtest/gtest.h>

#include "tests/unit/channel/allocations.h"

namespace paddle_launch {
namespace {

constexpr std::uint64_t kLargest = std::numeric_limits<std::uint64_t>::max();
constexpr std::int64_t kMost = std::numeric_limits<std::int64_t>::max();
constexpr std::int64_t kLeast = std::numeric_limits<std::int64_t>::min();

std::string varint_bytes(std::uint64_t value) {
  WireWriter writer;
  writer.varint(value);
  return writer.take();
}

TEST(WireWriter, IsLittleEndianAndShort) {
  WireWriter writer;
  writer.byte(0xfe);
  writer.varint(300);
  writer.signed_varint(-1);
  writer.fixed16(0x1234);
  writer.fixed64(5);
  writer.text("ab");
  EXPECT_EQ(writer.bytes(), std::string("\xfe\xac\x02\x01\x34\x12\x05\0\0\0\0\0\0\0\x02"
                                        "ab",
                                        17));
  EXPECT_EQ(varint_bytes(127).size(), 1U);
  EXPECT_EQ(varint_bytes(128).size(), 2U);
  EXPECT_EQ(varint_bytes(kLargest).size(), 10U);
}

TEST(WireReader, ReadsBackWhatWasWritten) {
  WireWriter writer;
  writer.byte(200);
  writer.fixed16(65'535);
  writer.fixed64(kLargest);
  writer.real(-0.125);
  writer.text(std::string("a\0b", 3));
  writer.text("");
  WireReader reader(writer.bytes());
  EXPECT_EQ(reader.byte(), 200);
  EXPECT_EQ(reader.fixed16(), 65'535);
  EXPECT_EQ(reader.fixed64(), kLargest);
  EXPECT_EQ(reader.real(), -0.125);
  EXPECT_EQ(reader.text(3), std::string("a\0b", 3));
  EXPECT_FALSE(reader.finished_well()) << "the empty text is left";
  EXPECT_EQ(reader.text(0), "");
  EXPECT_TRUE(reader.finished_well());
}

TEST(WireReader, ReadsBackEveryVarint) {
  std::mt19937_64 random(1);  // NOLINT(cert-msc51-cpp): the same numbers each time
  std::vector<std::uint64_t> values = {0, 1, 127, 128, 16'383, 16'384, kLargest, kLargest - 1};
  for (int i = 0; i < 10'000; ++i) values.push_back(random() >> random() % 64);
  for (const std::uint64_t value : values) {
    WireWriter writer;
    writer.varint(value);
    writer.signed_varint(static_cast<std::int64_t>(value));
    WireReader reader(writer.bytes());
    ASSERT_EQ(reader.varint(), value);
    ASSERT_EQ(reader.signed_varint(), static_cast<std::int64_t>(value));
    ASSERT_TRUE(reader.finished_well());
  }
  for (const std::int64_t value : {kMost, kLeast, std::int64_t{-1}}) {
    WireWriter writer;
    writer.signed_varint(value);
    EXPECT_EQ(WireReader(writer.bytes()).signed_varint(), value);
  }
}

TEST(WireReader, RefusesVarintsThatAreLongerThanNeeded) {
  const std::string ninth(9, '\xff');
  for (const std::string& bytes :
       {std::string("\x80\x00", 2), std::string("\xff\x80\x00", 3), ninth + '\x02', ninth + '\xff',
        ninth + "\x81\x01", ninth + std::string(1, '\0'), std::string("\x80"), std::string()}) {
    WireReader reader(bytes);
    EXPECT_EQ(reader.varint(), 0U);
    EXPECT_TRUE(reader.failed());
  }
  const std::string largest = varint_bytes(kLargest);
  EXPECT_EQ(WireReader(largest).varint(), kLargest);
}

TEST(WireReader, RefusesWhatIsAboveTheLimit) {
  const std::string ten = varint_bytes(10);
  EXPECT_EQ(WireReader(ten).varint(10), 10U);
  WireReader reader(ten);
  reader.varint(9);
  EXPECT_TRUE(reader.failed());

  WireReader text(
      "\x03"
      "abc");
  EXPECT_EQ(text.text(2), "");
  EXPECT_TRUE(text.failed());
}

TEST(WireReader, StaysFailed) {
  WireReader reader("\x01\x02");
  reader.fixed16();
  EXPECT_TRUE(reader.finished_well());
  reader.fixed16();
  EXPECT_TRUE(reader.failed());
  EXPECT_EQ(reader.byte(), 0);
  EXPECT_EQ(reader.varint(), 0U);
  EXPECT_EQ(reader.signed_varint(), 0);
  EXPECT_EQ(reader.fixed64(), 0U);
  EXPECT_EQ(reader.text(9), "");
  EXPECT_EQ(reader.count(), 0U);
  EXPECT_EQ(reader.left(), 0U);
  EXPECT_FALSE(reader.finished_well());
}

TEST(WireReader, RefusesNumbersThatAreNone) {
  for (const double value : {std::numeric_limits<double>::infinity(), std::nan("")}) {
    WireWriter writer;
    writer.real(value);
    WireReader reader(writer.bytes());
    EXPECT_EQ(reader.real(), 0);
    EXPECT_TRUE(reader.failed());
  }
}

TEST(WireReader, DoesNotBelieveLengths) {
  for (const std::uint64_t length : {std::uint64_t{6}, std::uint64_t{1} << 40, kLargest}) {
    const std::string bytes = varint_bytes(length) + "abcde";
    const std::size_t allocated = bytes_allocated_by([&] {
      WireReader texts(bytes);
      EXPECT_EQ(texts.text(kLargest).capacity(), std::string().capacity());
      EXPECT_TRUE(texts.failed());
    });
    EXPECT_EQ(allocated, 0U);
    WireReader counts(bytes);
    EXPECT_EQ(counts.count(3), 0U);
    EXPECT_TRUE(counts.failed());
  }
  const std::string two = varint_bytes(2) + "abcdef";
  EXPECT_EQ(WireReader(two).count(3), 2U);
}

TEST(WireReader, SurvivesRandomBytesAndReadsInAnyOrder) {
  std::mt19937 random(2);  // NOLINT(cert-msc51-cpp): the same numbers each time
  for (int round = 0; round < 20'000; ++round) {
    std::string bytes(random() % 24, '\0');
    for (char& byte : bytes) byte = static_cast<char>(random());
    WireReader reader(bytes);
    while (!reader.failed() && reader.left() > 0) {
      const std::size_t before = reader.left();
      switch (random() % 6) {
        case 0:
          reader.byte();
          break;
        case 1:
          reader.varint();
          break;
        case 2:
          reader.signed_varint();
          break;
        case 3:
          reader.real();
          break;
        case 4:
          ASSERT_LE(reader.text(random() % 30).size(), bytes.size());
          break;
        default:
          ASSERT_LE(reader.count(), bytes.size());
      }
      ASSERT_LT(reader.left(), before);
    }
  }
}

}  // namespace
}  // namespace paddle_launch
