// SPDX-License-Identifier: Apache-2.0
#include "launcher/site/interfaces.h"

#include <ifaddrs.h>
#include <netinet/in.h>

#include <memory>

#include "launcher/os/check.h"

namespace paddle_launch {

std::vector<InterfaceAddress> interface_addresses() {
  ifaddrs* list = nullptr;
  check(getifaddrs(&list), "getifaddrs");
  const std::unique_ptr<ifaddrs, decltype(&freeifaddrs)> owner(list, freeifaddrs);
  std::vector<InterfaceAddress> found;
  for (const ifaddrs* entry = list; entry != nullptr; entry = entry->ifa_next) {
    if (entry->ifa_addr == nullptr || entry->ifa_addr->sa_family != AF_INET) continue;
    const auto* ipv4 = reinterpret_cast<const sockaddr_in*>(entry->ifa_addr);
    // An alias ("eth0:1") is an address of eth0.
    const std::string name = entry->ifa_name;
    found.push_back({name.substr(0, name.find(':')), ntohl(ipv4->sin_addr.s_addr)});
  }
  return found;
}

std::optional<std::string> interface_of(std::uint32_t address) {
  for (const InterfaceAddress& one : interface_addresses()) {
    if (one.address == address) return one.name;
  }
  return std::nullopt;
}

}  // namespace paddle_launch
