// SPDX-License-Identifier: Apache-2.0
// Who holds a port, in words for a message. Slow (it walks /proc); only asked when a launch has
// failed.
#pragma once

#include <string>

namespace paddle_launch {

// The name of the abstract Unix socket that reserves a port among the launchers of a host; its
// first byte is 0. The kernel releases it with its owner.
std::string port_lock_name(int port);

// "process 4711 (python3 train.py)", "a process of user id 1000", "a connection that was just
// closed …" or "an unknown process".
std::string describe_port_owner(int port, const std::string& proc_root = "/proc");

// The same for the paddle-launch that has reserved the port.
std::string describe_lock_owner(int port, const std::string& proc_root = "/proc");

}  // namespace paddle_launch
