// SPDX-License-Identifier: Apache-2.0
// Command lines as tests write them: the words after the program's name.
#pragma once

#include <string>
#include <variant>
#include <vector>

#include <gtest/gtest.h>

#include "launcher/cli/command_line.h"
#include "launcher/job/environment.h"
#include "launcher/job/errors.h"

namespace paddle_launch {

using Words = std::vector<std::string>;

inline CommandLine command_line_of(Words words, const Environment& env = {}) {
  words.insert(words.begin(), "/usr/bin/paddle-launch");
  return parse_command_line(words, env);
}

inline ParsedCommandLine parsed(const Words& words, const Environment& env = {}) {
  return std::get<ParsedCommandLine>(command_line_of(words, env));
}

inline JobSpec job_of(const Words& words, const Environment& env = {}) {
  return parsed(words, env).job;
}

// The job of these options and train.py.
inline JobSpec job_with(Words options, const Environment& env = {}) {
  options.emplace_back("train.py");
  return job_of(options, env);
}

inline std::string usage_error_of(const Words& words, const Environment& env = {}) {
  try {
    command_line_of(words, env);
  } catch (const UsageError& error) {
    return error.what();
  }
  return "(no UsageError)";
}

inline std::string usage_error_with(Words options, const Environment& env = {}) {
  options.emplace_back("train.py");
  return usage_error_of(options, env);
}

struct ErrorRow {
  Words options{};
  Words parts{};  // each stands in the text
};

// Empty: every part is there. The words between them are nobody's business.
inline std::string missing_part(const std::string& text, const Words& parts) {
  for (const std::string& part : parts) {
    if (text.find(part) == std::string::npos) return part + " is missing in: " + text;
  }
  return "";
}

inline std::string missing_part(const ErrorRow& row, const Environment& env = {}) {
  return missing_part(usage_error_with(row.options, env), row.parts);
}

inline void expect_errors(const std::vector<ErrorRow>& rows, const Environment& env = {}) {
  for (const ErrorRow& row : rows) EXPECT_EQ(missing_part(row, env), "");
}

}  // namespace paddle_launch
