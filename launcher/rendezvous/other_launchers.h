// SPDX-License-Identifier: Apache-2.0
// Launchers that were met while looking for the nodes of this job and do not belong to it, as the
// person who waits is told of them.
#pragma once

#include <set>
#include <string>

#include "launcher/channel/handshake.h"
#include "launcher/job/waiting_facts.h"

namespace paddle_launch {

class OtherLaunchers {
 public:
  // `tag`: of our own greeting.
  explicit OtherLaunchers(std::string tag);

  void met(const Greeting& greeting, const std::string& where);
  void forget();
  void tell(WaitingFacts& facts) const;

 private:
  std::string tag_;
  std::set<std::string> other_jobs_;
  std::set<std::string> other_tokens_;
};

}  // namespace paddle_launch
