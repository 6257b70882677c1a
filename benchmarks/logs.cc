// SPDX-License-Identifier: Apache-2.0
// 8 trainers write lines of 100 bytes: how many a second arrive whole?
#include <fcntl.h>
#include <poll.h>
#include <unistd.h>

#include <algorithm>

#include <fmt/format.h>

#include "benchmarks/descendants.h"
#include "benchmarks/line_check.h"
#include "benchmarks/scratch.h"
#include "benchmarks/sections.h"
#include "benchmarks/table.h"
#include "launcher/os/check.h"

namespace paddle_launch {
namespace {

constexpr int kTrainers = 8;
constexpr auto kTimeOut = std::chrono::seconds(120);
// Below this part of the whole, writing is too near to the difference of two start times to be
// told.
constexpr double kLeastPart = 0.2;

enum class Sink { PlainFiles, LogFiles, Pipe };

struct Subject {
  std::string label;
  const Tool* tool;
  Argv options;
  Sink sink;
};

std::vector<Subject> subjects(const Tools& tools) {
  const Argv ours{"--nproc_per_node=8", "--log_dir", "log", "--quiet", "--console"};
  return {
      {"plain files", &tools.bare_loop, {"-o", ".", "8"}, Sink::PlainFiles},
      {"paddle-launch, files", &tools.paddle_launch, joined(ours, {"none"}), Sink::LogFiles},
      {"paddle-launch, --console all", &tools.paddle_launch, joined(ours, {"all"}), Sink::Pipe},
      {"hydra -prepend-rank", &tools.hydra, {"-prepend-rank", "-n", "8"}, Sink::Pipe},
      {"mpirun --tag-output", &tools.open_mpi, {"--tag-output", "-np", "8"}, Sink::Pipe},
  };
}

int line_count(const Bench& bench) { return bench.options.quick ? 500 : 50'000; }

std::string key(const Subject& subject, bool unbuffered, int lines) {
  return fmt::format("logs/{}/{}/{}", subject.label, unbuffered ? "python3 -u" : "buffered", lines);
}

// paddle-launch itself runs a .py with -u; a script without that ending is just a program.
Argv writer(const Bench& bench, const Subject& subject, bool unbuffered, int lines) {
  const std::string count = std::to_string(lines);
  const std::string script = bench.tools.line_writer + (unbuffered ? ".py" : "");
  if (!unbuffered || subject.tool == &bench.tools.paddle_launch) return {script, count};
  return {"python3", "-u", script, count};
}

// Written once, so that no reading pays for the first touch of its pages.
std::vector<char>& stream_buffer() {
  static std::vector<char> buffer(size_t{64} << 20, 1);
  return buffer;
}

struct Stream {
  std::string_view text;
  Clock::time_point last;  // when the last byte came
};

Stream read_to_end(int pipe, Clock::time_point deadline) {
  std::vector<char>& buffer = stream_buffer();
  size_t filled = 0;
  Stream stream{{}, Clock::now()};
  for (;;) {
    throw_if_interrupted();
    pollfd fd{pipe, POLLIN, 0};
    if (poll(&fd, 1, poll_timeout(deadline)) == 0) throw std::runtime_error("no end of its output");
    if (fd.revents == 0) continue;
    if (filled == buffer.size()) throw std::runtime_error("more output than was written");
    const ssize_t got = check(read(pipe, buffer.data() + filled, buffer.size() - filled), "read");
    if (got == 0) break;
    stream.last = Clock::now();
    filled += static_cast<size_t>(got);
  }
  stream.text = {buffer.data(), filled};
  return stream;
}

void check_files(LineCheck& lines, const Scratch& scratch, Sink sink) {
  for (int rank = 0; rank < kTrainers; ++rank) {
    const char* name = sink == Sink::PlainFiles ? "plain" : "log/workerlog";
    lines.check_file(scratch / fmt::format("{}.{}", name, rank));
  }
}

Reading measure(const Argv& argv, Sink sink, int lines) {
  const Scratch scratch;
  int ends[2] = {-1, -1};
  check(pipe2(ends, O_CLOEXEC), "pipe");
  const UniqueFd read_end(ends[0]);
  UniqueFd write_end(ends[1]);
  stream_buffer();
  const double cpu_before = cpu_seconds_of_the_gone();
  Child child(argv, scratch.path(), sink == Sink::Pipe ? write_end.get() : -1);
  write_end.reset();
  const auto deadline = child.started() + kTimeOut;
  const Stream stream = read_to_end(read_end.get(), deadline);
  const auto ending = child.wait_until(deadline);
  if (!ending) return {0, {}, fmt::format("no end within {} s", kTimeOut.count())};
  if (ending->status != 0) return {0, {}, describe_ending(ending->status, scratch.path())};
  clear_descendants(std::chrono::seconds(2));
  const double cpu = cpu_seconds_of_the_gone() - cpu_before;
  LineCheck check_lines(kTrainers, lines);
  if (sink == Sink::Pipe) check_lines.check_stream(stream.text, true);
  if (sink != Sink::Pipe) check_files(check_lines, scratch, sink);
  const auto end = sink == Sink::Pipe ? std::max(ending->when, stream.last) : ending->when;
  return {seconds_between(child.started(), end), {{"cpu", cpu}}, check_lines.complaint()};
}

struct Rate {
  double whole = 0;
  double writing =
      0;  // without the start, as the same launcher takes it for 0 lines; 0: not to be told
};

Rate rate(const Measurement& full, const Measurement* empty, int lines) {
  const double total = static_cast<double>(lines) * kTrainers;
  const double time = median(full.seconds);
  const double start = empty == nullptr ? 0 : median(empty->seconds);
  const double writing = time - start;
  return {total / time, writing > kLeastPart * time ? total / writing : 0};
}

std::string thousands(double lines) {
  return lines > 0 ? fmt::format("{:.0f} k", lines / 1000) : "-";
}

std::string one_table(const Bench& bench, const Results& results, bool unbuffered) {
  const int lines = line_count(bench);
  Table table({"lines to", "median", "min..max, ms", "start alone", "lines/s, whole job", "× plain",
               "lines/s without start", "× plain", "CPU time", "torn or lost"});
  const auto all = subjects(bench.tools);
  const Measurement* plain = results.find(key(all.front(), unbuffered, lines));
  const Measurement* plain_start = results.find(key(all.front(), unbuffered, 0));
  for (const Subject& subject : all) {
    const Measurement* numbers = results.find(key(subject, unbuffered, lines));
    const Measurement* start = results.find(key(subject, unbuffered, 0));
    std::string missing = no_number(*subject.tool, numbers);
    if (missing.empty()) missing = no_number(*subject.tool, start);
    if (!missing.empty()) {
      table.add_without_numbers({subject.label}, missing);
      continue;
    }
    const Rate here = rate(*numbers, start, lines);
    const bool comparable = plain != nullptr && plain->failures == 0;
    const Rate there = comparable ? rate(*plain, plain_start, lines) : Rate{};
    const auto compare = [](double a, double b) {
      return b > 0 ? fmt::format("{:.2f}", a / b) : "-";
    };
    table.add({subject.label, milliseconds(median(numbers->seconds)),
               spread_milliseconds(numbers->seconds), milliseconds(median(start->seconds)),
               thousands(here.whole), compare(here.whole, there.whole), thousands(here.writing),
               compare(here.writing, there.writing),
               milliseconds(median(numbers->counters.at("cpu"))), "0"});
  }
  return table.markdown();
}

void add_one_case(const Bench& bench, const Subject& subject, bool unbuffered, int lines) {
  const Argv head = joined(subject.tool->command, subject.options);
  const Argv argv = joined(head, writer(bench, subject, unbuffered, lines));
  const Sink sink = subject.sink;
  add_case(key(subject, unbuffered, lines), bench.options.repetitions,
           [argv, sink, lines] { return measure(argv, sink, lines); });
}

}  // namespace

void add_log_cases(const Bench& bench) {
  for (const Subject& subject : subjects(bench.tools)) {
    if (!subject.tool->installed()) continue;
    for (const bool unbuffered : {true, false}) {
      add_one_case(bench, subject, unbuffered, 0);
      add_one_case(bench, subject, unbuffered, line_count(bench));
    }
  }
}

std::string log_tables(const Bench& bench, const Results& results) {
  return fmt::format(
      "## Logs: {} trainers × {} lines of 100 bytes\n\n"
      "`python3 -u` writers, one write a line:\n\n{}\n"
      "Buffered writers (PYTHONUNBUFFERED unset):\n\n{}\n"
      "Files are one for each trainer; the others write into one pipe, which the benchmark reads. "
      "Every line of every run is checked: whole, in its rank's order, none missing; a subject "
      "with a torn or lost line has failed. *Start alone* is the same job with 0 lines; *CPU time* "
      "is that of all processes but the benchmark.\n",
      kTrainers, line_count(bench), one_table(bench, results, true),
      one_table(bench, results, false));
}

}  // namespace paddle_launch
