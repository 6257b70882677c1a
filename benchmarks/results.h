// SPDX-License-Identifier: Apache-2.0
// From one run of one subject (Reading) to what Google Benchmark repeated and interleaved
// (Measurement), keyed by the case's name.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <vector>

#include <benchmark/benchmark.h>

namespace paddle_launch {

struct Reading {
  double seconds = 0;
  std::map<std::string, double> counters;
  std::string failure;  // empty: the numbers count
};

struct Measurement {
  std::vector<double> seconds;
  std::map<std::string, std::vector<double>> counters;
  int failures = 0;
  int runs = 0;
  std::string failure;
};

double median(std::vector<double> values);

// One launch an iteration, one iteration a repetition. A reading that failed, or an exception,
// becomes a failed repetition and never a number.
void add_case(const std::string& name, int repetitions, const std::function<Reading()>& read);

class Results : public benchmark::BenchmarkReporter {
 public:
  bool ReportContext(const Context& context) override;
  void ReportRuns(const std::vector<Run>& runs) override;

  // Null: this case was not run.
  const Measurement* find(const std::string& name) const;
  // Whether any case whose name contains `text` failed.
  bool failed(const std::string& text) const;

 private:
  std::map<std::string, Measurement> measurements_;
};

}  // namespace paddle_launch
