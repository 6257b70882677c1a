// SPDX-License-Identifier: Apache-2.0
// This host: its name, its IPv4 addresses, and the CPUs the launcher was given.
#pragma once

#include <string>
#include <vector>

namespace paddle_launch {

struct Machine {
  std::string host_name;
  std::vector<std::string> addresses;  // of all interfaces, loopback too; in numerical order
  std::vector<int> cpus;               // the affinity mask, ascending

  bool operator==(const Machine&) const = default;
};

Machine look_around();

// Whether an entry of --ips means this machine: an address of it, any 127.x.y.z, `localhost`, its
// own host name, or a name that resolves to one of its addresses (only then is a name server
// asked).
bool is_mine(const Machine& machine, const std::string& entry);

}  // namespace paddle_launch
