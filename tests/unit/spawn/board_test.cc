// SPDX-License-Identifier: Apache-2.0
#include "spawn/board.h"

#include <sys/wait.h>
#include <unistd.h>

#include <gtest/gtest.h>

namespace paddle_launch {
namespace {

using Pids = std::vector<pid_t>;

TEST(Board, TellsPidsWhenAllHaveBegun) {
  Board board;
  EXPECT_FALSE(board.pids());
  board.begin(1, 2, 202);
  EXPECT_FALSE(board.pids());
  board.begin(0, 2, 201);
  EXPECT_EQ(board.pids(), (Pids{201, 202}));
}

TEST(Board, AnErrorBelongsToOneProcess) {
  Board board;
  board.begin(0, 2, 201);
  board.begin(1, 2, 202);
  board.tell_error(1, "no such loss");
  EXPECT_EQ(board.error_of(202), "no such loss");
  EXPECT_EQ(board.error_of(201), "");
  EXPECT_EQ(board.error_of(999), "");
  board.begin(1, 2, 302);
  EXPECT_EQ(board.error_of(302), "") << "of the round before";
}

TEST(Board, ALongTextIsCut) {
  Board board;
  board.begin(0, 1, 201);
  board.tell_error(0, std::string(100'000, 'x'));
  const std::string text = board.error_of(201);
  EXPECT_GT(text.size(), 1000U);
  EXPECT_LT(text.size(), 100'000U);
}

TEST(Board, IsSharedWithAFork) {
  Board board;
  EXPECT_FALSE(board.ending());
  const pid_t child = fork();
  if (child == 0) {
    board.end({.status = 7, .rank = 1, .pid = 42, .code = 7, .was_stopped = true, .text = "why"});
    _exit(0);
  }
  waitpid(child, nullptr, 0);
  const auto end = board.ending();
  ASSERT_TRUE(end);
  EXPECT_EQ(end->status, 7);
  EXPECT_EQ(end->rank, 1);
  EXPECT_EQ(end->pid, 42);
  EXPECT_EQ(end->code, 7);
  EXPECT_EQ(end->signal, 0);
  EXPECT_TRUE(end->was_stopped);
  EXPECT_EQ(end->text, "why");
}

}  // namespace
}  // namespace paddle_launch
