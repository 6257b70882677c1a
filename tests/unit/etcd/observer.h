// SPDX-License-Identifier: Apache-2.0
// An Etcd that writes down all it is told, and waits for what is to come.
#pragma once

#include <chrono>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "launcher/etcd/etcd.h"
#include "launcher/os/event_loop.h"

namespace paddle_launch {

// Not a measure of anything: machines may be busy.
inline constexpr std::chrono::seconds kLong{30};

class Observer final : EtcdEvents {
 public:
  explicit Observer(const EtcdSpec& spec, const std::string& prefix = "/test/",
                    std::chrono::seconds ttl = std::chrono::seconds(60))
      : etcd(std::in_place, loop, spec, prefix, ttl, static_cast<EtcdEvents&>(*this)) {}

  bool wait_until(const std::function<bool()>& is_so, std::chrono::milliseconds patience = kLong) {
    return run_until(loop, patience, is_so);
  }

  // Null: not there.
  const EtcdEntry* find(const std::string& key) const {
    for (const EtcdEntry& entry : entries) {
      if (entry.key == key) return &entry;
    }
    return nullptr;
  }
  bool sees(const std::string& key, const std::string& value) {
    return wait_until([&] { return find(key) != nullptr && find(key)->value == value; });
  }
  bool misses(const std::string& key, std::chrono::milliseconds patience = kLong) {
    return wait_until([&] { return pictures > 0 && find(key) == nullptr; }, patience);
  }
  bool is_connected() {
    return wait_until([&] { return !problems.empty() && problems.back().empty(); });
  }
  // What is wrong by now; waits until something is.
  std::string problem() {
    wait_until([&] { return !problems.empty() && !problems.back().empty(); });
    return problems.empty() ? "nothing was told" : problems.back();
  }

  EtcdAnswer change(const EtcdChange& wanted) {
    std::optional<EtcdAnswer> got;
    etcd->change(wanted, [&](const EtcdAnswer& answer) { got = answer; });
    wait_until([&] { return got.has_value(); });
    return got.value_or(EtcdAnswer{.problem = "the test got no answer"});
  }
  EtcdAnswer put(const std::string& key, const std::string& value,
                 EtcdLease lease = EtcdLease::Pod) {
    EtcdChange wanted;
    wanted.puts.push_back({key, value, lease});
    return change(wanted);
  }

  EventLoop loop;
  std::vector<EtcdEntry> entries;
  int pictures = 0;
  std::vector<std::string> problems;
  std::optional<Etcd> etcd;

 private:
  void on_entries(const std::vector<EtcdEntry>& all) override {
    entries = all;
    ++pictures;
  }
  void on_connection(const EtcdProblem& problem) override { problems.push_back(problem.text); }
};

}  // namespace paddle_launch
