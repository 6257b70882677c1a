// SPDX-License-Identifier: Apache-2.0
// --check: the documents' "ping each other first", done for the user.
#pragma once

#include <string>

#include "launcher/os/event_loop.h"
#include "launcher/rendezvous/rendezvous.h"

namespace paddle_launch {

// Every pair of nodes connects to each other's ports; the table is printed where `speaks`, and
// by everybody who lost the hub. Returns the exit status.
int check_network(EventLoop& loop, const Met& met, const std::string& machine, bool speaks);

}  // namespace paddle_launch
