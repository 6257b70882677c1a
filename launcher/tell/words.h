// SPDX-License-Identifier: Apache-2.0
// The words of which all of this room's texts are made: what a process is called, how it ended and
// why it could not be started, what a failed connection means, spans of time and lists.
#pragma once

#include <chrono>
#include <string>
#include <string_view>
#include <vector>

#include "launcher/job/ending.h"
#include "launcher/job/plan.h"
#include "launcher/job/role.h"

namespace paddle_launch {

// "rank 3", "server 1", "heter worker 0".
std::string name_of(ProcessName name);
std::string name_of_spec(const ProcessSpec& spec);

// "exit code 7", "killed by SIGSEGV (core dumped)", "exit code 137: probably killed by the OOM
// killer". `oom_kills`: how many processes the kernel's OOM killer ended on this machine during the
// run.
std::string describe(const ProcessExit& exit, long oom_kills = kOomKillsUnknown);

// What was tried, why it failed, what to do.
std::string describe(const NotStarted& problem, const ProcessPlan& plan);

// The verdict in one line: "rank 3 failed: exit code 7", "the launcher was stopped by SIGTERM". In
// a job of several nodes it says where: "rank 5 on 192.168.0.2 failed: exit code 7".
std::string describe(const Outcome& verdict, const ProcessPlan& plan,
                     long oom_kills = kOomKillsUnknown);

// What the console says at the moment of the verdict: the above and "; stopping 3 others", or
// "; stopping 4 here" when the cause came from another pod. `others`: how many are stopped here.
std::string verdict_line(const Outcome& verdict, const ProcessPlan& plan, int others,
                         long oom_kills = kOomKillsUnknown);

// What this pod, the roster's `node`, tells the others about its outcome.
StopCause stop_cause(const Outcome& outcome, const ProcessPlan& plan, int node, SteadyTime at,
                     long oom_kills = kOomKillsUnknown);

// "rank 0-2,5; server 0": role by role.
std::string names_in_words(const std::vector<ProcessName>& names);

// "12 s", "15 min 0 s", "1 h 3 min".
std::string how_long(std::chrono::seconds span);

// "a, b, … 17 more": the first `most` names of `all` things, of which `names` may be only some.
std::string some_of(const std::vector<std::string>& names, std::size_t all, std::size_t most);

// What a failed connection usually means, for people who do not know the kernel's words by heart.
// `problem`: "no route to host". Empty: nothing can be said.
std::string_view network_advice(std::string_view problem);

}  // namespace paddle_launch
