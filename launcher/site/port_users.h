// SPDX-License-Identifier: Apache-2.0
// Who has a port, asked of the kernel: who listens, so that a server sees no stranger connect, and
// who holds what could not be had.
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

// The name of the abstract Unix socket that reserves a port among the launchers of a host; its
// first byte is 0. The kernel releases it with its owner.
std::string port_lock_name(int port);

// "process 4711 (python3 train.py)", "a process of user id 1000", "a connection that was just
// closed …" or "an unknown process".
std::string describe_port_owner(int port, const std::string& proc_root = "/proc");

// The same for the paddle-launch that has reserved the port.
std::string describe_lock_owner(int port, const std::string& proc_root = "/proc");

}  // namespace paddle_launch
