// SPDX-License-Identifier: Apache-2.0
// This host: its name, its IPv4 addresses, and the CPUs the launcher was given.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "launcher/os/name_lookup.h"

namespace paddle_launch {

struct Machine {
  std::string host_name;
  std::vector<std::string> addresses;  // of all interfaces, loopback too; in numerical order
  std::vector<int> cpus;               // the affinity mask, ascending

  bool operator==(const Machine&) const = default;
};

Machine look_around();

// Looks names up, one answer a name. A parameter, so that tests need no name server.
using Resolver = std::function<std::vector<NameAnswer>(const std::vector<std::string>&)>;

// As long as a resolver with the usual settings asks servers that do not answer.
constexpr std::chrono::seconds kPatienceWithNameServers{30};

// The real one. It blocks, but not longer than that.
std::vector<NameAnswer> ask_name_servers(const std::vector<std::string>& names);

// Those that are addresses of the machine; any 127.x.y.z is.
std::vector<std::uint32_t> own_among(const Machine& machine,
                                     const std::vector<std::uint32_t>& addresses);

// Its host name or `localhost`: what is known without a look-up.
bool is_name_of(const Machine& machine, const std::string& entry);

// Whether an entry of --ips means this machine: an address of it, any 127.x.y.z, `localhost`, its
// own host name, or a name that resolves to one of its addresses (only then is a name server
// asked).
bool is_mine(const Machine& machine, const std::string& entry,
             const Resolver& resolve = ask_name_servers);

}  // namespace paddle_launch
