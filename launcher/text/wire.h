// SPDX-License-Identifier: Apache-2.0
// Bytes in a row: how numbers and texts are put into them, and taken out of bytes that anybody may
// have sent. Every value has one spelling only; little endian.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <utility>

namespace paddle_launch {

class WireWriter {
 public:
  void byte(std::uint8_t value);
  void varint(std::uint64_t value);        // LEB128: seven bits a byte
  void signed_varint(std::int64_t value);  // zigzag: small when close to zero
  void fixed16(std::uint16_t value);       // for what is large as often as small, such as ports
  void fixed64(std::uint64_t value);
  void real(double value);
  void text(std::string_view value);  // its length, then its bytes

  const std::string& bytes() const { return bytes_; }
  std::string take() { return std::move(bytes_); }

 private:
  std::string bytes_;
};

// Once a read has failed, it and all that follow give zero or nothing; ask at the end. The bytes
// stay the caller's and must outlive it.
class WireReader {
 public:
  explicit WireReader(std::string_view bytes) : rest_(bytes) {}

  std::uint8_t byte();
  std::uint64_t varint(std::uint64_t most = std::numeric_limits<std::uint64_t>::max());
  std::int64_t signed_varint();
  std::uint16_t fixed16();
  std::uint64_t fixed64();
  double real();  // fails on infinities and NaN: they cannot be compared or added up
  std::string text(std::size_t most);

  // How many elements follow, each of at least `least_bytes`: never more than can be there, so that
  // a few bytes cannot make anyone reserve memory.
  std::size_t count(std::size_t least_bytes = 1);

  void fail();  // what was read makes no sense
  bool failed() const { return failed_; }
  std::size_t left() const { return rest_.size(); }
  bool finished_well() const { return !failed_ && rest_.empty(); }

 private:
  std::string_view take(std::size_t size);
  std::uint64_t little_endian(std::size_t size);

  std::string_view rest_;
  bool failed_ = false;
};

}  // namespace paddle_launch
