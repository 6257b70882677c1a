// SPDX-License-Identifier: Apache-2.0
#include "launcher/channel/open_accounts.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "launcher/job/pod.h"

namespace paddle_launch {
namespace {

std::vector<int> indices_of(Role role, const std::vector<ProcessName>& names) {
  std::vector<int> indices;
  for (const ProcessName& name : names) {
    if (name.role == role) indices.push_back(name.index);
  }
  std::sort(indices.begin(), indices.end());
  return indices;
}

// "rank 2", "ranks 2 to 3", "servers 0, 2 to 4"; nothing: there is none.
std::string runs_in_words(const char* word, const std::vector<int>& indices) {
  std::vector<std::string> runs;
  for (std::size_t first = 0; first < indices.size();) {
    std::size_t last = first;
    while (last + 1 < indices.size() && indices[last + 1] - indices[last] <= 1) ++last;
    runs.push_back(indices[last] == indices[first]
                       ? fmt::format("{}", indices[first])
                       : fmt::format("{} to {}", indices[first], indices[last]));
    first = last + 1;
  }
  if (runs.empty()) return "";
  return fmt::format("{}{} {}", word, indices.size() == 1 ? "" : "s", fmt::join(runs, ", "));
}

// Among several launchers of a node, the one that is meant.
std::string launcher_of(const std::vector<ProcessName>& names) {
  std::vector<std::string> parts;
  for (const auto& [role, word] : {std::pair{Role::Server, "server"},
                                   {Role::Trainer, "rank"},
                                   {Role::HeterWorker, "heter worker"}}) {
    std::string part = runs_in_words(word, indices_of(role, names));
    if (!part.empty()) parts.push_back(std::move(part));
  }
  if (parts.empty()) return "launcher without processes";
  return fmt::format("launcher of {}", fmt::join(parts, " and "));
}

}  // namespace

std::vector<PodAccount> open_accounts(const Roster& roster) {
  std::vector<std::vector<ProcessName>> names = names_of_pods(roster);
  std::vector<PodAccount> accounts;
  for (std::size_t i = 0; i < roster.pods.size(); ++i) {
    PodAccount& account = accounts.emplace_back();
    account.host = roster.pods[i].host;
    if (roster.shares_its_node(i)) account.host += fmt::format(" ({})", launcher_of(names[i]));
    account.names = std::move(names[i]);
  }
  return accounts;
}

}  // namespace paddle_launch
