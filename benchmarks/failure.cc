// SPDX-License-Identifier: Apache-2.0
// One of 8 trainers fails: time from its death, and from the last trainer's end, to the launcher's
// end.
#include <fcntl.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <random>
#include <sstream>

#include <fmt/format.h>

#include "benchmarks/scratch.h"
#include "benchmarks/sections.h"
#include "benchmarks/table.h"
#include "launcher/os/check.h"

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

struct Fifo {
  explicit Fifo(const std::string& path) {
    check(mkfifo(path.c_str(), 0600), "mkfifo", path);
    fd = UniqueFd(check(open(path.c_str(), O_RDWR | O_CLOEXEC), "open", path));
  }
  UniqueFd fd;
};

struct Job {
  Job(const Argv& argv, const Scratch& place)
      : scratch(place), hello(place / "hello"), go(place / "go"), child(argv, place.path()) {}

  const Scratch& scratch;
  Fifo hello;
  Fifo go;
  Child child;
};

// The trainers' pidfds, once every one of them has said its pid. Throws when the launcher ends
// first.
std::vector<UniqueFd> meet_trainers(Job& job, Clock::time_point deadline) {
  std::string heard;
  std::vector<UniqueFd> trainers;
  while (std::count(heard.begin(), heard.end(), '\n') < kTrainers) {
    pollfd fds[] = {{job.hello.fd.get(), POLLIN, 0}, {job.child.pidfd(), POLLIN, 0}};
    throw_if_interrupted();
    if (poll(fds, 2, poll_timeout(deadline)) == 0) throw std::runtime_error("trainers never came");
    char buffer[512];
    if ((fds[0].revents & POLLIN) != 0) {
      const ssize_t size = check(read(fds[0].fd, buffer, sizeof buffer), "read hello");
      heard.append(buffer, static_cast<size_t>(size));
    } else if (fds[1].revents != 0) {
      throw std::runtime_error(describe_ending(job.child.reap().status, job.scratch.path()));
    }
  }
  std::istringstream words(heard);
  pid_t pid = 0;
  for (int rank = 0; words >> rank >> pid;) trainers.push_back(open_pidfd(pid));
  return trainers;
}

struct Course {
  Clock::time_point last_gone;  // the last trainer's end
  size_t alive = 0;             // trainers, when the launcher had ended
  Ending ending;
};

Course watch(Job& job, const std::vector<UniqueFd>& trainers, Clock::time_point deadline) {
  std::vector<pollfd> fds{{job.child.pidfd(), POLLIN, 0}};
  for (const UniqueFd& trainer : trainers) fds.push_back({trainer.get(), POLLIN, 0});
  Course course;
  course.alive = trainers.size();
  for (;;) {
    throw_if_interrupted();
    const int ready = poll(fds.data(), fds.size(), poll_timeout(deadline));
    const auto now = Clock::now();
    if (ready == 0) throw std::runtime_error(fmt::format("no end within {} s", kTimeOut.count()));
    for (size_t at = 1; at < fds.size(); ++at) {
      if (fds[at].fd < 0 || fds[at].revents == 0) continue;
      fds[at].fd = -1;  // poll() leaves it out from now on
      course.last_gone = now;
      --course.alive;
    }
    if (fds[0].revents == 0) continue;
    course.ending = job.child.reap();
    return course;
  }
}

Clock::time_point death_of_the_first(const Scratch& scratch) {
  long long moment = 0;
  std::ifstream file(scratch / "death", std::ios::binary);
  if (!file.read(reinterpret_cast<char*>(&moment), sizeof moment)) {
    throw std::runtime_error("the failing trainer left no moment of its death");
  }
  return Clock::time_point(std::chrono::nanoseconds(moment));
}

Reading measure(const Argv& argv, int expected) {
  const Scratch scratch;
  Argv command = argv;
  for (std::string& word : command) {
    if (word == "{scratch}") word = scratch.path().string();
  }
  Job job(command, scratch);
  const auto deadline = job.child.started() + kTimeOut;
  const auto trainers = meet_trainers(job, deadline);
  // At random, so that no launcher's polling interval is met by luck.
  static std::mt19937 random{std::random_device{}()};
  const std::string life = std::to_string(std::uniform_int_distribution(50, 150)(random));
  check(write(job.go.fd.get(), life.data(), life.size()), "write go");
  const Course course = watch(job, trainers, deadline);
  const int status = course.ending.status;
  const bool right = expected == 0 ? status != 0 : status == expected << 8;
  if (!right) return {0, {}, describe_ending(status, scratch.path())};
  if (course.alive > 0) return {0, {}, fmt::format("{} trainers outlived it", course.alive)};
  const double after_last = seconds_between(course.last_gone, course.ending.when);
  return {seconds_between(death_of_the_first(scratch), course.ending.when),
          {{"after_last", after_last}},
          {}};
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
