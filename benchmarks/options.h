// SPDX-License-Identifier: Apache-2.0
// What the user of launch_benchmark may choose, besides Google Benchmark's own flags.
#pragma once

#include <string>
#include <vector>

namespace paddle_launch {

struct BenchmarkOptions {
  std::string only;           // a section's name; empty: all
  std::string paddle_launch;  // path; empty: look beside the build, then on PATH
  std::string json;           // folder for the single times, a file a section; empty: nowhere
  int repetitions = 11;
  bool quick = false;
  std::string command_line;  // as typed, for the report

  bool wants(const char* section) const { return only.empty() || only == section; }
};

// Takes our options out of `arguments` and leaves the others to Google Benchmark.
// Throws std::invalid_argument with a sentence for the user.
BenchmarkOptions take_options(std::vector<std::string>& arguments);

}  // namespace paddle_launch
