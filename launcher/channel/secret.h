// SPDX-License-Identifier: Apache-2.0
// The job's secret, what is made of it, and what it protects: both directions of a connection.
#pragma once

#include <sodium.h>

#include <array>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace paddle_launch {

// Proofs and keys. Whoever knows the same words gets the same secret; nobody sends it.

constexpr std::size_t kKeyBytes = 32;
using Key = std::array<unsigned char, kKeyBytes>;

std::string_view bytes_of(const Key& key);
std::optional<Key> key_of(std::string_view bytes);  // none: not as many bytes as a key has

// `token`: the user's secret, or their name where there is none. `job`: what tells this job apart
// from others of the same user on the same hosts.
Key job_secret(std::string_view token, std::string_view job);

// A key, or a proof, that only the owner of `secret` can make for these words.
Key derive(const Key& secret, std::string_view label, std::string_view words);

Key random_key();

// In a time that does not depend on where they differ.
bool same(const Key& one, const Key& other);

// A fingerprint of something that need not be secret.
std::string digest(std::string_view bytes);

// Both directions of a connection, sealed: a frame that was changed, repeated, left out or moved is
// noticed. libsodium's secretstream, one a direction.
class SealedStream {
 public:
  explicit SealedStream(const Key& outgoing);

  // The other side needs this before it can open anything.
  const std::string& header() const { return header_; }
  // False: not a header.
  bool begin_opening(const Key& incoming, std::string_view header);

  std::string seal(std::string_view plain);
  // Nothing: not what the other side sealed next.
  std::optional<std::string> open(std::string_view sealed);

 private:
  crypto_secretstream_xchacha20poly1305_state push_{};
  crypto_secretstream_xchacha20poly1305_state pull_{};
  std::string header_;
};

}  // namespace paddle_launch
