// SPDX-License-Identifier: Apache-2.0
// What a process does in its job. Collective jobs have trainers alone; in jobs with parameter
// servers the documents call trainers "workers".
#pragma once

#include <compare>
#include <string_view>

namespace paddle_launch {

enum class Role { Trainer, Server, HeterWorker };

// How one role is spelled.
struct RoleWords {
  Role role;
  std::string_view process;   // "server": one process of it
  std::string_view numbered;  // "rank", before the number of one process
  std::string_view brief;     // the same where room is scarce
  std::string_view key;       // "heter_worker", for programs
  std::string_view paddle;    // "worker", as Paddle's launcher and its options say it
  std::string_view log;       // "workerlog", before the number in the name of a log
  std::string_view variable;  // "PSERVER", as TRAINING_ROLE and its relatives have it
};

constexpr RoleWords kRoleWords[] = {
    {Role::Trainer, "trainer", "rank", "rank", "trainer", "worker", "workerlog", "TRAINER"},
    {Role::Server, "server", "server", "server", "server", "server", "serverlog", "PSERVER"},
    {Role::HeterWorker, "heter worker", "heter worker", "heter", "heter_worker", "heter_worker",
     "heterlog", "HETER_TRAINER"},
};

constexpr const RoleWords& words_of(Role role) { return kRoleWords[static_cast<int>(role)]; }

constexpr Role kAllRoles[] = {Role::Trainer, Role::Server, Role::HeterWorker};

// A process of the whole job: the rank of a trainer, the place of others in the list of their role.
struct ProcessName {
  Role role = Role::Trainer;
  int index = 0;

  // clang-tidy takes the 0 that the compiler compares with for a pointer.
  auto operator<=>(const ProcessName&) const = default;  // NOLINT(modernize-use-nullptr)
};

}  // namespace paddle_launch
