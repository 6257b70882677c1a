// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "launcher/tell/rounds_table.h"
#include "tests/unit/tell/has.h"

namespace paddle_launch {
namespace {

using Kind = StopCause::Kind;
using std::chrono::milliseconds;

constexpr milliseconds kNone{0};

ToldRound told(int number, int restarts, const StopCause& cause) {
  return {.state = {.number = number, .restarts = restarts},
          .nodes = 2,
          .trainers = 16,
          .lasted = milliseconds(12'345),
          .cause = cause};
}

StopCause failed(const std::string& text, int status = 7) {
  return {.kind = Kind::WorkerFailed, .status = status, .text = text};
}

NextRound after(const ToldRound& ended, int more_restarts, milliseconds pause) {
  return {
      .state = {.number = ended.state.number + 1, .restarts = ended.state.restarts + more_restarts},
      .pause = pause};
}

TEST(NextRoundLine, OfAFailureNamesCausePauseAndRestart) {
  const ToldRound ended = told(0, 0, failed("rank 3 failed: exit code 7"));
  EXPECT_EQ(next_round_line(ended, after(ended, 1, milliseconds(1000)), 3),
            "round 0 failed: rank 3 failed: exit code 7; starting again in 1 s (restart 1 of 3)");
  EXPECT_EQ(next_round_line(ended, after(ended, 1, kNone), 3),
            "round 0 failed: rank 3 failed: exit code 7; starting again (restart 1 of 3)");
}

TEST(NextRoundLine, OfALostNodeOrGuardIsThatOfAFailure) {
  for (const Kind kind : {Kind::PodLost, Kind::GuardLost}) {
    const ToldRound ended = told(4, 2, {.kind = kind, .text = "something was lost"});
    EXPECT_EQ(next_round_line(ended, after(ended, 1, milliseconds(500)), 3),
              "round 4 failed: something was lost; starting again in 0.5 s (restart 3 of 3)");
  }
}

TEST(NextRoundLine, OfAWishSaysThatItIsOne) {
  const ToldRound ended = told(5, 1, failed("rank 0 failed: exit code 102", 102));
  EXPECT_EQ(next_round_line(ended, after(ended, 0, kNone), 3),
            "round 5 ended: rank 0 failed: exit code 102, which asks to be started again; "
            "starting again");
  EXPECT_EQ(next_round_line(ended, after(ended, 0, milliseconds(2000)), 3),
            "round 5 ended: rank 0 failed: exit code 102, which asks to be started again; "
            "starting again in 2 s");
}

TEST(NextRoundLine, OfAChangeOfNodesCountsNoRestart) {
  const std::vector<StopCause> causes = {
      {.kind = Kind::NodesChange, .text = "node 10.0.0.4 joined"},
      {.kind = Kind::PodLost, .text = "node 10.0.0.4 joined"},
      {.kind = Kind::Interrupted, .text = "node 10.0.0.4 joined"},
      failed("node 10.0.0.4 joined")};
  for (const StopCause& cause : causes) {
    const ToldRound ended = told(2, 1, cause);
    EXPECT_EQ(next_round_line(ended, after(ended, 0, kNone), 3),
              "round 2 ended: node 10.0.0.4 joined; gathering the nodes of the next round");
  }
}

TEST(NextRoundLine, StaysOneLineWhateverTheCauseHolds) {
  const ToldRound ended = told(0, 0, failed("a\nb\x1b[2J"));
  const std::string line = next_round_line(ended, after(ended, 1, kNone), 1);
  EXPECT_EQ(line.find('\n'), std::string::npos);
  EXPECT_EQ(line.find('\x1b'), std::string::npos);
}

RestartSpec most(int restarts) { return {.most = restarts}; }

TEST(NoNextRoundLine, SaysWhyAFailedJobIsNotStartedAgain) {
  const StopCause trainer = failed("rank 3 failed: exit code 7");
  EXPECT_EQ(no_next_round_line(told(3, 3, trainer), most(3)),
            "not started again: no restart is left (--max_restart=3)");
  EXPECT_EQ(no_next_round_line(told(1, 1, trainer), most(3)),
            "not started again: --restart_on does not name this cause");
  EXPECT_EQ(no_next_round_line(told(1, 1, {.kind = Kind::GuardLost}), most(3)),
            "not started again: --restart_on does not name this cause");
  EXPECT_EQ(no_next_round_line(told(1, 1, {.kind = Kind::PodLost}), most(3)),
            "not started again: nobody could take the place of the lost node");
  RestartSpec failures_alone = most(3);
  failures_alone.on.lost_node = false;
  EXPECT_EQ(no_next_round_line(told(1, 1, {.kind = Kind::PodLost}), failures_alone),
            "not started again: --restart_on does not name lost_node");
  EXPECT_EQ(no_next_round_line(told(3, 3, {.kind = Kind::PodLost}), most(3)),
            "not started again: no restart is left (--max_restart=3)");
}

TEST(NoNextRoundLine, IsEmptyWhereItGoesWithoutSaying) {
  EXPECT_EQ(no_next_round_line(told(0, 0, failed("rank 3 failed: exit code 7")), most(0)), "");
  for (const Kind kind : {Kind::Completed, Kind::NotStarted, Kind::Interrupted, Kind::NodesChange,
                          Kind::StoppedFromOutside, Kind::LauncherFailed}) {
    EXPECT_EQ(no_next_round_line(told(1, 1, {.kind = kind}), most(3)), "")
        << static_cast<int>(kind);
    EXPECT_EQ(no_next_round_line(told(3, 3, {.kind = kind}), most(3)), "")
        << static_cast<int>(kind);
  }
}

TEST(RoundsTable, HasALineForEachRound) {
  ToldRound first = told(0, 0, failed("rank 3 failed: exit code 7"));
  ToldRound second = told(1, 1, {.kind = Kind::NodesChange, .text = "node 10.0.0.4 joined"});
  second.lasted = milliseconds(3'723'000);
  ToldRound last = told(12, 1, {});
  last.nodes = 3;
  last.trainers = 1024;
  last.lasted = milliseconds(500);
  EXPECT_EQ(rounds_table({first, second, last}),
            "Rounds of this job, as this node saw them:\n"
            "  round  restarts  nodes  trainers  lasted     ended by\n"
            "  0      0         2      16        12.3 s     rank 3 failed: exit code 7\n"
            "  1      1         2      16        1 h 2 min  node 10.0.0.4 joined\n"
            "  12     1         3      1024      0.5 s      completed\n");
}

TEST(AddRound, KeepsTheFirstAndTheLastAndCountsTheOthers) {
  std::vector<ToldRound> rounds;
  for (int i = 0; i < 25; ++i) add_round(rounds, told(i, i, failed("rank 3 failed: exit code 7")));
  EXPECT_EQ(rounds.size(), 25U);
  EXPECT_FALSE(has(rounds_table(rounds), "left out"));
  for (int i = 25; i < 2500; ++i)
    add_round(rounds, told(i, i, failed("rank 3 failed: exit code 7")));
  EXPECT_EQ(rounds.size(), 25U);
  const std::string table = rounds_table(rounds);
  EXPECT_TRUE(has(table,
                  "  4      4         2      16        12.3 s  rank 3 failed: exit code 7\n"
                  "  …                                         (2475 rounds left out)\n"
                  "  2480   2480      2      16        12.3 s  rank 3 failed: exit code 7\n"))
      << table;
}

TEST(RoundsTable, IsEmptyWhereThereWasOnlyOneRound) {
  EXPECT_EQ(rounds_table({}), "");
  EXPECT_EQ(rounds_table({told(0, 0, failed("rank 3 failed: exit code 7"))}), "");
}

TEST(RoundsTable, NoCauseBreaksItsLine) {
  const ToldRound odd = told(0, 0, failed("a\nround 7\x1b"));
  EXPECT_EQ(rounds_table({odd, odd}),
            "Rounds of this job, as this node saw them:\n"
            "  round  restarts  nodes  trainers  lasted  ended by\n"
            "  0      0         2      16        12.3 s  a round 7\\x1b\n"
            "  0      0         2      16        12.3 s  a round 7\\x1b\n");
}

TEST(ShortSpan, HasTenthsBelowAMinute) {
  EXPECT_EQ(short_span(kNone), "0 s");
  EXPECT_EQ(short_span(milliseconds(49)), "0 s");
  EXPECT_EQ(short_span(milliseconds(50)), "0.1 s");
  EXPECT_EQ(short_span(milliseconds(500)), "0.5 s");
  EXPECT_EQ(short_span(milliseconds(949)), "0.9 s");
  EXPECT_EQ(short_span(milliseconds(950)), "1 s");
  EXPECT_EQ(short_span(milliseconds(1000)), "1 s");
  EXPECT_EQ(short_span(milliseconds(12'345)), "12.3 s");
  EXPECT_EQ(short_span(milliseconds(59'949)), "59.9 s");
  EXPECT_EQ(short_span(milliseconds(60'000)), "1 min 0 s");
  EXPECT_EQ(short_span(milliseconds(61'999)), "1 min 1 s");
  EXPECT_EQ(short_span(milliseconds(7'380'000)), "2 h 3 min");
}

TEST(HookLines, AreMarkedOneByOne) {
  EXPECT_EQ(hook_lines(""), std::vector<std::string>{});
  EXPECT_EQ(hook_lines("ready\n"), std::vector<std::string>{"pre_hook: ready"});
  EXPECT_EQ(hook_lines("one\n\nthree"),
            (std::vector<std::string>{"pre_hook: one", "pre_hook: ", "pre_hook: three"}));
}

TEST(HookLines, ControlBytesDoNotReachTheTerminal) {
  EXPECT_EQ(hook_lines(std::string("a\x1b[2J\rb\0c\xff\n", 11)),
            std::vector<std::string>{"pre_hook: a\\x1b[2J\\x0db\\x00c\\xff"});
}

}  // namespace
}  // namespace paddle_launch
