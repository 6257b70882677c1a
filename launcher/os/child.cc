// SPDX-License-Identifier: Apache-2.0
#include "launcher/os/child.h"

#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <csignal>
#include <ctime>
#include <string>
#include <utility>

#include "launcher/os/check.h"
#include "launcher/os/files.h"

namespace paddle_launch {

namespace {

using Descriptors = ChildRecipe::Descriptors;

void take_descriptors(const ChildRecipe& recipe) {
  if (recipe.descriptors != Descriptors::Standard) {
    const int null = check(open("/dev/null", O_RDWR), "open", "/dev/null");
    const int out = recipe.descriptors == Descriptors::Errors ? STDERR_FILENO : null;
    check(dup2(null, STDIN_FILENO), "dup2");
    check(dup2(out, STDOUT_FILENO), "dup2");
    check(dup2(out, STDERR_FILENO), "dup2");
  }
  close_all_but(recipe.kept);
}

void begin(const ChildRecipe& recipe, pid_t launcher) {
  if (recipe.dies_with_launcher) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != launcher) _exit(1);
  }
  if (recipe.name != nullptr) prctl(PR_SET_NAME, recipe.name);
  if (recipe.own_session) setsid();
  if (recipe.descriptors == Descriptors::All) return;
  signal(SIGCHLD, SIG_DFL);  // libraries that start programs of their own wait for them
  take_descriptors(recipe);
}

// It may have come in the place of 0, 1 or 2, where one of them was not open.
void move_above_standard(UniqueFd& fd) {
  if (fd.get() > STDERR_FILENO) return;
  fd.reset(check(fcntl(fd.get(), F_DUPFD_CLOEXEC, STDERR_FILENO + 1), "fcntl"));
}

}  // namespace

pid_t fork_child(const ChildRecipe& recipe, const std::function<void()>& work) {
  sigset_t all;
  sigset_t before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  const pid_t launcher = getpid();
  const pid_t child = fork();
  const int error = errno;
  if (child == 0) {
    try {
      begin(recipe, launcher);
      if (!recipe.blocks_signals) pthread_sigmask(SIG_SETMASK, &before, nullptr);
      work();
    } catch (...) {
      _exit(1);
    }
    _exit(0);
  }
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  errno = error;
  return check(child, "fork", recipe.name != nullptr ? recipe.name : "");
}

Child start_child(ChildRecipe recipe, const std::function<void(FramePipe launcher)>& work) {
  std::array<int, 2> ends{};
  check(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends.data()), "socketpair");
  UniqueFd ours(ends[0]);
  UniqueFd theirs(ends[1]);
  move_above_standard(theirs);
  recipe.kept.push_back(theirs.get());
  const pid_t pid = fork_child(recipe, [&] {
    ours.reset();
    work(FramePipe(std::move(theirs)));
  });
  return {pid, FramePipe(std::move(ours))};
}

bool is_gone(pid_t child, int* status) { return waitpid(child, status, WNOHANG) != 0; }

bool is_gone_within(pid_t child, std::chrono::milliseconds patience, int* status) {
  const auto until = std::chrono::steady_clock::now() + patience;
  for (timespec pause{0, 20'000};; pause.tv_nsec = std::min(pause.tv_nsec * 2, 1'000'000L)) {
    if (is_gone(child, status)) return true;
    if (std::chrono::steady_clock::now() >= until) return false;
    nanosleep(&pause, nullptr);
  }
}

namespace {

constexpr unsigned kFirst = STDERR_FILENO + 1;
constexpr long kMostTried = 65536;  // without /proc; a raised limit can be a thousand times that

// Sorted. False: the kernel cannot, or a sandbox forbids it.
bool close_ranges_between(const std::vector<int>& kept) {
  unsigned from = kFirst;
  for (const int fd : kept) {
    if (fd < 0 || static_cast<unsigned>(fd) < from) continue;
    const auto next = static_cast<unsigned>(fd);
    if (next > from && syscall(SYS_close_range, from, next - 1, 0) != 0) return false;
    from = next + 1;
  }
  return syscall(SYS_close_range, from, ~0U, 0) == 0;
}

// One of them is the listing's own, which is closed by then.
std::vector<int> open_descriptors() {
  std::vector<int> found;
  const std::vector<std::string> names = names_in("/proc/self/fd");
  if (names.empty()) {
    const long limit = std::min(sysconf(_SC_OPEN_MAX), kMostTried);
    for (int fd = kFirst; fd < limit; ++fd) found.push_back(fd);
    return found;
  }
  for (const std::string& name : names) {
    int fd = -1;
    if (std::from_chars(name.data(), name.data() + name.size(), fd).ec == std::errc{})
      found.push_back(fd);
  }
  return found;
}

}  // namespace

void close_one_by_one_but(const std::vector<int>& kept) {
  for (const int fd : open_descriptors()) {
    const bool stays =
        fd < static_cast<int>(kFirst) || std::find(kept.begin(), kept.end(), fd) != kept.end();
    if (!stays) close(fd);
  }
}

void close_all_but(std::vector<int> kept) {
  std::sort(kept.begin(), kept.end());
  if (!close_ranges_between(kept)) close_one_by_one_but(kept);
}

}  // namespace paddle_launch
