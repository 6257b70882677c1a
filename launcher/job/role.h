// SPDX-License-Identifier: Apache-2.0
// What a process does in its job. Collective jobs have trainers alone; in jobs with parameter
// servers the documents call trainers "workers".
#pragma once

#include <compare>

namespace paddle_launch {

enum class Role { Trainer, Server, HeterWorker };

constexpr Role kAllRoles[] = {Role::Trainer, Role::Server, Role::HeterWorker};

// A process of the whole job: the rank of a trainer, the place of others in the list of their role.
struct ProcessName {
  Role role = Role::Trainer;
  int index = 0;

  // clang-tidy takes the 0 that the compiler compares with for a pointer.
  auto operator<=>(const ProcessName&) const = default;  // NOLINT(modernize-use-nullptr)
};

}  // namespace paddle_launch
