// SPDX-License-Identifier: Apache-2.0
// From the options of spawn() to the job, as if they had been typed for paddle-launch.
#pragma once

#include <string>
#include <vector>

#include "launcher/cli/command_line.h"
#include "launcher/job/environment.h"
#include "launcher/site/choose_cards.h"
#include "paddle_launch/spawn.h"

namespace paddle_launch {

// The options that say how many processes there are, and on which cards. `visible`: the cards of
// this machine that may be used. Throws UsageError, in the words of paddle.distributed.spawn.
std::vector<std::string> options_of_cards(const SpawnOptions& options, const ChosenCards& visible,
                                          std::size_t cpus);

// `program`: the name of the calling program, for people. Throws UsageError.
ParsedCommandLine command_of_spawn(const SpawnOptions& options, const Environment& env,
                                   const std::string& program);

}  // namespace paddle_launch
