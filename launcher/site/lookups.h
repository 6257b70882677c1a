// SPDX-License-Identifier: Apache-2.0
// Asks for each name once: a name server that is down costs half a minute each time.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "launcher/site/machine.h"

namespace paddle_launch {

class Lookups {
 public:
  explicit Lookups(const Resolver& resolve) : resolve_(resolve) {}

  // All that are not known yet, at once.
  void fetch(const std::vector<std::string>& hosts);
  std::vector<std::uint32_t> addresses_of(const std::string& host);

  // "; n7: Name or service not known" for what failed so far, or nothing.
  std::string failures() const;

  // For those who ask by themselves; not beyond the life of this.
  Resolver as_resolver();

 private:
  const Resolver& resolve_;
  std::map<std::string, NameAnswer> known_;
};

// The first few of a list, for a message.
std::string list_of(const std::vector<std::string>& names);

}  // namespace paddle_launch
