// SPDX-License-Identifier: Apache-2.0
// What /proc tells about processes of this machine: our children, adopted orphans included, and
// others, for words that name them. A child that has not been waited for keeps its process id, so
// signalling one found here can never hit a stranger.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <ctime>
#include <optional>
#include <string>
#include <vector>

namespace paddle_launch {

struct OtherProcess {
  pid_t pid = 0;
  pid_t parent = 0;
  std::string name{};     // as the kernel shows it, 15 bytes at most
  std::string command{};  // as shown_command() has it
  std::time_t since = 0;
};

// None where there is no such process, or where it may not be looked at.
std::optional<OtherProcess> look_at_process(pid_t pid);

// The command as typed, without the folder of its program, of the bytes of /proc/PID/cmdline. It
// goes to a terminal, so control bytes are taken out, and cut where it is long.
std::string shown_command(std::string command);

std::vector<pid_t> children_of_this_process();
std::vector<pid_t> children_of(pid_t parent);

// Whether how a child ends can be its answer to this signal, sent now: it catches, blocks or
// ignores it. One that does not dies of the signal; if it ends in another way, it was ending
// before. True where the kernel does not tell.
bool may_answer(pid_t child, int signal);

// SIGKILL to the child, and to its whole group where it leads one.
void kill_with_group(pid_t child);

// Kills all children but the `spared` again and again until none is left. Returns what outlived the
// patience: processes stuck in the kernel.
std::vector<pid_t> kill_children(const std::vector<pid_t>& spared,
                                 std::chrono::milliseconds patience);

// The same for the children of a child of ours that will not wait for them any more: it was killed,
// and hangs in the kernel. They stay zombies.
void kill_children_of_stuck(pid_t parent, std::chrono::milliseconds patience);

}  // namespace paddle_launch
