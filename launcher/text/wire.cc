// SPDX-License-Identifier: Apache-2.0
#include "launcher/text/wire.h"

#include <algorithm>
#include <bit>
#include <cmath>

namespace paddle_launch {
namespace {

constexpr int kBitsOfVarintByte = 7;
constexpr std::uint64_t kVarintValue = 0x7f;
constexpr std::uint64_t kVarintMore = 0x80;
constexpr int kBitsOfByte = 8;
constexpr int kBits = 64;

static_assert(sizeof(double) == sizeof(std::uint64_t) && std::numeric_limits<double>::is_iec559);

void append_little_endian(std::string& bytes, std::uint64_t value, std::size_t size) {
  for (std::size_t i = 0; i < size; ++i) {
    bytes.push_back(static_cast<char>(value & std::numeric_limits<std::uint8_t>::max()));
    value >>= kBitsOfByte;
  }
}

}  // namespace

void WireWriter::byte(std::uint8_t value) { bytes_.push_back(static_cast<char>(value)); }

void WireWriter::varint(std::uint64_t value) {
  for (; value > kVarintValue; value >>= kBitsOfVarintByte)
    bytes_.push_back(static_cast<char>((value & kVarintValue) | kVarintMore));
  bytes_.push_back(static_cast<char>(value));
}

void WireWriter::signed_varint(std::int64_t value) {
  const auto bits = static_cast<std::uint64_t>(value);
  varint(value < 0 ? ~(bits << 1) : bits << 1);
}

void WireWriter::fixed16(std::uint16_t value) { append_little_endian(bytes_, value, sizeof value); }

void WireWriter::fixed64(std::uint64_t value) { append_little_endian(bytes_, value, sizeof value); }

void WireWriter::real(double value) { fixed64(std::bit_cast<std::uint64_t>(value)); }

void WireWriter::text(std::string_view value) {
  varint(value.size());
  bytes_.append(value);
}

std::uint8_t WireReader::byte() { return static_cast<std::uint8_t>(little_endian(1)); }

std::uint64_t WireReader::varint(std::uint64_t most) {
  std::uint64_t value = 0;
  for (int shift = 0; shift < kBits; shift += kBitsOfVarintByte) {
    const std::uint64_t next = byte();
    const std::uint64_t bits = next & kVarintValue;
    const bool overflows = (bits << shift) >> shift != bits;
    const bool longer_than_needed = next == 0 && shift > 0;
    if (overflows || longer_than_needed) break;
    value |= bits << shift;
    if ((next & kVarintMore) != 0) continue;
    if (failed_ || value > most) break;
    return value;
  }
  fail();
  return 0;
}

std::int64_t WireReader::signed_varint() {
  const std::uint64_t value = varint();
  const std::uint64_t bits = value >> 1;
  return static_cast<std::int64_t>((value & 1) != 0 ? ~bits : bits);
}

std::uint16_t WireReader::fixed16() {
  return static_cast<std::uint16_t>(little_endian(sizeof(std::uint16_t)));
}

std::uint64_t WireReader::fixed64() { return little_endian(sizeof(std::uint64_t)); }

double WireReader::real() {
  const auto value = std::bit_cast<double>(fixed64());
  if (std::isfinite(value)) return value;
  fail();
  return 0;
}

std::string WireReader::text(std::size_t most) {
  return std::string(take(static_cast<std::size_t>(varint(std::min(most, left())))));
}

std::size_t WireReader::count(std::size_t least_bytes) {
  return static_cast<std::size_t>(varint(left() / least_bytes));
}

void WireReader::fail() {
  failed_ = true;
  rest_ = {};
}

std::string_view WireReader::take(std::size_t size) {
  if (size > rest_.size()) {
    fail();
    return {};
  }
  const std::string_view taken = rest_.substr(0, size);
  rest_.remove_prefix(size);
  return taken;
}

std::uint64_t WireReader::little_endian(std::size_t size) {
  std::uint64_t value = 0;
  int shift = 0;
  for (const char c : take(size)) {
    value |= static_cast<std::uint64_t>(static_cast<std::uint8_t>(c)) << shift;
    shift += kBitsOfByte;
  }
  return value;
}

}  // namespace paddle_launch
