// SPDX-License-Identifier: Apache-2.0
// docs/decisions/0007 says why the CPUs come from /sys.
#include "launcher/site/topology.h"

#include <algorithm>
#include <charconv>
#include <cstddef>
#include <iterator>
#include <map>
#include <tuple>

#include <fmt/format.h>

#include "launcher/os/files.h"
#include "launcher/text/device_list.h"

namespace paddle_launch {
namespace {

using Cpus = std::vector<int>;

// Where a CPU sits; the order of the members is the order in which CPUs are dealt.
struct Seat {
  int node = 0;
  int package = 0;
  int die = 0;
  int core = 0;
  int cpu = 0;

  auto core_key() const { return std::tie(node, package, die, core); }
  bool operator<(const Seat& other) const {
    return std::tuple_cat(core_key(), std::tie(cpu)) <
           std::tuple_cat(other.core_key(), std::tie(other.cpu));
  }
  bool same_core(const Seat& other) const { return core_key() == other.core_key(); }
};

int number_in(const std::string& path, int otherwise) {
  const auto text = read_file(path);
  if (text) std::from_chars(text->data(), text->data() + text->size(), otherwise);
  return otherwise;
}

Cpus list_in(const std::string& path) {
  const auto text = read_file(path);
  if (!text) return {};
  return parse_cpu_list(*text).value_or(Cpus{});
}

std::map<int, int> nodes_of_cpus(const std::string& root) {
  const std::string folder = root + "/sys/devices/system/node";
  std::map<int, int> nodes;
  for (const int node : list_in(folder + "/online")) {
    for (const int cpu : list_in(fmt::format("{}/node{}/cpulist", folder, node))) nodes[cpu] = node;
  }
  return nodes;
}

// The mask in the order of the hardware, so that neighbours in it are neighbours on the chip.
std::vector<Seat> seats_of(const Cpus& mask, const std::string& root) {
  const auto nodes = nodes_of_cpus(root);
  std::vector<Seat> seats;
  for (const int cpu : mask) {
    const auto topology = fmt::format("{}/sys/devices/system/cpu/cpu{}/topology/", root, cpu);
    const auto node = nodes.find(cpu);
    seats.push_back({node == nodes.end() ? 0 : node->second,
                     number_in(topology + "physical_package_id", 0),
                     number_in(topology + "die_id", 0), number_in(topology + "core_id", cpu), cpu});
  }
  std::sort(seats.begin(), seats.end());
  return seats;
}

std::vector<std::vector<Seat>> cores_of(const std::vector<Seat>& seats) {
  std::vector<std::vector<Seat>> cores;
  for (const auto& seat : seats) {
    if (cores.empty() || !cores.back().back().same_core(seat)) cores.emplace_back();
    cores.back().push_back(seat);
  }
  return cores;
}

Cpus share(const std::vector<Seat>& seats, std::size_t part, std::size_t parts) {
  Cpus cpus;
  const auto cores = cores_of(seats);
  if (parts <= cores.size()) {
    for (auto at = part * cores.size() / parts; at < (part + 1) * cores.size() / parts; ++at) {
      for (const auto& seat : cores[at]) cpus.push_back(seat.cpu);
    }
  } else if (parts <= seats.size()) {
    for (auto at = part * seats.size() / parts; at < (part + 1) * seats.size() / parts; ++at) {
      cpus.push_back(seats[at].cpu);
    }
  } else if (!seats.empty()) {
    cpus.push_back(seats[part % seats.size()].cpu);
  }
  std::sort(cpus.begin(), cpus.end());
  return cpus;
}

// The seats next to the trainer's first card; empty when that is not known or not in the mask.
std::vector<Seat> seats_near(const std::vector<Card>& cards, const std::vector<Seat>& seats,
                             const std::string& root) {
  if (cards.empty() || !cards.front().pci_bus) return {};
  const auto near = list_in(fmt::format("{}/sys/bus/pci/devices/{}/local_cpulist", root,
                                        normal_pci_bus(*cards.front().pci_bus)));
  std::vector<Seat> chosen;
  std::copy_if(seats.begin(), seats.end(), std::back_inserter(chosen), [&near](const Seat& seat) {
    return std::binary_search(near.begin(), near.end(), seat.cpu);
  });
  return chosen;
}

}  // namespace

std::vector<std::vector<int>> cpus_for_trainers(const std::vector<std::vector<Card>>& trainers,
                                                const std::vector<int>& mask,
                                                const std::string& root) {
  const auto seats = seats_of(mask, root);
  std::map<std::vector<Seat>, std::vector<std::size_t>> neighbours;
  for (std::size_t trainer = 0; trainer < trainers.size(); ++trainer) {
    neighbours[seats_near(trainers[trainer], seats, root)].push_back(trainer);
  }
  std::vector<Cpus> result(trainers.size());
  for (const auto& [near, members] : neighbours) {
    for (std::size_t place = 0; place < members.size(); ++place) {
      const auto trainer = members[place];
      result[trainer] = near.empty() ? share(seats, trainer, trainers.size())
                                     : share(near, place, members.size());
    }
  }
  return result;
}

int number_of_cores(const std::vector<int>& cpus, const std::string& root) {
  return static_cast<int>(cores_of(seats_of(cpus, root)).size());
}

}  // namespace paddle_launch
