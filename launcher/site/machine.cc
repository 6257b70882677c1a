// SPDX-License-Identifier: Apache-2.0
#include "launcher/site/machine.h"

#include <ifaddrs.h>
#include <netinet/in.h>
#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <memory>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "launcher/os/check.h"
#include "launcher/text/ipv4.h"

namespace paddle_launch {
namespace {

using Ipv4 = std::uint32_t;  // host byte order

constexpr int kMostCpus = 1 << 20;

std::string find_host_name() {
  std::array<char, 256> name{};
  check(gethostname(name.data(), name.size() - 1), "gethostname");
  return name.data();
}

std::vector<std::string> find_addresses() {
  std::vector<Ipv4> found;
  for (const InterfaceAddress& one : interface_addresses()) found.push_back(one.address);
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

}  // namespace

Machine look_around() { return {find_host_name(), find_addresses(), find_cpus()}; }

std::vector<NameAnswer> ask_name_servers(const std::vector<std::string>& names) {
  return look_up(names, kPatienceWithNameServers);
}

std::vector<Ipv4> own_among(const Machine& machine, const std::vector<Ipv4>& addresses) {
  std::vector<Ipv4> mine;  // parsed once: virtual services can give a machine thousands
  mine.reserve(machine.addresses.size());
  for (const auto& text : machine.addresses) mine.push_back(parse_ipv4(text).value_or(0));
  std::sort(mine.begin(), mine.end());
  std::vector<Ipv4> own;
  std::copy_if(addresses.begin(), addresses.end(), std::back_inserter(own), [&mine](Ipv4 address) {
    return is_loopback(address) ||
           (address != 0 && std::binary_search(mine.begin(), mine.end(), address));
  });
  return own;
}

bool is_name_of(const Machine& machine, const std::string& entry) {
  return !entry.empty() && (entry == "localhost" || entry == machine.host_name);
}

bool is_mine(const Machine& machine, const std::string& entry, const Resolver& resolve) {
  if (is_name_of(machine, entry)) return true;
  if (const auto address = parse_ipv4(entry)) return !own_among(machine, {*address}).empty();
  return !own_among(machine, resolve({entry}).front().addresses).empty();
}

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

namespace {

constexpr std::size_t kMostShown = 8;

}  // namespace

std::string list_of(const std::vector<std::string>& names) {
  if (names.size() <= kMostShown) return fmt::format("{}", fmt::join(names, ", "));
  const auto end = names.begin() + kMostShown;
  return fmt::format("{} and {} more", fmt::join(names.begin(), end, ", "),
                     names.size() - kMostShown);
}

void Lookups::fetch(const std::vector<std::string>& hosts) {
  std::vector<std::string> names;
  for (const auto& host : hosts) {
    if (!known_.contains(host) && !parse_ipv4(host)) names.push_back(host);
  }
  if (names.empty()) return;
  std::vector<NameAnswer> answers = resolve_(names);
  for (std::size_t i = 0; i < names.size(); ++i) known_[names[i]] = std::move(answers.at(i));
}

std::vector<std::uint32_t> Lookups::addresses_of(const std::string& host) {
  if (const auto address = parse_ipv4(host)) return {*address};
  fetch({host});
  return known_.at(host).addresses;
}

std::string Lookups::failures() const {
  std::vector<std::string> texts;
  for (const auto& [name, answer] : known_) {
    if (answer.addresses.empty()) texts.push_back(name + ": " + answer.problem);
  }
  return texts.empty() ? "" : "; " + list_of(texts);
}

Resolver Lookups::as_resolver() {
  return [this](const std::vector<std::string>& names) {
    fetch(names);
    std::vector<NameAnswer> answers;
    answers.reserve(names.size());
    for (const auto& name : names) answers.push_back(known_.at(name));
    return answers;
  };
}

}  // namespace paddle_launch
