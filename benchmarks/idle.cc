// SPDX-License-Identifier: Apache-2.0
// Trainers sleep: context switches and private memory of everything between launcher and trainers.
#include <algorithm>
#include <csignal>

#include <fmt/format.h>

#include "benchmarks/descendants.h"
#include "benchmarks/scratch.h"
#include "benchmarks/sections.h"
#include "benchmarks/table.h"

namespace paddle_launch {
namespace {

// These are counts, not times: they hardly vary, and each takes thirteen seconds.
constexpr int kEnoughForCounts = 3;

constexpr auto kTimeToStart = std::chrono::seconds(20);
constexpr auto kTimeToStop = std::chrono::seconds(15);
constexpr const char* kTrainerName = "bench_trainer";

struct Subject {
  std::string label;
  const Tool* tool;
  std::string count_option;
};

struct Window {
  std::chrono::milliseconds from;  // after all trainers are there
  std::chrono::milliseconds length;
};

std::vector<Subject> subjects(const Tools& tools) {
  return {{"paddle-launch", &tools.paddle_launch, "--nproc_per_node"},
          {"hydra", &tools.hydra, "-n"},
          {"mpirun", &tools.open_mpi, "-np"}};
}

std::vector<int> sizes(const Bench& bench) {
  return bench.options.quick ? std::vector{8} : std::vector{8, 256};
}

Window window(const Bench& bench) {
  using std::chrono::milliseconds;
  return bench.options.quick ? Window{milliseconds(500), milliseconds(500)}
                             : Window{milliseconds(3000), milliseconds(10000)};
}

std::string key(const Subject& subject, int size) {
  return fmt::format("idle/{}/{}", subject.label, size);
}

struct Sample {
  std::vector<Descendant> launcher;  // every process that is no trainer
  int trainers = 0;
  long switches = 0;
  long kibibytes = 0;
  long proportional = 0;
};

Sample look() {
  Sample sample;
  for (const Descendant& process : descendants()) {
    if (process.name == kTrainerName) {
      ++sample.trainers;
      continue;
    }
    sample.launcher.push_back(process);
    sample.switches += context_switches(process.pid);
    sample.kibibytes += private_kibibytes(process.pid);
    sample.proportional += proportional_kibibytes(process.pid);
  }
  return sample;
}

// Sleeps until `moment`, or throws because the launcher ended before it.
void stay_until(Clock::time_point moment, Child& child, const Scratch& scratch) {
  const auto ending = child.wait_until(moment);
  if (ending)
    throw std::runtime_error("ended early: " + describe_ending(ending->status, scratch.path()));
}

void wait_for_trainers(int size, Child& child, const Scratch& scratch) {
  const auto deadline = child.started() + kTimeToStart;
  while (Clock::now() < deadline && look().trainers != size) {
    stay_until(Clock::now() + std::chrono::milliseconds(50), child, scratch);
  }
}

std::string process_names(const Sample& sample) {
  std::string names;
  for (const Descendant& process : sample.launcher) {
    names += (names.empty() ? "" : " + ") + process.name;
  }
  return names;
}

Reading measure(const Argv& argv, int size, Window when) {
  const Scratch scratch;
  Child child(argv, scratch.path());
  wait_for_trainers(size, child, scratch);
  stay_until(Clock::now() + when.from, child, scratch);
  const Sample before = look();
  if (before.trainers != size) {
    return {0, {}, fmt::format("{} of {} trainers were there", before.trainers, size)};
  }
  const auto begin = Clock::now();
  stay_until(begin + when.length, child, scratch);
  const Sample after = look();
  const double length = seconds_between(begin, Clock::now());
  if (after.trainers != size || after.launcher != before.launcher) {
    return {0,
            {},
            "processes came or went: " + process_names(before) + ", then " + process_names(after)};
  }
  child.kill_group(SIGTERM);
  const bool stopped = child.wait_until(Clock::now() + kTimeToStop).has_value();
  if (!stopped) return {0, {}, "SIGTERM did not end it"};
  return {length,
          {{"switches", static_cast<double>(after.switches - before.switches)},
           {"memory", static_cast<double>(after.kibibytes)},
           {"proportional", static_cast<double>(after.proportional)},
           {"processes", static_cast<double>(after.launcher.size())}},
          {}};
}

std::string range(const std::vector<double>& values, double unit, int digits) {
  const auto [low, high] = std::minmax_element(values.begin(), values.end());
  return fmt::format("{:.{}f} ({:.{}f}..{:.{}f})", median(values) / unit, digits, *low / unit,
                     digits, *high / unit, digits);
}

}  // namespace

void add_idle_cases(const Bench& bench) {
  for (const Subject& subject : subjects(bench.tools)) {
    if (!subject.tool->installed()) continue;
    for (const int size : sizes(bench)) {
      const Argv trainer{subject.count_option, std::to_string(size), bench.tools.trainer, "sleep",
                         "50"};
      const Argv argv = joined(subject.tool->command, trainer);
      const Window when = window(bench);
      add_case(key(subject, size), std::min(bench.options.repetitions, kEnoughForCounts),
               [argv, size, when] { return measure(argv, size, when); });
    }
  }
}

std::string idle_tables(const Bench& bench, const Results& results) {
  const Window when = window(bench);
  Table table(
      {"trainers", "launcher", "context switches", "private memory, MiB", "Pss, MiB", "processes"});
  for (const int size : sizes(bench)) {
    for (const Subject& subject : subjects(bench.tools)) {
      const Measurement* numbers = results.find(key(subject, size));
      const std::string missing = no_number(*subject.tool, numbers);
      const std::vector<std::string> head{std::to_string(size), subject.label};
      if (!missing.empty()) {
        table.add_without_numbers(head, missing);
        continue;
      }
      table.add({head[0], head[1], range(numbers->counters.at("switches"), 1, 0),
                 range(numbers->counters.at("memory"), 1024, 2),
                 range(numbers->counters.at("proportional"), 1024, 2),
                 fmt::format("{:.0f}", median(numbers->counters.at("processes")))});
    }
  }
  return fmt::format(
      "## Idle: sleeping trainers, from {:.1f} s after all have started, for {:.1f} s\n\n{}\n"
      "Median (min..max) of at most 3. Every process between the benchmark and the trainers "
      "counts. Context "
      "switches are voluntary and other ones of all threads. Private memory is Private_Clean + "
      "Private_Dirty; Pss also holds, once, what the processes of a launcher share among them, and "
      "their part of the libraries.\n",
      std::chrono::duration<double>(when.from).count(),
      std::chrono::duration<double>(when.length).count(), table.markdown());
}

}  // namespace paddle_launch
