// SPDX-License-Identifier: Apache-2.0
// The door of this room: argv and the environment become a job, or a text to print.
#pragma once

#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "launcher/job/environment.h"
#include "launcher/job/job_spec.h"

namespace paddle_launch {

struct ParsedCommandLine {
  JobSpec job;
  std::vector<std::string> notices;
  std::vector<std::string> warnings;
};

// --help and --version: for stdout, exit status 0.
struct PrintAndExit {
  std::string text;
};

// --make_token.
struct MakeToken {
  std::optional<std::string> file;  // --token_file; none: the user's own
};

// --status, --scale and --stop without a script: JobOrder.
using CommandLine = std::variant<ParsedCommandLine, PrintAndExit, JobOrder, MakeToken>;

// argv[0] is the program's name as typed (paddle-launch or fleetrun). Throws UsageError.
// `started_together`: by mpirun or srun, so there may be other nodes that nobody typed.
CommandLine parse_command_line(const std::vector<std::string>& argv, const Environment& env,
                               bool started_together = false);

// The file of --report, also where the rest of the command line makes no sense.
std::optional<std::string> typed_report(const std::vector<std::string>& argv);

}  // namespace paddle_launch
