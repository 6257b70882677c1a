// SPDX-License-Identifier: Apache-2.0
// Finds what will be executed for the script the user named, and refuses before anything is started
// what could not be executed.
#pragma once

#include <string>

#include "launcher/job/environment.h"
#include "launcher/job/job_spec.h"
#include "launcher/job/start_method.h"

namespace paddle_launch {

// script.py → python -u script.py; a module → python -u -m module; anything else is run as it is.
// A function of our own needs no looking for. `own_directory`: where the launcher lies; in a
// virtual environment that one's interpreter comes before those on PATH. Throws UsageError.
Program find_program(const Script& script, const Environment& env,
                     const std::string& own_directory = {});

}  // namespace paddle_launch
