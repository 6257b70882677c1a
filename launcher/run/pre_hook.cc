// SPDX-License-Identifier: Apache-2.0
// docs/elastic.md, --elastic_pre_hook.
#include "launcher/run/pre_hook.h"

#include <fcntl.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <optional>
#include <system_error>

#include <fmt/format.h>

#include "launcher/os/check.h"
#include "launcher/os/child.h"
#include "launcher/os/event_loop.h"
#include "launcher/os/unique_fd.h"
#include "launcher/text/signal_name.h"

namespace paddle_launch {
namespace {

constexpr std::size_t kMostOutput = 64 * 1024;
constexpr std::size_t kPiece = 16 * 1024;
constexpr std::chrono::milliseconds kBetweenLooks{50};
// A process stuck in the kernel outlives SIGKILL; the launcher does not wait for the disk.
constexpr std::chrono::seconds kToDie{2};
constexpr int kNotExecuted = 127;  // nobody reads it: the error itself is handed over
constexpr int kUnknown = -1;       // somebody else has waited for it

using Variables = std::vector<std::pair<std::string, std::string>>;

struct Ends {
  UniqueFd reading{};
  UniqueFd writing{};
};

Ends new_pipe() {
  std::array<int, 2> ends{};
  check(pipe2(ends.data(), O_CLOEXEC), "pipe2");
  return {UniqueFd(ends[0]), UniqueFd(ends[1])};
}

// Executing does so too, but signals are let through a moment before, and a handler of the
// launcher's must not run here.
void forget_handlers() {
  for (int number = 1; number < NSIG; ++number) {
    struct sigaction action {};
    const bool is_known = sigaction(number, nullptr, &action) == 0;
    if (is_known && action.sa_handler != SIG_IGN) signal(number, SIG_DFL);
  }
}

struct Descriptors {
  int input;
  int output;
  int failure;  // gets errno when the shell could not be executed
};

[[noreturn]] void become_shell(const char* command, const Variables& more, const Descriptors& fds) {
  setpgid(0, 0);
  dup2(fds.input, STDIN_FILENO);
  dup2(fds.output, STDOUT_FILENO);
  dup2(fds.output, STDERR_FILENO);
  close_all_but({fds.failure});
  for (const auto& [name, value] : more) setenv(name.c_str(), value.c_str(), 1);
  forget_handlers();
  sigset_t none;
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, nullptr);
  execl("/bin/sh", "sh", "-c", command, nullptr);
  const int error = errno;
  [[maybe_unused]] const ssize_t written = write(fds.failure, &error, sizeof error);
  _exit(kNotExecuted);
}

std::string problem_of(int status) {
  if (status == kUnknown) return "how it ended is not known";
  if (WIFSIGNALED(status)) return "killed by " + signal_name(WTERMSIG(status));
  return WEXITSTATUS(status) == 0 ? "" : fmt::format("exit code {}", WEXITSTATUS(status));
}

// The shell that runs. Whatever of it is left when this goes away is killed.
class Hook {
 public:
  explicit Hook(EventLoop& loop) : loop_(loop), next_look_(loop) {}
  Hook(const Hook&) = delete;
  Hook& operator=(const Hook&) = delete;
  ~Hook() {
    if (output_) loop_.forget(output_.get());
    if (ended_) loop_.forget(ended_.get());
    if (status_ || pid_ < 0) return;
    kill(-pid_, SIGKILL);
    is_gone_within(pid_, kToDie);
  }

  // Throws std::system_error.
  void start(const std::string& command, const Variables& more) {
    run_shell(command, more);
    loop_.on_readable(output_.get(), [this] { read_piece(kPiece); });
    ended_.reset(static_cast<int>(syscall(SYS_pidfd_open, pid_, 0)));
    if (!ended_) return look_again_soon();  // Linux before 5.3, or a sandbox
    loop_.on_readable(ended_.get(), [this] { look(); });
  }

  PreHookResult wait() {
    loop_.run_until([this] { return status_.has_value(); });
    read_rest();
    if (text_.size() > kMostOutput) text_.erase(0, text_.size() - kMostOutput);
    return {.output = std::move(text_), .problem = problem_of(*status_)};
  }

 private:
  void run_shell(const std::string& command, const Variables& more) {
    Ends output = new_pipe();
    Ends failure = new_pipe();
    output_ = std::move(output.reading);
    check(fcntl(output_.get(), F_SETFL, O_NONBLOCK), "fcntl");
    const UniqueFd nothing(check(open("/dev/null", O_RDONLY | O_CLOEXEC), "open", "/dev/null"));
    const Descriptors fds{nothing.get(), output.writing.get(), failure.writing.get()};
    pid_ = fork_child({.descriptors = ChildRecipe::Descriptors::All},
                      [&] { become_shell(command.c_str(), more, fds); });
    // Waits until the shell is executed: from then on its process group is there as well.
    failure.writing.reset();
    int error = 0;
    ssize_t count = 0;
    do {
      count = read(failure.reading.get(), &error, sizeof error);
    } while (count < 0 && errno == EINTR);
    if (count == sizeof error) throw std::system_error(error, std::generic_category());
  }

  // How much it was; 0: there is nothing more now.
  std::size_t read_piece(std::size_t most) {
    std::array<char, kPiece> piece{};
    const ssize_t result = read(output_.get(), piece.data(), std::min(most, piece.size()));
    if (result < 0 && (errno == EAGAIN || errno == EINTR)) return 0;
    if (result <= 0) {
      loop_.forget(output_.get());
      output_.reset();
      return 0;
    }
    const auto count = static_cast<std::size_t>(result);
    text_.append(piece.data(), count);
    if (text_.size() > 2 * kMostOutput) text_.erase(0, text_.size() - kMostOutput);
    return count;
  }

  // No more than stands there now: what the hook left behind may write for ever.
  void read_rest() {
    int there = 0;
    if (!output_ || ioctl(output_.get(), FIONREAD, &there) != 0) return;
    auto left = static_cast<std::size_t>(std::max(there, 0));
    while (left > 0) {
      const std::size_t count = read_piece(left);
      if (count == 0) return;
      left -= count;
    }
  }

  void look() {
    siginfo_t info{};
    const bool runs =
        waitid(P_PID, static_cast<id_t>(pid_), &info, WEXITED | WNOHANG | WNOWAIT) == 0 &&
        info.si_pid == 0;
    if (runs) return;
    // Until it is reaped nobody else can have its number.
    if (info.si_pid == pid_) kill(-pid_, SIGKILL);
    int status = kUnknown;
    is_gone(pid_, &status);
    status_ = status;
  }

  void look_again_soon() {
    next_look_.set(kBetweenLooks, [this] {
      look();
      if (!status_) look_again_soon();
    });
  }

  EventLoop& loop_;
  pid_t pid_ = -1;
  UniqueFd output_;
  UniqueFd ended_;  // a pidfd; none: the alarm looks
  Alarm next_look_;
  std::string text_;
  std::optional<int> status_;
};

}  // namespace

PreHookResult run_pre_hook(EventLoop& loop, const std::string& command, const Variables& more) {
  Hook hook(loop);
  try {
    hook.start(command, more);
  } catch (const std::system_error& error) {
    return {.problem = "could not be started: " + error.code().message()};
  }
  return hook.wait();
}

}  // namespace paddle_launch
