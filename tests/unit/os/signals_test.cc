// SPDX-License-Identifier: Apache-2.0
#include "launcher/os/signals.h"

#include <sys/wait.h>
#include <unistd.h>

#include <gtest/gtest.h>

namespace paddle_launch {
namespace {

// Signals belong to the whole process, so each case has one of its own.
template <class Case>
int in_a_process_of_its_own(Case run) {
  const pid_t pid = fork();
  if (pid == 0) _exit(run());
  int status = 0;
  waitpid(pid, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

TEST(SignalWatch, DeliversAWatchedSignal) {
  EXPECT_EQ(in_a_process_of_its_own([] {
              SignalWatch watch({SIGTERM, SIGUSR1});
              raise(SIGUSR1);
              return watch.next() == SIGUSR1 && !watch.next() ? 0 : 1;
            }),
            0);
}

TEST(SignalWatch, LeavesASignalIgnoredThatWasIgnored) {
  EXPECT_EQ(in_a_process_of_its_own([] {
              signal(SIGHUP, SIG_IGN);
              SignalWatch watch({SIGHUP});
              raise(SIGHUP);
              return is_ignored(SIGHUP) && !watch.next() ? 0 : 1;
            }),
            0);
}

// Blocks it as whoever started us may have done.
void block(int signal) {
  sigset_t one;
  sigemptyset(&one);
  sigaddset(&one, signal);
  sigprocmask(SIG_BLOCK, &one, nullptr);
}

TEST(WhatWasInherited, IsTheMaskTheIgnoredSigchldAndTheLimitOnOpenFiles) {
  EXPECT_EQ(in_a_process_of_its_own([] {
              block(SIGUSR2);
              signal(SIGCHLD, SIG_IGN);
              rlimit limit{};
              getrlimit(RLIMIT_NOFILE, &limit);
              limit.rlim_cur = 64;
              setrlimit(RLIMIT_NOFILE, &limit);
              const Inherited found = what_was_inherited();
              return sigismember(&found.mask, SIGUSR2) == 1 &&
                             sigismember(&found.mask, SIGTERM) == 0 && found.ignores_sigchld &&
                             found.open_files.rlim_cur == 64
                         ? 0
                         : 1;
            }),
            0);
}

TEST(SignalWatch, ASignalThatIsPutBackCanBeTakenAgain) {
  EXPECT_EQ(in_a_process_of_its_own([] {
              SignalWatch watch({SIGTERM});
              SignalWatch::put_back(SIGTERM);
              return watch.next() == SIGTERM && !watch.next() ? 0 : 1;
            }),
            0);
}

TEST(SignalsAsBefore, LetASignalEndTheProcessAtOnceAndOnlyMeanwhile) {
  EXPECT_EQ(in_a_process_of_its_own([] {
              const Inherited before = what_was_inherited();
              const SignalWatch watch({SIGTERM});
              const SignalsAsBefore open(before);
              raise(SIGTERM);
              return 1;
            }),
            128 + SIGTERM);
  EXPECT_EQ(in_a_process_of_its_own([] {
              const Inherited before = what_was_inherited();
              SignalWatch watch({SIGTERM});
              { const SignalsAsBefore open(before); }
              raise(SIGTERM);
              return watch.next() == SIGTERM ? 0 : 1;
            }),
            0);
}

TEST(SignalsAsBefore, KeepASignalBlockedThatWasBlocked) {
  EXPECT_EQ(in_a_process_of_its_own([] {
              block(SIGTERM);
              const Inherited before = what_was_inherited();
              const SignalWatch watch({SIGTERM});
              const SignalsAsBefore open(before);
              raise(SIGTERM);
              return 0;
            }),
            0);
}

TEST(SignalWatch, ABrokenPipeDoesNotEndTheProcess) {
  EXPECT_EQ(in_a_process_of_its_own([] {
              const SignalWatch watch({SIGTERM});
              raise(SIGPIPE);
              return 0;
            }),
            0);
}

}  // namespace
}  // namespace paddle_launch
