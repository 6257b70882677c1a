// SPDX-License-Identifier: Apache-2.0
#include "launcher/rendezvous/other_launchers.h"

#include <utility>

#include <fmt/format.h>

namespace paddle_launch {
namespace {

// More would not help anybody, and strangers choose what is in them.
constexpr std::size_t kMost = 8;

}  // namespace

OtherLaunchers::OtherLaunchers(std::string tag) : tag_(std::move(tag)) {}

void OtherLaunchers::met(const Greeting& greeting, const std::string& where) {
  const bool is_other_token = greeting.tag == tag_;
  std::set<std::string>& known = is_other_token ? other_tokens_ : other_jobs_;
  if (known.size() >= kMost) return;
  const std::string who = fmt::format("{} of user {} at {}", greeting.job, greeting.user, where);
  known.insert(is_other_token ? fmt::format("the launcher of {} has another token; give all nodes "
                                            "the same PADDLE_LAUNCH_TOKEN or --token_file",
                                            who)
                              : who);
}

void OtherLaunchers::forget() {
  other_jobs_.clear();
  other_tokens_.clear();
}

void OtherLaunchers::tell(WaitingFacts& facts) const {
  facts.other_jobs.assign(other_jobs_.begin(), other_jobs_.end());
  facts.odd.assign(other_tokens_.begin(), other_tokens_.end());
}

}  // namespace paddle_launch
