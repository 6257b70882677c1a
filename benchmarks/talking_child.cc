// SPDX-License-Identifier: Apache-2.0
#include "benchmarks/talking_child.h"

#include <fcntl.h>
#include <poll.h>
#include <unistd.h>

#include <csignal>
#include <sstream>

#include "launcher/os/check.h"

namespace paddle_launch {

TalkingChild::Pipe::Pipe() {
  int ends[2] = {-1, -1};
  check(pipe2(ends, O_CLOEXEC), "pipe2");
  read = UniqueFd(ends[0]);
  write = UniqueFd(ends[1]);
}

TalkingChild::TalkingChild(const Argv& argv, const std::filesystem::path& directory)
    : directory_(directory), child_(argv, directory, pipe_.write.get()) {
  pipe_.write.reset();  // so that the pipe ends with the child
}

void TalkingChild::wait_for(const std::string& key, Clock::time_point deadline) {
  while (!facts_.contains(key)) {
    if (!listen(deadline)) throw_why();
  }
}

void TalkingChild::wait_for_end(Clock::time_point deadline) {
  while (listen(deadline)) {
  }
  const auto ending = child_.wait_until(deadline);
  if (!ending) throw std::runtime_error("no end in the time it had");
  if (ending->status != 0) {
    throw std::runtime_error(describe_ending(ending->status, directory_));
  }
}

void TalkingChild::tell_to_end() const { child_.kill_group(SIGTERM); }

double TalkingChild::operator[](const std::string& key) const {
  const auto found = facts_.find(key);
  if (found == facts_.end()) throw std::runtime_error("nothing was said of " + key);
  return found->second;
}

// False: it will say nothing more.
bool TalkingChild::listen(Clock::time_point deadline) {
  pollfd said{pipe_.read.get(), POLLIN, 0};
  throw_if_interrupted();
  if (poll(&said, 1, poll_timeout(deadline)) == 0) throw std::runtime_error("it took too long");
  char buffer[512];
  const ssize_t size = check(read(said.fd, buffer, sizeof buffer), "read");
  heard_.append(buffer, static_cast<size_t>(size));
  for (size_t end = heard_.find('\n'); end != std::string::npos; end = heard_.find('\n')) {
    std::istringstream line(heard_.substr(0, end));
    std::string key;
    if (double value = 0; line >> key >> value) facts_[key] = value;
    heard_.erase(0, end + 1);
  }
  return size > 0;
}

void TalkingChild::throw_why() {
  const Ending ending = child_.reap();
  throw std::runtime_error("ended early: " + describe_ending(ending.status, directory_));
}

}  // namespace paddle_launch
