// SPDX-License-Identifier: Apache-2.0
#include "launcher/site/lookups.h"

#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "launcher/text/ipv4.h"

namespace paddle_launch {
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
