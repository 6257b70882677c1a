// SPDX-License-Identifier: Apache-2.0
// Why etcd is of no use, and what a user is told who waits for it.
#pragma once

#include <chrono>
#include <string>

#include "launcher/job/job_spec.h"

namespace paddle_launch {

struct EtcdProblem {
  enum class Kind {
    None,         // the server answers
    Unexplained,  // the text says what failed, and not what to do
    Explained,    // the text names its remedy, or is about this node
    Refusal,      // the server answers and does not let us in: waiting changes nothing
  };

  Kind kind = Kind::None;
  std::string text{};  // what was tried and why it failed, with the server's address

  bool empty() const { return kind == Kind::None; }
  bool is_refusal() const { return kind == Kind::Refusal; }
  bool operator==(const EtcdProblem&) const = default;
};

// The problem, or the silence where there is none, and what to do.
std::string why_etcd_is_no_use(const EtcdSpec& etcd, const EtcdProblem& problem,
                               std::chrono::seconds waited);

}  // namespace paddle_launch
