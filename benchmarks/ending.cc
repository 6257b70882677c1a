// SPDX-License-Identifier: Apache-2.0
// A trainer dies on one of 4 nodes: time from its death, and from the last trainer's end anywhere,
// to the end of the last launcher.
#include <algorithm>

#include <fmt/format.h>

#include "benchmarks/falling_job.h"
#include "benchmarks/sections.h"
#include "benchmarks/table.h"

namespace paddle_launch {
namespace {

constexpr auto kTimeOut = std::chrono::seconds(20);
constexpr const char* kNodes = "127.0.0.2,127.0.0.3,127.0.0.4,127.0.0.5";
constexpr int kNodeCount = 4;
constexpr int kTrainersEach = 2;
constexpr int kStatus = 7;  // of the trainer that fails, and so of every launcher

struct Subject {
  std::string label;
  int failing_rank;
  Argv options;
};

std::vector<Subject> subjects() {
  return {{"paddle-launch, rank 3 on the second node", 3, {}},
          {"paddle-launch, rank 0 on the first node (the hub)", 0, {}},
          {"paddle-launch without console, rank 3", 3, {"--quiet", "--console", "none"}}};
}

std::string key(const Subject& subject) { return "ending/" + subject.label; }

std::vector<Argv> commands(const Bench& bench, const Subject& subject) {
  std::vector<Argv> all;
  for (int node = 0; node < kNodeCount; ++node) {
    const Argv options{"--ips",
                       kNodes,
                       "--host",
                       fmt::format("127.0.0.{}", node + 2),
                       "--nproc_per_node",
                       std::to_string(kTrainersEach),
                       "--log_dir",
                       "log"};
    const Argv trainer{bench.tools.trainer,
                       "fail",
                       "{scratch}",
                       "exit",
                       "obey",
                       std::to_string(subject.failing_rank)};
    all.push_back(joined(
        joined(joined(bench.tools.paddle_launch.command, options), subject.options), trainer));
  }
  return all;
}

Reading measure(const std::vector<Argv>& launchers) {
  FallingJob job(launchers, static_cast<size_t>(kNodeCount) * kTrainersEach);
  const Course course = job.fall(kTimeOut);
  for (const Ending& ending : course.endings) {
    if (ending.status != kStatus << 8) return {0, {}, job.describe(ending)};
  }
  if (course.alive > 0) return {0, {}, fmt::format("{} trainers outlived all", course.alive)};
  return {seconds_between(course.death, course.last_end()),
          {{"to_last", seconds_between(course.death, course.last_gone)},
           {"after_last", seconds_between(course.last_gone, course.last_end())}},
          {}};
}

}  // namespace

void add_ending_cases(const Bench& bench) {
  for (const Subject& subject : subjects()) {
    const std::vector<Argv> launchers = commands(bench, subject);
    add_case(key(subject), bench.options.repetitions, [launchers] { return measure(launchers); });
  }
}

std::string ending_tables(const Bench& bench, const Results& results) {
  Table table({"launcher, first failure", "death → last launcher's end", "min..max, ms",
               "death → last trainer gone", "last trainer gone → last launcher's end",
               "min..max, ms"});
  for (const Subject& subject : subjects()) {
    const Measurement* numbers = results.find(key(subject));
    const std::string missing = no_number(bench.tools.paddle_launch, numbers);
    if (!missing.empty()) {
      table.add_without_numbers({subject.label}, missing);
      continue;
    }
    const auto& after = numbers->counters.at("after_last");
    table.add({subject.label, milliseconds(median(numbers->seconds)),
               spread_milliseconds(numbers->seconds),
               milliseconds(median(numbers->counters.at("to_last"))), milliseconds(median(after)),
               spread_milliseconds(after)});
  }
  return fmt::format(
      "## Ending: a trainer exits with {} on one of {} nodes with {} trainers each\n\n{}\n"
      "The nodes are {} on one machine, so the packets travel in no time and all launchers share "
      "the cores; the other trainers die of SIGTERM at once. Every launcher must end with the "
      "failing trainer's exit code.\n",
      kStatus, kNodeCount, kTrainersEach, table.markdown(), kNodes);
}

}  // namespace paddle_launch
