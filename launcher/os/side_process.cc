// SPDX-License-Identifier: Apache-2.0
// Does a piece of work that may hang in a short-lived child.
#include "launcher/os/side_process.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstddef>
#include <ctime>
#include <string_view>

#include "launcher/os/unique_fd.h"

namespace paddle_launch {
namespace {

using std::chrono::milliseconds;
using std::chrono::steady_clock;

// The last byte of a complete answer. An exit status alone would not do: where SIGCHLD is ignored
// the kernel throws it away.
constexpr char kComplete = '\x06';
// How long a child that was killed, or has closed its pipe, usually needs to be gone.
constexpr milliseconds kLastBreath{100};
constexpr int kAnswerFd = 3;

enum class Ending { Good, Bad, StillThere };

void close_from(unsigned first) {
  if (syscall(SYS_close_range, first, ~0U, 0) == 0) return;
  const auto limit = std::min(sysconf(_SC_OPEN_MAX), 65536L);  // before Linux 5.9
  for (auto fd = static_cast<int>(first); fd < limit; ++fd) close(fd);
}

// Leaves the child with /dev/null as 0, 1, 2 and the answer's pipe as 3.
bool keep_only(int answer) {
  const int spare = fcntl(answer, F_DUPFD, kAnswerFd);  // the pipe itself may be one of 0, 1, 2
  const int null = open("/dev/null", O_RDWR);
  if (spare < 0 || null < 0) return false;
  for (int fd = 0; fd < kAnswerFd; ++fd) {
    if (dup2(null, fd) < 0) return false;
  }
  if (dup2(spare, kAnswerFd) < 0) return false;
  close_from(kAnswerFd + 1);
  return fcntl(kAnswerFd, F_SETFD, FD_CLOEXEC) == 0;
}

bool write_all(int fd, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t done = write(fd, bytes.data(), bytes.size());
    if (done < 0 && errno != EINTR) return false;
    if (done > 0) bytes.remove_prefix(static_cast<std::size_t>(done));
  }
  return true;
}

[[noreturn]] void be_the_child(int answer, pid_t parent, const std::function<std::string()>& work) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != parent) _exit(1);
  signal(SIGCHLD, SIG_DFL);  // libraries that start programs of their own wait for them
  if (!keep_only(answer)) _exit(1);
  try {
    _exit(write_all(kAnswerFd, work() + kComplete) ? 0 : 1);
  } catch (...) {
    _exit(1);
  }
}

// Signals stay blocked from before the fork on: a handler of the launcher's must not run in the
// child, where the descriptor it writes to belongs to something else.
pid_t fork_child(int answer, const std::function<std::string()>& work) {
  sigset_t all;
  sigset_t before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  const pid_t parent = getpid();
  const pid_t child = fork();
  if (child == 0) be_the_child(answer, parent, work);
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  return child;
}

std::optional<std::string> read_to_end(int fd, steady_clock::time_point until) {
  std::string answer;
  std::array<char, 65536> chunk;
  for (;;) {
    const auto left = std::chrono::ceil<milliseconds>(until - steady_clock::now()).count();
    if (left <= 0) return std::nullopt;
    pollfd waiting{fd, POLLIN, 0};
    const int ready = poll(&waiting, 1, static_cast<int>(std::min<long>(left, 60'000)));
    if (ready < 0 && errno != EINTR) return std::nullopt;
    if (ready <= 0) continue;
    const ssize_t got = read(fd, chunk.data(), chunk.size());
    if (got == 0) return answer;
    if (got < 0 && errno != EINTR) return std::nullopt;
    if (got > 0) answer.append(chunk.data(), static_cast<std::size_t>(got));
  }
}

// Never a blocking wait: a process in exit can hang in a driver as well.
Ending reap(pid_t child, milliseconds patience) {
  const auto until = steady_clock::now() + patience;
  for (timespec pause{0, 20'000};; pause.tv_nsec = std::min(pause.tv_nsec * 2, 1'000'000L)) {
    int status = 0;
    const pid_t gone = waitpid(child, &status, WNOHANG);
    if (gone == child) return status == 0 ? Ending::Good : Ending::Bad;
    if (gone < 0 && errno == ECHILD) return Ending::Good;  // SIGCHLD is ignored: kComplete decides
    if (steady_clock::now() >= until) return Ending::StillThere;
    nanosleep(&pause, nullptr);
  }
}

}  // namespace

std::optional<std::string> run_aside(milliseconds deadline,
                                     const std::function<std::string()>& work) {
  const auto until = steady_clock::now() + deadline;
  std::array<int, 2> ends{};
  if (pipe2(ends.data(), O_CLOEXEC) < 0) return std::nullopt;
  const UniqueFd reading(ends[0]);
  UniqueFd writing(ends[1]);
  const pid_t child = fork_child(writing.get(), work);
  if (child < 0) return std::nullopt;
  writing.reset();

  auto answer = read_to_end(reading.get(), until);
  Ending ending = answer ? reap(child, kLastBreath) : Ending::StillThere;
  if (ending == Ending::StillThere) {
    kill(child, SIGKILL);
    reap(child, kLastBreath);
    if (answer) ending = Ending::Good;  // it had said everything and hung in its exit
  }
  if (ending == Ending::Bad || !answer || !answer->ends_with(kComplete)) return std::nullopt;
  answer->pop_back();
  return answer;
}

}  // namespace paddle_launch
