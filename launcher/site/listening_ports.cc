// SPDX-License-Identifier: Apache-2.0
#include "launcher/site/listening_ports.h"

#include "launcher/site/proc_net.h"

namespace paddle_launch {

namespace {

std::set<int> listening(const std::set<int>& asked, const std::string& proc_root,
                        bool loopback_too) {
  std::set<int> found;
  for (const char* table : {"/net/tcp", "/net/tcp6"}) {
    if (found.size() == asked.size()) break;
    for_each_tcp_socket(proc_root + table, [&](const TcpSocket& socket) {
      const bool counts = socket.listens && (loopback_too || !socket.on_loopback);
      if (counts && asked.contains(socket.port)) found.insert(socket.port);
    });
  }
  return found;
}

}  // namespace

std::set<int> listening_ports(const std::vector<int>& wanted, const std::string& proc_root) {
  return listening({wanted.begin(), wanted.end()}, proc_root, true);
}

std::set<int> ports_on_loopback_alone(const std::set<int>& ports, const std::string& proc_root) {
  std::set<int> alone = listening(ports, proc_root, true);
  for (const int port : listening(ports, proc_root, false)) alone.erase(port);
  return alone;
}

}  // namespace paddle_launch
