// SPDX-License-Identifier: Apache-2.0
// Lines of a worker's log: those that the launcher itself writes, and those that a person needs to
// see when the worker failed.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "launcher/job/job_spec.h"
#include "launcher/job/plan.h"

namespace paddle_launch {

// The lines that the launcher itself writes into a worker's log: one at the start, since logs
// append, and one at the end of a worker that was stopped.

// Every such line begins with this.
constexpr const char* kLogLineMark = "==== paddle-launch ";

std::string log_start_line(const ProcessPlan& plan, const ProcessSpec& spec,
                           const std::string& when);
std::string log_stop_line(const ProcessSpec& spec, const std::string& because,
                          const std::string& when);

// The command as one could type it again.
std::string shell_quoted(const std::vector<std::string>& argv);
// The script and its arguments, as a person would type them.
std::string command_text(const Script& script);

// What of a log a person needs to see when its worker failed.

// How Python begins to tell of an exception.
constexpr std::string_view kTraceback = "Traceback (most recent call last):";

// Where a line begins with these words for the last time; npos: nowhere.
std::size_t last_line_with(std::string_view words, std::string_view log);

// The traceback whose header stands at this place, or of chained exceptions the first alone.
std::string_view first_of_chain(std::string_view log, std::size_t header);

// The last line that has a word; empty: there is none.
std::string_view last_line(std::string_view log);

// What the last run wrote, without the launcher's own start line. `run_mark` begins our lines.
std::string_view this_run(std::string_view tail, std::string_view run_mark);

// The last 20 lines of this run, or more where the log ends with a Python traceback: then all of
// it, chained exceptions included. `tail` is the end of the log, as bytes.
std::string log_excerpt(std::string_view tail, std::string_view run_mark);

}  // namespace paddle_launch
