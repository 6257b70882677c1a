// SPDX-License-Identifier: Apache-2.0
#include "spawn/launcher_process.h"

#include <fcntl.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <cstdio>
#include <exception>
#include <iostream>
#include <string_view>

#include "launcher/job/start_method.h"
#include "launcher/launch.h"
#include "launcher/launch_failure.h"
#include "launcher/os/unique_fd.h"
#include "launcher/site/start_environment.h"
#include "spawn/command.h"

namespace paddle_launch {
namespace {

constexpr int kExceptionStatus = 1;
constexpr std::string_view kUnknownException = "an exception that is no std::exception";

// What an executed launcher would find: handlers are gone, what was ignored stays ignored. SIGTERM
// must count, since it tells that the caller is gone.
void forget_handlers() {
  for (int signal = 1; signal < NSIG; ++signal) {
    struct sigaction action {};
    if (sigaction(signal, nullptr, &action) != 0 || action.sa_handler == SIG_DFL) continue;
    if (action.sa_handler == SIG_IGN && signal != SIGTERM) continue;
    struct sigaction by_default {};
    by_default.sa_handler = SIG_DFL;
    sigaction(signal, &by_default, nullptr);
  }
}

void leave_the_callers_world(const Caller& caller) {
  prctl(PR_SET_PDEATHSIG, SIGTERM);
  if (getppid() != caller.pid) _exit(kExceptionStatus);
  prctl(PR_SET_NAME, "paddle-launch");
  forget_handlers();
  hold_standard_descriptors();
  // The terminal's input stays with the calling program.
  const UniqueFd null(open("/dev/null", O_RDONLY | O_CLOEXEC));
  dup2(null.get(), STDIN_FILENO);
  sigprocmask(SIG_SETMASK, &caller.mask, nullptr);
}

void flush_all() {
  std::cout.flush();
  std::cerr.flush();
  std::clog.flush();
  std::fflush(nullptr);
}

int tell_error(Board& board, std::size_t index, int rank, std::string_view message) {
  flush_all();
  std::fprintf(stderr, "rank %d ended with an exception: %.*s\n", rank,
               static_cast<int>(message.size()), message.data());
  board.tell_error(index, message);
  return kExceptionStatus;
}

int call(const std::function<void()>& function, Board& board, std::size_t index, std::size_t count,
         int rank) {
  board.begin(index, count, getpid());
  try {
    function();
  } catch (const std::exception& error) {
    return tell_error(board, index, rank, error.what());
  } catch (...) {
    return tell_error(board, index, rank, kUnknownException);
  }
  flush_all();
  return 0;
}

BoardEnd board_end(const LaunchEnd& end) {
  BoardEnd told{.status = end.status,
                .was_stopped = end.verdict.first.kind == StopCause::Kind::Interrupted,
                .text = end.verdict.first.text};
  if (end.verdict.first.kind != StopCause::Kind::WorkerFailed || end.verdict.failures.empty())
    return told;
  const FailureRecord& first = end.verdict.failures.front();
  told.rank = first.rank;
  told.pid = first.exit.pid;
  told.code = first.exit.code;
  told.signal = first.exit.signal;
  return told;
}

BoardEnd run(const Caller& caller, const OwnFunction& own, const SpawnOptions& options) {
  try {
    Environment env = read_environment(environ);
    wipe_secrets(environ);
    ParsedCommandLine command = command_of_spawn(options, env, caller.name);
    drop_secrets(env);
    command.job.script.function = &own;
    return board_end(launch(command, env));
  } catch (...) {
    const LaunchFailure failure = failure_of(std::current_exception());
    return {.status = failure.status,
            .was_stopped = failure.kind == LaunchFailure::Kind::Interrupted,
            .text = failure.text};
  }
}

}  // namespace

void be_the_launcher(const Caller& caller, const std::function<void()>& function,
                     const SpawnOptions& options, Board& board) {
  leave_the_callers_world(caller);
  const OwnFunction own{.call = [&](std::size_t index, std::size_t count,
                                    int rank) { return call(function, board, index, count, rank); },
                        .kept = caller.descriptors,
                        .process_name = caller.name};
  const BoardEnd end = run(caller, own, options);
  board.end(end);
  _exit(end.status);
}

}  // namespace paddle_launch
