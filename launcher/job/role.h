// SPDX-License-Identifier: Apache-2.0
// What a process does in its job. Collective jobs have trainers alone; in jobs with parameter
// servers the documents call trainers "workers".
#pragma once

#include <compare>

namespace paddle_launch {

enum class Role { Trainer, Server, HeterWorker };

// A process of the whole job: the rank of a trainer, the place of others in the list of their role.
struct ProcessName {
  Role role = Role::Trainer;
  int index = 0;

  auto operator<=>(const ProcessName&) const = default;
};

}  // namespace paddle_launch
