// SPDX-License-Identifier: Apache-2.0
#include "launcher/run/pre_hook.h"

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <stdexcept>

#include <gtest/gtest.h>

#include "launcher/os/event_loop.h"
#include "launcher/os/files.h"

namespace paddle_launch {
namespace {

using Clock = EventLoop::Clock;
using std::chrono::milliseconds;

PreHookResult run(const std::string& command,
                  const std::vector<std::pair<std::string, std::string>>& more = {}) {
  EventLoop loop;
  return run_pre_hook(loop, command, more);
}

bool is_there(pid_t pid) { return kill(pid, 0) == 0; }

// Whoever adopts orphans here may be slow to wait for them, or never do it.
bool is_alive(pid_t pid) {
  const std::string stat = read_file("/proc/" + std::to_string(pid) + "/stat").value_or("");
  return !stat.empty() && stat.find(") Z ") == std::string::npos;
}

bool dies_soon(pid_t pid) {
  for (int i = 0; i < 500 && is_alive(pid); ++i) usleep(10'000);
  return !is_alive(pid);
}

void expect_no_children() {
  EXPECT_EQ(waitpid(-1, nullptr, WNOHANG), -1);
  EXPECT_EQ(errno, ECHILD);
}

TEST(PreHook, HasOutputOfBothKinds) {
  const PreHookResult result = run("echo out; echo err >&2");
  EXPECT_EQ(result.output, "out\nerr\n");
  EXPECT_EQ(result.problem, "");
  expect_no_children();
}

TEST(PreHook, TellsTheExitCode) {
  const PreHookResult result = run("echo broken; exit 3");
  EXPECT_EQ(result.output, "broken\n");
  EXPECT_EQ(result.problem, "exit code 3");
  EXPECT_EQ(run("/no/such/program").problem, "exit code 127");
}

TEST(PreHook, TellsTheSignal) {
  EXPECT_EQ(run("kill -KILL $$").problem, "killed by SIGKILL");
  EXPECT_EQ(run("kill -" + std::to_string(SIGRTMIN + 6) + " $$").problem, "killed by SIGRTMIN+6");
}

TEST(PreHook, TellsWhyItCouldNotBeStarted) {
  const PreHookResult result = run(": " + std::string(4 << 20, 'x'));
  EXPECT_EQ(result.problem, "could not be started: Argument list too long");
  expect_no_children();
}

TEST(PreHook, AddsToTheEnvironmentAndOverrides) {
  setenv("PRE_HOOK_OLD", "old", 1);
  setenv("PRE_HOOK_KEPT", "kept", 1);
  const PreHookResult result =
      run("env | grep '^PRE_HOOK' | sort",
          {{"PRE_HOOK_OLD", "first"}, {"PRE_HOOK_NEW", "a=b c"}, {"PRE_HOOK_OLD", "new"}});
  unsetenv("PRE_HOOK_OLD");
  unsetenv("PRE_HOOK_KEPT");
  EXPECT_EQ(result.output, "PRE_HOOK_KEPT=kept\nPRE_HOOK_NEW=a=b c\nPRE_HOOK_OLD=new\n");
}

TEST(PreHook, ReadsNothingAndLeadsItsGroup) {
  EXPECT_EQ(run("cat; readlink /proc/self/fd/0").output, "/dev/null\n");
  EXPECT_EQ(run("[ $(ps -o pgid= -p $$) = $$ ]").problem, "");
}

TEST(PreHook, HasNoDescriptorsOfTheLauncher) {
  const int leaked = open("/dev/null", O_RDONLY);  // NOLINT(android-cloexec-open): on purpose
  const PreHookResult result = run("[ ! -e /proc/$$/fd/" + std::to_string(leaked) + " ]");
  close(leaked);
  EXPECT_EQ(result.problem, "");
}

TEST(PreHook, HasTheSignalsOfAnOrdinaryProgram) {
  sigset_t blocked;
  sigset_t before;
  sigemptyset(&blocked);
  for (const int one : {SIGTERM, SIGINT, SIGPIPE, SIGCHLD}) sigaddset(&blocked, one);
  sigprocmask(SIG_BLOCK, &blocked, &before);
  signal(SIGUSR1, [](int) {});
  const std::string output = run("cat /proc/self/status").output;
  const std::string problem = run("kill -TERM $$").problem;
  signal(SIGUSR1, SIG_DFL);
  sigprocmask(SIG_SETMASK, &before, nullptr);
  for (const char* const line : {"SigBlk:\t0000000000000000\n", "SigCgt:\t0000000000000000\n"}) {
    EXPECT_NE(output.find(line), std::string::npos) << line << " in: " << output;
  }
  EXPECT_EQ(problem, "killed by SIGTERM");
}

TEST(PreHook, KeepsTheEndOfALongOutput) {
  const PreHookResult result =
      run("i=0; while [ $i -lt 300 ]; do printf '%01000d' $i; i=$((i+1)); done; echo end");
  EXPECT_EQ(result.output.size(), 64U * 1024);
  EXPECT_EQ(result.output.substr(result.output.size() - 7), "299end\n");
}

TEST(PreHook, PassesBytesOnAsTheyAre) {
  const std::string bytes("a\0\xff\x1bz", 5);
  EXPECT_EQ(run("printf 'a\\000\\377\\033z'").output, bytes);
}

TEST(PreHook, WaitsForAHookThatClosesItsOutput) {
  const auto begin = Clock::now();
  EXPECT_EQ(run("exec >&- 2>&-; sleep 0.3; exit 4").problem, "exit code 4");
  EXPECT_GE(Clock::now() - begin, milliseconds(250));
}

TEST(PreHook, IsNotHeldUpByWhatItLeavesRunningAndEndsIt) {
  const auto begin = Clock::now();
  const PreHookResult result = run("sleep 30 & echo $!");
  EXPECT_LT(Clock::now() - begin, std::chrono::seconds(10));
  EXPECT_EQ(result.problem, "");
  const pid_t left = std::atoi(result.output.c_str());  // NOLINT(cert-err34-c)
  ASSERT_GT(left, 1);
  EXPECT_TRUE(dies_soon(left));
}

TEST(PreHook, IsNotHeldUpByEndlessWritersEither) {
  const auto begin = Clock::now();
  EXPECT_EQ(run("(while echo yes; do :; done) 2>/dev/null & sleep 0.2").problem, "");
  EXPECT_LT(Clock::now() - begin, std::chrono::seconds(10));
}

TEST(PreHook, TheLoopGoesOnMeanwhile) {
  EventLoop loop;
  int ticks = 0;
  Alarm alarm(loop);
  const std::function<void()> tick = [&] {
    ++ticks;
    alarm.set(milliseconds(20), tick);
  };
  alarm.set(milliseconds(20), tick);
  EXPECT_EQ(run_pre_hook(loop, "sleep 0.5; echo done", {}).output, "done\n");
  EXPECT_GE(ticks, 3);
}

TEST(PreHook, AnExceptionOfTheLoopKillsTheWholeGroup) {
  EventLoop loop;
  int ends[2];
  ASSERT_EQ(pipe2(ends, O_CLOEXEC | O_NONBLOCK), 0);
  loop.on_readable(ends[0], [] { throw std::runtime_error("SIGTERM"); });
  const std::string path = "/proc/" + std::to_string(getpid()) + "/fd/" + std::to_string(ends[1]);
  EXPECT_THROW(
      run_pre_hook(loop, "trap '' TERM; sleep 30 & echo $$ $! >" + path + "; wait; sleep 30", {}),
      std::runtime_error);
  loop.forget(ends[0]);
  char text[64] = {};
  ASSERT_GT(read(ends[0], text, sizeof text - 1), 0);
  close(ends[0]);
  close(ends[1]);
  char* rest = nullptr;
  const auto shell = static_cast<pid_t>(std::strtol(text, &rest, 10));
  const auto sleeper = static_cast<pid_t>(std::strtol(rest, nullptr, 10));
  ASSERT_GT(shell, 1);
  ASSERT_GT(sleeper, 1);
  EXPECT_FALSE(is_there(shell)) << "reaped";
  EXPECT_TRUE(dies_soon(sleeper));
  bool is_forgotten = false;
  Alarm alarm(loop);
  alarm.set(milliseconds(50), [&] { is_forgotten = true; });
  loop.run_until([&] { return is_forgotten; });
  EXPECT_TRUE(is_forgotten) << "nothing of the hook is left in the loop";
}

}  // namespace
}  // namespace paddle_launch
