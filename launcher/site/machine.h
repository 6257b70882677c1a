// SPDX-License-Identifier: Apache-2.0
// This host: its name, its addresses and interfaces, the CPUs the launcher was given, and the names
// of other hosts that it can look up.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
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

// Network interfaces by the addresses they have. Loopback too, and each address of an interface
// that has several.
struct InterfaceAddress {
  std::string name{};  // "eth0"
  std::uint32_t address = 0;
};
std::vector<InterfaceAddress> interface_addresses();

// "eth0"; none: no interface of this machine has the address.
std::optional<std::string> interface_of(std::uint32_t address);

// Asks for each name once: a name server that is down costs half a minute each time.
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
