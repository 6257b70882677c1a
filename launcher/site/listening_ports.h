// SPDX-License-Identifier: Apache-2.0
// Whether a server is ready: asked of the kernel, so that the server sees no stranger connect.
#pragma once

#include <set>
#include <string>
#include <vector>

namespace paddle_launch {

// Which of these ports somebody listens on in our network namespace, on whatever address.
std::set<int> listening_ports(const std::vector<int>& wanted,
                              const std::string& proc_root = "/proc");

// Which of them only this machine can reach: a name in a list that /etc/hosts gives to loopback.
std::set<int> ports_on_loopback_alone(const std::set<int>& ports,
                                      const std::string& proc_root = "/proc");

}  // namespace paddle_launch
