// SPDX-License-Identifier: Apache-2.0
// One of 8 trainers fails: time from its death, and from the last trainer's end, to the launcher's
// end.
#include <algorithm>

#include <fmt/format.h>

#include "benchmarks/falling_job.h"
#include "benchmarks/sections.h"
#include "benchmarks/table.h"

namespace paddle_launch {
namespace {

constexpr int kTrainers = 8;
constexpr int kGrace = 1;
constexpr auto kTimeOut = std::chrono::seconds(20);
constexpr int kSigsegvStatus = 139;

struct Subject {
  std::string label;
  const Tool* tool;
  Argv options;     // between the tool's command and the trainer's
  std::string how;  // exit or segv
  int exit_status;  // what the launcher must end with; 0: anything but success
};

std::vector<Subject> subjects(const Tools& tools) {
  const Argv ours{"--nproc_per_node=8", "--log_dir", "log", "--grace", std::to_string(kGrace)};
  return {
      {"paddle-launch, exit 7", &tools.paddle_launch, ours, "exit", 7},
      {"paddle-launch without console, exit 7", &tools.paddle_launch,
       joined(ours, {"--quiet", "--console", "none"}), "exit", 7},
      {"paddle-launch, SIGSEGV", &tools.paddle_launch, ours, "segv", kSigsegvStatus},
      {"hydra, SIGSEGV", &tools.hydra, {"-n", "8"}, "segv", 0},
      {"mpirun, exit 7", &tools.open_mpi, {"-np", "8"}, "exit", 7},
  };
}

std::string key(const Subject& subject, const std::string& others) {
  return fmt::format("failure/{}/{}", subject.label, others);
}

Reading measure(const Argv& argv, int expected) {
  FallingJob job({argv}, kTrainers);
  const Course course = job.fall(kTimeOut);
  const int status = course.endings.front().status;
  const bool right = expected == 0 ? status != 0 : status == expected << 8;
  if (!right) return {0, {}, job.describe(course.endings.front())};
  if (course.alive > 0) return {0, {}, fmt::format("{} trainers outlived it", course.alive)};
  const double after_last = seconds_between(course.last_gone, course.last_end());
  return {seconds_between(course.death, course.last_end()), {{"after_last", after_last}}, {}};
}

std::string one_table(const Bench& bench, const Results& results, const std::string& others) {
  const double grace = others == "ignore" ? kGrace : 0;
  Table table({"launcher, first failure", "death → end", "min..max, ms", "death → end − grace",
               "last trainer gone → end", "min..max, ms"});
  for (const Subject& subject : subjects(bench.tools)) {
    const Measurement* numbers = results.find(key(subject, others));
    const std::string missing = no_number(*subject.tool, numbers);
    if (!missing.empty()) {
      table.add_without_numbers({subject.label}, missing);
      continue;
    }
    const bool ours = subject.tool == &bench.tools.paddle_launch;
    const auto& after = numbers->counters.at("after_last");
    table.add({subject.label, milliseconds(median(numbers->seconds)),
               spread_milliseconds(numbers->seconds),
               ours && grace > 0 ? milliseconds(median(numbers->seconds) - grace) : "-",
               fmt::format("{:.2f} ms", median(after) * 1e3),
               fmt::format("{:.2f}..{:.2f}", *std::min_element(after.begin(), after.end()) * 1e3,
                           *std::max_element(after.begin(), after.end()) * 1e3)});
  }
  return table.markdown();
}

}  // namespace

void add_failure_cases(const Bench& bench) {
  for (const Subject& subject : subjects(bench.tools)) {
    if (!subject.tool->installed()) continue;
    for (const std::string others : {"obey", "ignore"}) {
      const Argv trainer{bench.tools.trainer, "fail", "{scratch}", subject.how, others};
      const Argv argv = joined(joined(subject.tool->command, subject.options), trainer);
      const int status = subject.exit_status;
      add_case(key(subject, others), bench.options.repetitions,
               [argv, status] { return measure(argv, status); });
    }
  }
}

std::string failure_tables(const Bench& bench, const Results& results) {
  return fmt::format(
      "## Failure: one of {} trainers dies after 50–150 ms\n\n"
      "The other 7 obey SIGTERM (they die of it at once):\n\n{}\n"
      "The other 7 ignore SIGTERM (paddle-launch with `--grace {}`):\n\n{}\n"
      "hydra does not stop for an exit code, so its first trainer dies of SIGSEGV; it sends "
      "SIGKILL at once. mpirun has waits of its own (1 s and 2 s). *Gone* is a trainer's exit, "
      "seen by a pidfd.\n",
      kTrainers, one_table(bench, results, "obey"), kGrace, one_table(bench, results, "ignore"));
}

}  // namespace paddle_launch
