// SPDX-License-Identifier: Apache-2.0
// The measurements. Each adds its cases to Google Benchmark, and afterwards makes its tables.
#pragma once

#include <string>

#include "benchmarks/options.h"
#include "benchmarks/results.h"
#include "benchmarks/tools.h"

namespace paddle_launch {

struct Bench {
  BenchmarkOptions options;
  Tools tools;
};

// N trainers that end at once: the launcher's whole life.
void add_start_cases(const Bench& bench);
std::string start_tables(const Bench& bench, const Results& results);

// One of 8 trainers fails: how soon is it over?
void add_failure_cases(const Bench& bench);
std::string failure_tables(const Bench& bench, const Results& results);

// 8 trainers write lines: how many a second arrive whole?
void add_log_cases(const Bench& bench);
std::string log_tables(const Bench& bench, const Results& results);

// Trainers sleep: does anything wake, and how much memory is held?
void add_idle_cases(const Bench& bench);
std::string idle_tables(const Bench& bench, const Results& results);

// M pods meet: how long until all know all?
void add_rendezvous_cases(const Bench& bench);
std::string rendezvous_tables(const Bench& bench, const Results& results);

// A trainer dies on one of 4 nodes: how soon is it over on all?
void add_ending_cases(const Bench& bench);
std::string ending_tables(const Bench& bench, const Results& results);

}  // namespace paddle_launch
