// SPDX-License-Identifier: Apache-2.0
// N trainers that end at once: wall time from before the launcher's exec to its end.
#include <functional>

#include <fmt/format.h>

#include "benchmarks/descendants.h"
#include "benchmarks/scratch.h"
#include "benchmarks/sections.h"
#include "benchmarks/table.h"

namespace paddle_launch {
namespace {

constexpr auto kTimeOut = std::chrono::seconds(30);
// mpirun hangs when many of its ranks end at once; this life is taken off its time.
constexpr double kRankLife = 0.3;
constexpr int kPythonLaunchersAt = 8;

struct Subject {
  std::string label;
  const Tool* tool;
  std::function<Argv(int)> options;  // what comes after the tool's command
  double life = 0;
  int least = 1;
  int most = 256;
};

std::vector<Subject> subjects(const Tools& tools) {
  const auto ours = [](const Argv& more) {
    return [more](int n) {
      const Argv head{fmt::format("--nproc_per_node={}", n), "--log_dir", "log"};
      return joined(joined(head, more), {"/bin/true"});
    };
  };
  return {
      {"bare loop", &tools.bare_loop,
       [](int n) {
         return Argv{std::to_string(n), "/bin/true"};
       }},
      {"paddle-launch", &tools.paddle_launch, ours({"--quiet", "--console", "none"})},
      {"paddle-launch, default console", &tools.paddle_launch, ours({})},
      {"hydra", &tools.hydra,
       [](int n) {
         return Argv{"-n", std::to_string(n), "/bin/true"};
       }},
      {"mpirun", &tools.open_mpi,
       [](int n) {
         return Argv{"-np", std::to_string(n), "/bin/sleep", fmt::format("{}", kRankLife)};
       },
       kRankLife, 1, 64},
      {"torchrun", &tools.torchrun,
       [](int n) {
         return Argv{fmt::format("--nproc_per_node={}", n), "--no_python", "/bin/true"};
       },
       0, kPythonLaunchersAt, kPythonLaunchersAt},
      {"Paddle's own", &tools.paddle, ours({}), 0, kPythonLaunchersAt, kPythonLaunchersAt},
  };
}

std::vector<int> sizes(const Bench& bench) {
  return bench.options.quick ? std::vector{1, 8} : std::vector{1, 8, 64, 128, 256};
}

std::string key(const Subject& subject, int size) {
  return fmt::format("start/{}/{}", subject.label, size);
}

Reading measure(const Argv& argv, double life) {
  const Scratch scratch;
  const double cpu_before = cpu_seconds_of_the_gone();
  Child child(argv, scratch.path());
  const auto ending = child.wait_until(child.started() + kTimeOut);
  if (!ending) return {0, {}, fmt::format("no end within {} s", kTimeOut.count())};
  if (ending->status != 0) return {0, {}, describe_ending(ending->status, scratch.path())};
  clear_descendants(std::chrono::seconds(2));
  const double gone = seconds_between(child.started(), Clock::now()) - life;
  return {seconds_between(child.started(), ending->when) - life,
          {{"gone", gone}, {"cpu", cpu_seconds_of_the_gone() - cpu_before}},
          {}};
}

}  // namespace

void add_start_cases(const Bench& bench) {
  for (const Subject& subject : subjects(bench.tools)) {
    if (!subject.tool->installed()) continue;
    for (const int size : sizes(bench)) {
      if (size < subject.least || size > subject.most) continue;
      const Argv argv = joined(subject.tool->command, subject.options(size));
      const double life = subject.life;
      add_case(key(subject, size), bench.options.repetitions,
               [argv, life] { return measure(argv, life); });
    }
  }
}

std::string start_tables(const Bench& bench, const Results& results) {
  Table table({"trainers", "launcher", "median", "min..max, ms", "× bare loop", "× hydra",
               "until nothing is left", "CPU time"});
  const auto all = subjects(bench.tools);
  for (const int size : sizes(bench)) {
    for (const Subject& subject : all) {
      if (size < subject.least || size > subject.most) continue;
      const Measurement* numbers = results.find(key(subject, size));
      const std::string missing = no_number(*subject.tool, numbers);
      const std::vector<std::string> head{std::to_string(size), subject.label};
      if (!missing.empty()) {
        table.add_without_numbers(head, missing);
        continue;
      }
      const double middle = median(numbers->seconds);
      table.add({head[0], head[1], milliseconds(middle), spread_milliseconds(numbers->seconds),
                 ratio(middle, results.find(fmt::format("start/bare loop/{}", size))),
                 ratio(middle, results.find(fmt::format("start/hydra/{}", size))),
                 milliseconds(median(numbers->counters.at("gone"))),
                 milliseconds(median(numbers->counters.at("cpu")))});
    }
  }
  return fmt::format(
      "## Start: N trainers of /bin/true, wall time of the whole job\n\n{}\n"
      "mpirun's ranks are `sleep {}` and that time is taken off (it hangs with many ranks that end "
      "at once; up to 64 ranks). torchrun and Paddle's own: {} trainers only. *Until nothing is "
      "left* "
      "ends when the last process that the launcher started is gone; *CPU time* is that of all of "
      "them.\n",
      table.markdown(), kRankLife, kPythonLaunchersAt);
}

}  // namespace paddle_launch
