// SPDX-License-Identifier: Apache-2.0
#include "launcher/channel/secret.h"

#include <sodium.h>

#include <algorithm>
#include <stdexcept>

#include "launcher/text/wire.h"

namespace paddle_launch {
namespace {

constexpr std::size_t kDigestBytes = 16;
static_assert(kDigestBytes >= crypto_generichash_BYTES_MIN);
static_assert(kKeyBytes == crypto_generichash_BYTES);
static_assert(kKeyBytes == crypto_secretstream_xchacha20poly1305_KEYBYTES);

const unsigned char* bytes_of(std::string_view text) {
  return reinterpret_cast<const unsigned char*>(text.data());
}

// Every use of the library begins here: it finds out what this machine's CPU can do.
void make_ready() {
  static const bool is_ready = sodium_init() >= 0;
  if (!is_ready) throw std::runtime_error("libsodium cannot be used: no source of random bytes");
}

}  // namespace

std::string_view bytes_of(const Key& key) {
  return {reinterpret_cast<const char*>(key.data()), key.size()};
}

std::optional<Key> key_of(std::string_view bytes) {
  if (bytes.size() != kKeyBytes) return std::nullopt;
  Key key{};
  std::copy(bytes.begin(), bytes.end(), key.begin());
  return key;
}

Key job_secret(std::string_view token, std::string_view job) {
  make_ready();
  WireWriter words;  // with lengths, so that no two pairs give the same bytes
  words.text("paddle-launch job secret 1");
  words.text(token);
  words.text(job);
  Key key{};
  crypto_generichash(key.data(), key.size(), bytes_of(words.bytes()), words.bytes().size(), nullptr,
                     0);
  return key;
}

Key derive(const Key& secret, std::string_view label, std::string_view words) {
  make_ready();
  WireWriter input;
  input.text(label);
  input.text(words);
  Key key{};
  crypto_generichash(key.data(), key.size(), bytes_of(input.bytes()), input.bytes().size(),
                     secret.data(), secret.size());
  return key;
}

Key random_key() {
  make_ready();
  Key key{};
  randombytes_buf(key.data(), key.size());
  return key;
}

bool same(const Key& one, const Key& other) {
  return sodium_memcmp(one.data(), other.data(), kKeyBytes) == 0;
}

std::string digest(std::string_view bytes) {
  make_ready();
  std::string result(kDigestBytes, '\0');
  crypto_generichash(reinterpret_cast<unsigned char*>(result.data()), result.size(),
                     bytes_of(bytes), bytes.size(), nullptr, 0);
  return result;
}

namespace {

unsigned char* bytes_of(std::string& text) { return reinterpret_cast<unsigned char*>(text.data()); }

}  // namespace

SealedStream::SealedStream(const Key& outgoing)
    : header_(crypto_secretstream_xchacha20poly1305_HEADERBYTES, '\0') {
  crypto_secretstream_xchacha20poly1305_init_push(&push_, bytes_of(header_), outgoing.data());
}

bool SealedStream::begin_opening(const Key& incoming, std::string_view header) {
  if (header.size() != crypto_secretstream_xchacha20poly1305_HEADERBYTES) return false;
  return crypto_secretstream_xchacha20poly1305_init_pull(&pull_, bytes_of(header),
                                                         incoming.data()) == 0;
}

std::string SealedStream::seal(std::string_view plain) {
  std::string sealed(plain.size() + crypto_secretstream_xchacha20poly1305_ABYTES, '\0');
  crypto_secretstream_xchacha20poly1305_push(&push_, bytes_of(sealed), nullptr, bytes_of(plain),
                                             plain.size(), nullptr, 0, 0);
  return sealed;
}

std::optional<std::string> SealedStream::open(std::string_view sealed) {
  if (sealed.size() < crypto_secretstream_xchacha20poly1305_ABYTES) return std::nullopt;
  std::string plain(sealed.size() - crypto_secretstream_xchacha20poly1305_ABYTES, '\0');
  unsigned char tag = 0;
  const int result = crypto_secretstream_xchacha20poly1305_pull(
      &pull_, bytes_of(plain), nullptr, &tag, bytes_of(sealed), sealed.size(), nullptr, 0);
  if (result != 0) return std::nullopt;
  return plain;
}

}  // namespace paddle_launch
