// SPDX-License-Identifier: Apache-2.0
#include "launcher/tell/checked_links.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <tuple>

namespace paddle_launch {
namespace {

constexpr double kLongestMs = 99'999;

}  // namespace

Links links_of(const LinkCheck& check) {
  const auto is_node = [&check](int node) {
    return node >= 0 && static_cast<std::size_t>(node) < check.nodes.size();
  };
  Links links;
  for (const LinkTry& link : check.tries) {
    if (is_node(link.from) && is_node(link.to) && link.from != link.to) links.push_back(&link);
  }
  std::stable_sort(links.begin(), links.end(), [](const LinkTry* a, const LinkTry* b) {
    return std::make_tuple(a->from, a->to, a->problem.empty()) <
           std::make_tuple(b->from, b->to, b->problem.empty());
  });
  const auto same_pair = [](const LinkTry* a, const LinkTry* b) {
    return a->from == b->from && a->to == b->to;
  };
  links.erase(std::unique(links.begin(), links.end(), same_pair), links.end());
  return links;
}

Links failed_of(const Links& links) {
  Links failed;
  std::copy_if(links.begin(), links.end(), std::back_inserter(failed),
               [](const LinkTry* link) { return !link->problem.empty(); });
  return failed;
}

double ms_of(const LinkTry& link) {
  return std::isfinite(link.ms) ? std::clamp(link.ms, 0.0, kLongestMs) : kLongestMs;
}

Links slowest_of(const Links& links, std::size_t most) {
  Links good;
  std::copy_if(links.begin(), links.end(), std::back_inserter(good),
               [](const LinkTry* link) { return link->problem.empty(); });
  const auto middle = good.begin() + static_cast<std::ptrdiff_t>(std::min(most, good.size()));
  std::partial_sort(good.begin(), middle, good.end(), [](const LinkTry* a, const LinkTry* b) {
    return std::make_tuple(-ms_of(*a), a->from, a->to) <
           std::make_tuple(-ms_of(*b), b->from, b->to);
  });
  good.erase(middle, good.end());
  return good;
}

std::size_t number_of_links(const LinkCheck& check) {
  return check.nodes.empty() ? 0 : check.nodes.size() * (check.nodes.size() - 1);
}

}  // namespace paddle_launch
