// SPDX-License-Identifier: Apache-2.0
// This host: its name, its IPv4 addresses, and the CPUs the launcher was given.
#include "launcher/site/machine.h"

#include <arpa/inet.h>
#include <ifaddrs.h>
#include <netdb.h>
#include <netinet/in.h>
#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>

#include "launcher/os/check.h"

namespace paddle_launch {
namespace {

using Ipv4 = std::uint32_t;  // host byte order

constexpr Ipv4 kLoopbackNet = 127;
constexpr int kMostCpus = 1 << 20;

Ipv4 ipv4_of(const sockaddr* address) {
  return ntohl(reinterpret_cast<const sockaddr_in*>(address)->sin_addr.s_addr);
}

std::optional<Ipv4> parse_ipv4(const std::string& text) {
  in_addr address{};
  if (inet_pton(AF_INET, text.c_str(), &address) != 1) return std::nullopt;
  return ntohl(address.s_addr);
}

std::string format_ipv4(Ipv4 address) {
  const in_addr wire{htonl(address)};
  std::array<char, INET_ADDRSTRLEN> text{};
  inet_ntop(AF_INET, &wire, text.data(), text.size());
  return text.data();
}

std::string find_host_name() {
  std::array<char, 256> name{};
  check(gethostname(name.data(), name.size() - 1), "gethostname");
  return name.data();
}

std::vector<std::string> find_addresses() {
  ifaddrs* list = nullptr;
  check(getifaddrs(&list), "getifaddrs");
  const std::unique_ptr<ifaddrs, decltype(&freeifaddrs)> owner(list, freeifaddrs);
  std::vector<Ipv4> found;
  for (const ifaddrs* entry = list; entry != nullptr; entry = entry->ifa_next) {
    if (entry->ifa_addr == nullptr || entry->ifa_addr->sa_family != AF_INET) continue;
    found.push_back(ipv4_of(entry->ifa_addr));
  }
  std::sort(found.begin(), found.end());
  found.erase(std::unique(found.begin(), found.end()), found.end());
  std::vector<std::string> addresses;
  addresses.reserve(found.size());
  for (const Ipv4 address : found) addresses.push_back(format_ipv4(address));
  return addresses;
}

// The kernel refuses a set smaller than its own (EINVAL), and does not say how large that is.
std::vector<int> find_cpus() {
  for (int capacity = CPU_SETSIZE;; capacity *= 2) {
    std::vector<cpu_set_t> set(static_cast<std::size_t>(capacity / CPU_SETSIZE));
    const std::size_t bytes = set.size() * sizeof(cpu_set_t);
    if (sched_getaffinity(0, bytes, set.data()) < 0) {
      if (errno == EINVAL && capacity < kMostCpus) continue;
      check(-1, "sched_getaffinity");
    }
    std::vector<int> cpus;
    for (int cpu = 0; cpu < capacity; ++cpu) {
      if (CPU_ISSET_S(static_cast<std::size_t>(cpu), bytes, set.data())) cpus.push_back(cpu);
    }
    return cpus;
  }
}

bool is_address_of(const Machine& machine, Ipv4 address) {
  if (address >> 24 == kLoopbackNet) return true;
  const auto same = [address](const std::string& mine) { return parse_ipv4(mine) == address; };
  return std::any_of(machine.addresses.begin(), machine.addresses.end(), same);
}

bool resolves_to(const Machine& machine, const std::string& name) {
  addrinfo hints{};
  hints.ai_family = AF_INET;
  hints.ai_socktype = SOCK_STREAM;
  addrinfo* list = nullptr;
  if (getaddrinfo(name.c_str(), nullptr, &hints, &list) != 0) return false;
  const std::unique_ptr<addrinfo, decltype(&freeaddrinfo)> owner(list, freeaddrinfo);
  for (const addrinfo* entry = list; entry != nullptr; entry = entry->ai_next) {
    if (is_address_of(machine, ipv4_of(entry->ai_addr))) return true;
  }
  return false;
}

}  // namespace

Machine look_around() { return {find_host_name(), find_addresses(), find_cpus()}; }

bool is_mine(const Machine& machine, const std::string& entry) {
  if (entry.empty()) return false;
  if (const auto address = parse_ipv4(entry)) return is_address_of(machine, *address);
  // getaddrinfo would take "10.1" for 10.0.0.1; in a list of nodes it is a slip of the pen.
  if (entry.find_first_not_of("0123456789.") == std::string::npos) return false;
  if (entry == "localhost" || entry == machine.host_name) return true;
  return resolves_to(machine, entry);
}

}  // namespace paddle_launch
