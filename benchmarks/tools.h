// SPDX-License-Identifier: Apache-2.0
// The programs under measurement: where they are, which version, or that they are not installed.
#pragma once

#include <string>

#include "benchmarks/child.h"
#include "benchmarks/options.h"

namespace paddle_launch {

struct Tool {
  std::string name;
  Argv command;         // the words before the options; empty: not installed
  std::string version;  // in the program's own words

  bool installed() const { return !command.empty(); }
};

struct Tools {
  Tool bare_loop;
  Tool paddle_launch;
  Tool hydra;
  Tool open_mpi;
  Tool torchrun;
  Tool paddle;
  std::string trainer;        // bench_trainer
  std::string line_writer;    // without .py; the same with .py lies beside it
  std::string pods;           // bench_pods
  std::string store_meeting;  // the script, for torch
  std::string python;         // version
};

// Also puts the real interpreter's directory first on PATH: version-manager shims are shell scripts
// and would be measured with every writer.
Tools find_tools(const BenchmarkOptions& options);

Argv joined(Argv head, const Argv& tail);

}  // namespace paddle_launch
