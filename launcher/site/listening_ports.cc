// SPDX-License-Identifier: Apache-2.0
#include "launcher/site/listening_ports.h"

#include "launcher/site/proc_net.h"

namespace paddle_launch {

std::set<int> listening_ports(const std::vector<int>& wanted, const std::string& proc_root) {
  const std::set<int> asked(wanted.begin(), wanted.end());
  std::set<int> found;
  for (const char* table : {"/net/tcp", "/net/tcp6"}) {
    if (found.size() == asked.size()) break;
    for_each_tcp_socket(proc_root + table, [&](const TcpSocket& socket) {
      if (socket.listens && asked.contains(socket.port)) found.insert(socket.port);
    });
  }
  return found;
}

}  // namespace paddle_launch
