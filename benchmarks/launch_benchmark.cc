// SPDX-License-Identifier: Apache-2.0
// Compares paddle-launch with its peers on this machine, side by side in one run, and prints the
// result as Markdown. Google Benchmark repeats the cases and mixes their order.
//   launch_benchmark [--only start|failure|logs|idle|rendezvous|ending] [--quick]
//                    [--paddle_launch PATH] [--repetitions N] [--json DIR]
//                    [Google Benchmark's flags]
// benchmarks/plot.py draws what --json writes: DIR/start.json, DIR/failure.json, …
#include <cstdio>
#include <exception>
#include <filesystem>
#include <stdexcept>

#include <benchmark/benchmark.h>
#include <fmt/format.h>

#include "benchmarks/descendants.h"
#include "benchmarks/machine.h"
#include "benchmarks/sections.h"
#include "benchmarks/table.h"

namespace paddle_launch {
namespace {

struct Section {
  const char* name;
  void (*add_cases)(const Bench&);
  std::string (*tables)(const Bench&, const Results&);
};

constexpr Section kSections[] = {{"start", add_start_cases, start_tables},
                                 {"failure", add_failure_cases, failure_tables},
                                 {"logs", add_log_cases, log_tables},
                                 {"idle", add_idle_cases, idle_tables},
                                 {"rendezvous", add_rendezvous_cases, rendezvous_tables},
                                 {"ending", add_ending_cases, ending_tables}};

// May be called again with others. Google Benchmark keeps a pointer to the first argument.
void tell_google_benchmark(std::vector<std::string>& arguments) {
  std::vector<char*> words;
  words.reserve(arguments.size() + 1);
  for (std::string& word : arguments) words.push_back(word.data());
  int count = static_cast<int>(words.size());
  words.push_back(nullptr);
  benchmark::Initialize(&count, words.data());
  if (count > 1) throw std::invalid_argument(fmt::format("unknown option {}", words[1]));
}

// The last argument is left for the section's file.
void start_google_benchmark(std::vector<std::string>& arguments, const BenchmarkOptions& options) {
  for (const std::string& word : arguments) {
    if (word.rfind("--benchmark_out=", 0) == 0 && options.only.empty()) {
      throw std::invalid_argument(
          "--benchmark_out holds one section: add --only, or use --json DIR");
    }
  }
  arguments.insert(arguments.begin() + 1, "--benchmark_enable_random_interleaving=true");
  if (!options.json.empty()) {
    std::filesystem::create_directories(options.json);
    arguments.insert(arguments.end(), {"--benchmark_out_format=json", "--benchmark_out="});
  }
  tell_google_benchmark(arguments);
}

std::string describe_run(const Bench& bench) {
  const Tools& tools = bench.tools;
  std::string text = fmt::format("# Launch benchmark\n\n    {}\n\n{}", bench.options.command_line,
                                 describe_machine());
  for (const Tool* tool :
       {&tools.paddle_launch, &tools.hydra, &tools.open_mpi, &tools.torchrun, &tools.paddle}) {
    text +=
        fmt::format("- {}: {}\n", tool->name, tool->installed() ? tool->version : "not installed");
  }
  text += fmt::format("- log writers: {}\n", tools.python);
  return text + fmt::format("- {} repetitions a case, cases of a section in random order\n",
                            bench.options.repetitions);
}

int run(const std::vector<std::string>& given) {
  std::vector<std::string> arguments = given;
  Bench bench{take_options(arguments), {}};
  start_google_benchmark(arguments, bench.options);
  catch_interrupts();
  become_subreaper();
  bench.tools = find_tools(bench.options);
  fmt::print("{}\n", describe_run(bench));
  Results results;
  for (const Section& section : kSections) {
    if (!bench.options.wants(section.name)) continue;
    section.add_cases(bench);
    if (!bench.options.json.empty()) {
      arguments.back() =
          fmt::format("--benchmark_out={}/{}.json", bench.options.json, section.name);
      tell_google_benchmark(arguments);
    }
    benchmark::RunSpecifiedBenchmarks(&results);
    benchmark::ClearRegisteredBenchmarks();
    throw_if_interrupted();
    fmt::print("{}\n", section.tables(bench, results));
    std::fflush(stdout);
  }
  // A peer may fail here and there; ours and the yardstick may not.
  return results.failed("paddle-launch") || results.failed("bare ") || results.failed("plain") ? 1
                                                                                               : 0;
}

}  // namespace
}  // namespace paddle_launch

int main(int argc, char** argv) {
  try {
    return paddle_launch::run(std::vector<std::string>(argv, argv + argc));
  } catch (const std::exception& error) {
    std::fprintf(stderr, "launch_benchmark: %s\n", error.what());
    return 2;
  }
}
