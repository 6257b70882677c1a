// SPDX-License-Identifier: Apache-2.0
#include "launcher/run/start_process.h"

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace paddle_launch {
namespace {

StartResult run(const char* program, std::vector<std::string> arguments) {
  std::vector<char*> argv;
  for (std::string& argument : arguments) argv.push_back(argument.data());
  argv.push_back(nullptr);
  const int null = open("/dev/null", O_RDWR | O_CLOEXEC);
  const StartRequest request{.program = program,
                             .argv = argv.data(),
                             .env = environ,
                             .stdin_fd = null,
                             .output_fd = null,
                             .error_fd = null,
                             .inherited = what_was_inherited()};
  const StartResult result = start_process(request);
  close(null);
  return result;
}

int exit_code(pid_t pid) {
  int status = 0;
  waitpid(pid, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

TEST(StartProcess, StartsAProgram) {
  const StartResult result = run("/bin/sh", {"sh", "-c", "exit 7"});
  ASSERT_EQ(result.error, 0);
  EXPECT_EQ(exit_code(result.pid), 7);
}

TEST(StartProcess, TheChildLeadsItsOwnGroup) {
  const StartResult result = run("/bin/sh", {"sh", "-c", "[ $(ps -o pgid= -p $$) = $$ ]"});
  EXPECT_EQ(exit_code(result.pid), 0);
}

TEST(StartProcess, TheChildHasOnlyItsThreeDescriptors) {
  const int leaked =
      open("/dev/null", O_RDONLY);  // without CLOEXEC, as a careless library leaves it
  const StartResult result =
      run("/bin/sh", {"sh", "-c", "[ ! -e /proc/self/fd/" + std::to_string(leaked) + " ]"});
  EXPECT_EQ(exit_code(result.pid), 0);
  close(leaked);
}

TEST(StartProcess, ReportsAProgramThatCannotBeExecuted) {
  const StartResult result = run("/no/such/program", {"program"});
  EXPECT_EQ(result.error, ENOENT);
  EXPECT_TRUE(result.exec);
  EXPECT_EQ(waitpid(-1, nullptr, WNOHANG), -1) << "nothing is left to wait for";
}

}  // namespace
}  // namespace paddle_launch
