// SPDX-License-Identifier: Apache-2.0
// Who tells a person what happens while pods wait for each other.
#pragma once

#include <string>

#include "launcher/job/waiting_facts.h"

namespace paddle_launch {

class Narrator {
 public:
  virtual ~Narrator() = default;

  // About once a second while somebody is missing.
  virtual void waiting(const WaitingFacts& /*facts*/) {}
  virtual void remark(const std::string& /*text*/) {}
  virtual void warning(const std::string& /*text*/) {}
  // Why it takes a while until this launcher ends.
  virtual void problem(const std::string& /*text*/) {}
  // At once, before any launcher of the job ends: srun and mpirun may stop the others then.
  virtual void error(const std::string& /*text*/) {}
  // Without the time and the level.
  virtual void plain(const std::string& /*text*/) {}
  // For whoever asked for the details.
  virtual void note(const std::string& /*text*/) {}
};

}  // namespace paddle_launch
