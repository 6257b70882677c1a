// SPDX-License-Identifier: Apache-2.0
// Host names to IPv4 addresses. A name server may be silent for minutes and getaddrinfo cannot be
// interrupted, so it is called in a short-lived child and the event loop waits for a descriptor.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "launcher/os/side_process.h"
#include "launcher/os/unique_fd.h"

namespace paddle_launch {

struct NameAnswer {
  std::vector<std::uint32_t> addresses{};  // host byte order, each once, in getaddrinfo's order
  std::string problem{};                   // why there are none

  bool operator==(const NameAnswer&) const = default;
};

class NameLookup {
 public:
  // An address needs no child and is there at once. Throws std::system_error only when there are no
  // descriptors left; a child that cannot be made is a problem of the answer.
  explicit NameLookup(const std::string& host);
  // With something else than a name server, which runs in the child; for tests.
  NameLookup(const std::string& host, const std::function<NameAnswer(const std::string&)>& ask);

  int fd() const { return child_ ? child_->fd() : ready_.get(); }  // readable when it is done

  // Once fd() is readable. Empty: nobody knows the name, and problem() says why.
  std::vector<std::uint32_t> addresses();
  std::string problem();

 private:
  const NameAnswer& answer();

  std::optional<SideChild> child_;
  UniqueFd ready_;  // without a child: a descriptor that is readable
  std::optional<NameAnswer> answer_;
};

// Looks them all up at once and blocks, but not longer than the patience. One answer a host, in
// their order.
std::vector<NameAnswer> look_up(const std::vector<std::string>& hosts,
                                std::chrono::milliseconds patience);

}  // namespace paddle_launch
