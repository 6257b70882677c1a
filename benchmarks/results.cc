// SPDX-License-Identifier: Apache-2.0
#include "benchmarks/results.h"

#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <exception>

#include "benchmarks/child.h"
#include "benchmarks/descendants.h"

namespace paddle_launch {
namespace {

// What a launcher leaves for longer than this after its end was left for good.
constexpr auto kAfterlife = std::chrono::seconds(2);

Reading read_once(const std::function<Reading()>& read) {
  Reading reading;
  try {
    throw_if_interrupted();
    reading = read();
  } catch (const std::exception& error) {
    reading.failure = error.what();
  }
  const bool failed_already = !reading.failure.empty();
  const auto patience = failed_already ? std::chrono::milliseconds(0) : kAfterlife;
  if (!clear_descendants(patience) && !failed_already) {
    reading.failure = "left processes behind";
  }
  return reading;
}

void run_case(benchmark::State& state, const std::string& name,
              const std::function<Reading()>& read) {
  for ([[maybe_unused]] auto _ : state) {
    const Reading reading = read_once(read);
    if (isatty(STDERR_FILENO) != 0) std::fprintf(stderr, "\r\033[K%s", name.c_str());
    if (!reading.failure.empty()) {
      state.SkipWithError(reading.failure.c_str());
      break;
    }
    state.SetIterationTime(reading.seconds);
    for (const auto& [key, value] : reading.counters) state.counters[key] = value;
  }
}

}  // namespace

double median(std::vector<double> values) {
  if (values.empty()) return 0;
  std::sort(values.begin(), values.end());
  const size_t middle = values.size() / 2;
  return values.size() % 2 == 1 ? values[middle] : (values[middle - 1] + values[middle]) / 2;
}

void add_case(const std::string& name, int repetitions, const std::function<Reading()>& read) {
  const auto body = [name, read](benchmark::State& state) { run_case(state, name, read); };
  benchmark::RegisterBenchmark(name.c_str(), body)
      ->Iterations(1)
      ->Repetitions(repetitions)
      ->UseManualTime()
      ->Unit(benchmark::kMillisecond);
}

bool Results::ReportContext(const Context& /*context*/) { return true; }

void Results::ReportRuns(const std::vector<Run>& runs) {
  for (const Run& run : runs) {
    if (run.run_type != Run::RT_Iteration) continue;
    Measurement& measurement = measurements_[run.run_name.function_name];
    ++measurement.runs;
    if (run.error_occurred) {
      ++measurement.failures;
      measurement.failure = run.error_message;
      continue;
    }
    measurement.seconds.push_back(run.real_accumulated_time);
    for (const auto& [key, counter] : run.counters) {
      measurement.counters[key].push_back(counter.value);
    }
  }
}

const Measurement* Results::find(const std::string& name) const {
  const auto found = measurements_.find(name);
  return found == measurements_.end() ? nullptr : &found->second;
}

bool Results::failed(const std::string& text) const {
  return std::any_of(measurements_.begin(), measurements_.end(), [&](const auto& entry) {
    return entry.first.find(text) != std::string::npos && entry.second.failures > 0;
  });
}

}  // namespace paddle_launch
