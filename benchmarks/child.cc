// SPDX-License-Identifier: Apache-2.0
#include "benchmarks/child.h"

#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <fstream>
#include <system_error>

#include "launcher/os/check.h"

namespace paddle_launch {
namespace {

volatile sig_atomic_t interrupted = 0;

void note_interrupt(int /*signal*/) { interrupted = 1; }

std::vector<char*> pointers(const Argv& argv) {
  std::vector<char*> words;
  for (const std::string& word : argv) words.push_back(const_cast<char*>(word.c_str()));
  words.push_back(nullptr);
  return words;
}

pid_t spawn(const Argv& argv, const std::filesystem::path& directory, int output) {
  const std::string out = directory / "stdout";
  const std::string err = directory / "stderr";
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, err.c_str(),
                                   O_WRONLY | O_CREAT | O_APPEND, 0600);
  if (output >= 0) {
    posix_spawn_file_actions_adddup2(&actions, output, STDOUT_FILENO);
  } else {
    posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, out.c_str(),
                                     O_WRONLY | O_CREAT | O_APPEND, 0600);
  }
  posix_spawn_file_actions_addchdir_np(&actions, directory.c_str());
  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP);
  pid_t pid = 0;
  const int error = posix_spawnp(&pid, argv.front().c_str(), &actions, &attributes,
                                 pointers(argv).data(), environ);
  posix_spawnattr_destroy(&attributes);
  posix_spawn_file_actions_destroy(&actions);
  if (error != 0) throw std::system_error(error, std::generic_category(), "start " + argv.front());
  return pid;
}

std::string last_line(const std::filesystem::path& file) {
  std::ifstream in(file);
  std::string last;
  for (std::string line; std::getline(in, line);) {
    if (line.find_first_not_of(" \t\r=-") != std::string::npos) last = line;
  }
  std::replace(last.begin(), last.end(), '|', '/');  // it may end in a Markdown table
  return last.substr(0, 100);
}

}  // namespace

void catch_interrupts() {
  struct sigaction action = {};
  action.sa_handler = note_interrupt;  // without SA_RESTART: poll() must return
  for (const int signal : {SIGINT, SIGTERM, SIGHUP}) sigaction(signal, &action, nullptr);
}

void throw_if_interrupted() {
  if (interrupted != 0) throw Interrupted();
}

UniqueFd open_pidfd(pid_t pid) {
  return UniqueFd(check(static_cast<int>(syscall(SYS_pidfd_open, pid, 0)), "pidfd_open"));
}

int poll_timeout(Clock::time_point deadline) {
  const auto left = std::chrono::ceil<std::chrono::milliseconds>(deadline - Clock::now());
  return static_cast<int>(std::max<std::chrono::milliseconds::rep>(left.count(), 0));
}

double seconds_between(Clock::time_point from, Clock::time_point to) {
  return std::chrono::duration<double>(to - from).count();
}

Child::Child(const Argv& argv, const std::filesystem::path& directory, int output)
    : started_(Clock::now()), pid_(spawn(argv, directory, output)), pidfd_(open_pidfd(pid_)) {}

Child::~Child() {
  if (reaped_) return;
  kill_group(SIGKILL);
  reap();
}

std::optional<Ending> Child::wait_until(Clock::time_point deadline) {
  pollfd end{pidfd(), POLLIN, 0};
  do {
    throw_if_interrupted();
    if (poll(&end, 1, poll_timeout(deadline)) > 0) return reap();
  } while (Clock::now() < deadline);
  return std::nullopt;
}

Ending Child::reap() {
  Ending ending;
  while (waitpid(pid_, &ending.status, 0) < 0 && errno == EINTR) {
  }
  ending.when = Clock::now();
  reaped_ = true;
  return ending;
}

void Child::kill_group(int signal) const { kill(-pid_, signal); }

std::string describe_ending(int status, const std::filesystem::path& directory) {
  std::string text = WIFSIGNALED(status) ? "killed by signal " + std::to_string(WTERMSIG(status))
                                         : "exit status " + std::to_string(WEXITSTATUS(status));
  const std::string words = last_line(directory / "stderr");
  return words.empty() ? text : text + ": " + words;
}

}  // namespace paddle_launch
