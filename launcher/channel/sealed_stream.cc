// SPDX-License-Identifier: Apache-2.0
#include "launcher/channel/sealed_stream.h"

namespace paddle_launch {
namespace {

unsigned char* bytes_of(std::string& text) { return reinterpret_cast<unsigned char*>(text.data()); }

const unsigned char* bytes_of(std::string_view text) {
  return reinterpret_cast<const unsigned char*>(text.data());
}

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
