// SPDX-License-Identifier: Apache-2.0
// Both directions of a connection, sealed: a frame that was changed, repeated, left out or moved is
// noticed. libsodium's secretstream, one a direction.
#pragma once

#include <sodium.h>

#include <optional>
#include <string>
#include <string_view>

#include "launcher/channel/secret.h"

namespace paddle_launch {

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
