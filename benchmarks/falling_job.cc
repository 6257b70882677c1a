// SPDX-License-Identifier: Apache-2.0
#include "benchmarks/falling_job.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <random>
#include <sstream>

#include <fmt/format.h>

#include "launcher/os/check.h"

namespace paddle_launch {
namespace {

Argv filled_in(Argv argv, const Scratch& scratch) {
  std::replace(argv.begin(), argv.end(), std::string("{scratch}"), scratch.path().string());
  return argv;
}

Clock::time_point death_of_the_first(const Scratch& scratch) {
  long long moment = 0;
  std::ifstream file(scratch / "death", std::ios::binary);
  if (!file.read(reinterpret_cast<char*>(&moment), sizeof moment)) {
    throw std::runtime_error("the failing trainer left no moment of its death");
  }
  return Clock::time_point(std::chrono::nanoseconds(moment));
}

// At random, so that no launcher's polling interval is met by luck.
std::string milliseconds_to_live() {
  static std::mt19937 random{std::random_device{}()};
  return std::to_string(std::uniform_int_distribution(50, 150)(random));
}

}  // namespace

Clock::time_point Course::last_end() const {
  return std::max_element(endings.begin(), endings.end(),
                          [](const Ending& a, const Ending& b) { return a.when < b.when; })
      ->when;
}

FallingJob::Fifo::Fifo(const std::string& path) {
  check(mkfifo(path.c_str(), 0600), "mkfifo", path);
  fd = UniqueFd(check(open(path.c_str(), O_RDWR | O_CLOEXEC), "open", path));
}

FallingJob::FallingJob(const std::vector<Argv>& launchers, size_t trainers)
    : trainers_(trainers), hello_(scratch_ / "hello"), go_(scratch_ / "go") {
  for (const Argv& argv : launchers) {
    launchers_.push_back(std::make_unique<Child>(filled_in(argv, scratch_), scratch_.path()));
  }
}

Course FallingJob::fall(std::chrono::seconds patience) {
  const auto deadline = launchers_.front()->started() + patience;
  const auto trainers = meet_trainers(deadline);
  const std::string life = milliseconds_to_live();
  check(write(go_.fd.get(), life.data(), life.size()), "write go");
  Course course = watch(trainers, deadline);
  course.death = death_of_the_first(scratch_);
  return course;
}

std::string FallingJob::describe(const Ending& ending) const {
  return describe_ending(ending.status, scratch_.path());
}

void FallingJob::throw_if_a_launcher_ended() {
  for (const auto& launcher : launchers_) {
    if (const auto ending = launcher->wait_until(Clock::now())) {
      throw std::runtime_error("ended early: " + describe(*ending));
    }
  }
}

// The trainers' pidfds, once every one of them has said its pid.
std::vector<UniqueFd> FallingJob::meet_trainers(Clock::time_point deadline) {
  std::string heard;
  std::vector<pollfd> fds{{hello_.fd.get(), POLLIN, 0}};
  for (const auto& launcher : launchers_) fds.push_back({launcher->pidfd(), POLLIN, 0});
  while (static_cast<size_t>(std::count(heard.begin(), heard.end(), '\n')) < trainers_) {
    throw_if_interrupted();
    if (poll(fds.data(), fds.size(), poll_timeout(deadline)) == 0) {
      throw std::runtime_error("trainers never came");
    }
    if ((fds.front().revents & POLLIN) == 0) {
      throw_if_a_launcher_ended();
      continue;
    }
    char buffer[512];
    const ssize_t size = check(read(fds.front().fd, buffer, sizeof buffer), "read hello");
    heard.append(buffer, static_cast<size_t>(size));
  }
  std::vector<UniqueFd> trainers;
  std::istringstream words(heard);
  pid_t pid = 0;
  for (int rank = 0; words >> rank >> pid;) trainers.push_back(open_pidfd(pid));
  return trainers;
}

Course FallingJob::watch(const std::vector<UniqueFd>& trainers, Clock::time_point deadline) {
  std::vector<pollfd> fds;
  for (const auto& launcher : launchers_) fds.push_back({launcher->pidfd(), POLLIN, 0});
  for (const UniqueFd& trainer : trainers) fds.push_back({trainer.get(), POLLIN, 0});
  Course course;
  course.alive = trainers.size();
  course.endings.resize(launchers_.size());
  for (size_t running = launchers_.size(); running > 0;) {
    throw_if_interrupted();
    const int ready = poll(fds.data(), fds.size(), poll_timeout(deadline));
    const auto now = Clock::now();
    if (ready == 0) throw std::runtime_error("no end in the time it had");
    for (size_t at = 0; at < fds.size(); ++at) {
      if (fds[at].fd < 0 || fds[at].revents == 0) continue;
      fds[at].fd = -1;  // poll() leaves it out from now on
      if (at < launchers_.size()) {
        course.endings[at] = launchers_[at]->reap();
        --running;
      } else {
        course.last_gone = now;
        --course.alive;
      }
    }
  }
  return course;
}

}  // namespace paddle_launch
