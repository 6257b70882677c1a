// SPDX-License-Identifier: Apache-2.0
#include "paddle_launch/spawn.h"

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
#include <cstdio>
#include <filesystem>
#include <iostream>
#include <optional>

#include <fmt/format.h>

#include "launcher/job/errors.h"
#include "launcher/os/child.h"
#include "launcher/os/unique_fd.h"
#include "launcher/text/number.h"
#include "launcher/text/signal_name.h"
#include "spawn/board.h"
#include "spawn/launcher_process.h"

namespace paddle_launch {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::chrono::milliseconds kLookAgain{1};
constexpr std::chrono::hours kForEver{24 * 365};
constexpr std::chrono::hours kLongestPoll{24};
constexpr std::size_t kNameBytes = 16;  // of a process, as the kernel keeps it

std::size_t threads_of_this_process() {
  const std::filesystem::directory_iterator tasks("/proc/self/task");
  return static_cast<std::size_t>(std::distance(begin(tasks), end(tasks)));
}

void refuse_with_threads() {
  const std::size_t threads = threads_of_this_process();
  if (threads == 1) return;
  throw SpawnError(
      fmt::format("spawn forks this program, and a fork takes one thread along, but the program "
                  "has {}: call spawn before the first thread is started",
                  threads),
      {.status = kWrongUseStatus});
}

std::vector<int> open_descriptors() {
  std::vector<int> open;
  for (const auto& entry : std::filesystem::directory_iterator("/proc/self/fd")) {
    const auto number = parse_whole_number(entry.path().filename().string());
    if (number && *number > STDERR_FILENO) open.push_back(static_cast<int>(*number));
  }
  // That of the listing itself is closed by now.
  std::erase_if(open, [](int fd) { return fcntl(fd, F_GETFD) < 0; });
  return open;
}

Caller this_program() {
  std::array<char, kNameBytes> name{};
  prctl(PR_GET_NAME, name.data());
  Caller caller{.pid = getpid(), .name = name.data(), .descriptors = open_descriptors()};
  pthread_sigmask(SIG_SETMASK, nullptr, &caller.mask);
  return caller;
}

// The forked processes are not to write again what this one has not written yet.
void flush_before_fork() {
  std::cout.flush();
  std::clog.flush();
  std::fflush(nullptr);
}

SpawnError error_of(const BoardEnd& end, const std::string& message) {
  const std::string text = message.empty() ? end.text : fmt::format("{}: {}", end.text, message);
  return {text,
          {.rank = end.rank,
           .exit_code = end.code,
           .signal = end.signal,
           .message = message,
           .status = end.status}};
}

}  // namespace

class Spawned::State {
 public:
  State(const std::function<void()>& function, const SpawnOptions& options) {
    const Caller caller = this_program();
    flush_before_fork();
    launcher_ =
        fork_child({.dies_with_launcher = false, .descriptors = ChildRecipe::Descriptors::All},
                   [&] { be_the_launcher(caller, function, options, board_); });
    pidfd_.reset(static_cast<int>(syscall(SYS_pidfd_open, launcher_, 0)));
    // It is gone already, where SIGCHLD is ignored.
    if (!pidfd_ && errno == ESRCH) ended_ = true;
  }
  State(const State&) = delete;
  State& operator=(const State&) = delete;
  // In a fork of the owner the processes are somebody else's.
  ~State() {
    if (getpid() == owner_) stop();
  }

  // False: the launcher process lives. None: for as long as it takes.
  bool wait(std::optional<std::chrono::milliseconds> time) {
    std::optional<Clock::time_point> until;
    if (time && *time < kForEver) until = Clock::now() + *time;
    while (!ended_ && !is_gone_now(until)) {
      if (until && Clock::now() >= *until) return false;
    }
    return true;
  }

  void stop() {
    if (ended_) return;
    stop_asked_ = true;
    tell_to_end();
    wait({});
  }

  std::vector<pid_t> pids() {
    for (;;) {
      if (const auto all = board_.pids()) return *all;
      if (wait(kLookAgain)) return board_.pids().value_or(std::vector<pid_t>());
    }
  }

  void throw_failure() const {
    const std::optional<BoardEnd> end = board_.ending();
    if (!end) {
      if (stop_asked_) return;
      throw SpawnError("the launcher process of spawn was killed; its guard stops the processes",
                       {});
    }
    const bool is_wished = end->was_stopped && stop_asked_;
    if (end->status != 0 && !is_wished) throw error_of(*end, board_.error_of(end->pid));
  }

 private:
  // Where the caller ignores SIGCHLD, or waits for any child, the number of an ended process may
  // already be another's: the descriptor is not.
  void tell_to_end() {
    if (pidfd_) {
      syscall(SYS_pidfd_send_signal, pidfd_.get(), SIGTERM, nullptr, 0);
    } else if (!wait(std::chrono::milliseconds(0))) {
      kill(launcher_, SIGTERM);
    }
  }

  void reap() const {
    constexpr auto by_descriptor = static_cast<idtype_t>(3);  // P_PIDFD, since Linux 5.4
    siginfo_t ended{};
    const int result =
        waitid(by_descriptor, static_cast<id_t>(pidfd_.get()), &ended, WEXITED | WNOHANG);
    if (result < 0 && errno == EINVAL) waitpid(launcher_, nullptr, WNOHANG);
  }

  // Somebody else may have waited for it already: then it is gone as well.
  bool is_gone_now(std::optional<Clock::time_point> until) {
    std::chrono::milliseconds left = kLongestPoll;
    if (until) left = std::chrono::ceil<std::chrono::milliseconds>(*until - Clock::now());
    left = std::clamp(left, std::chrono::milliseconds(0), std::chrono::milliseconds(kLongestPoll));
    if (pidfd_) {
      pollfd watched{pidfd_.get(), POLLIN, 0};
      if (poll(&watched, 1, static_cast<int>(left.count())) != 1) return false;
      reap();
    } else if (!is_gone_within(launcher_, kLookAgain)) {
      return false;
    }
    ended_ = true;
    return true;
  }

  Board board_;
  pid_t owner_ = getpid();
  pid_t launcher_ = -1;
  UniqueFd pidfd_;  // none on kernels before 5.3
  bool ended_ = false;
  bool stop_asked_ = false;
};

Spawned::Spawned(std::unique_ptr<State> state) : state_(std::move(state)) {}
Spawned::Spawned(Spawned&& other) noexcept = default;
Spawned& Spawned::operator=(Spawned&& other) noexcept = default;
Spawned::~Spawned() = default;

void Spawned::join() {
  state_->wait({});
  state_->throw_failure();
}

bool Spawned::join_for(std::chrono::milliseconds time) {
  if (!state_->wait(time)) return false;
  state_->throw_failure();
  return true;
}

std::vector<pid_t> Spawned::pids() const { return state_->pids(); }

void Spawned::stop() { state_->stop(); }

Spawned spawn(const std::function<void()>& function, const SpawnOptions& options) {
  if (!function)
    throw SpawnError("spawn was given no function: give one that can be called",
                     {.status = kWrongUseStatus});
  refuse_with_threads();
  Spawned spawned(std::make_unique<Spawned::State>(function, options));
  if (options.join) spawned.join();
  return spawned;
}

}  // namespace paddle_launch
