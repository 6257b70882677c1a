// SPDX-License-Identifier: Apache-2.0
#include "launcher/run/restart_policy.h"

#include <csignal>

#include <gtest/gtest.h>

namespace paddle_launch {
namespace {

using Kind = StopCause::Kind;
using Nodes = RestartRules::Nodes;
using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr int kMost = 3;
constexpr milliseconds kPause{1000};
const RestartCauses kNothing{.any_code = false, .any_signal = false, .lost_node = false};

RestartRules rules_of(Nodes nodes, int most = kMost) {
  return {.spec = {.most = most, .first_pause = kPause}, .nodes = nodes};
}

RestartRules elastic(int level = 1) {
  RestartRules rules = rules_of(Nodes::Elastic);
  rules.level = level;
  return rules;
}

RestartRules only_on(Nodes nodes, RestartCauses causes) {
  RestartRules rules = rules_of(nodes);
  rules.spec.on = std::move(causes);
  return rules;
}

JobVerdict stopped_by(Kind kind, int asked_to_end = 0) {
  JobVerdict verdict;
  verdict.first.kind = kind;
  verdict.asked_to_end = asked_to_end;
  return verdict;
}

JobVerdict failed(const ProcessExit& exit, int asked_to_end = 0) {
  JobVerdict verdict = stopped_by(Kind::WorkerFailed, asked_to_end);
  verdict.failures = {FailureRecord{.exit = exit}};
  return verdict;
}

const JobVerdict kCode7 = failed({.code = 7});
const JobVerdict kAsksForMore = failed({.code = kStartMeAgain});

// Round 4 of a job of four nodes that has been started again `restarts` times, after 5 s.
StoppedRound round_with(int restarts, int quick_failures = 0, milliseconds lasted = seconds(5)) {
  return {.state = {.number = 4, .restarts = restarts, .quick_failures = quick_failures},
          .lasted = lasted,
          .nodes = 4};
}

// Whether the launcher whose pod gave the cause stays behind when the others go on.
bool leaves(const RestartRules& rules, JobVerdict verdict) {
  verdict.next = NextRound{};
  return end_of_round(rules, verdict, {.has_cause = true}).leaves;
}

void expect_restart(const std::optional<NextRound>& next, const std::string& what) {
  const NextRound expected{{.number = 5, .restarts = 1, .quick_failures = 1}, kPause};
  EXPECT_EQ(next, expected) << what;
}

void expect_change(const std::optional<NextRound>& next, const std::string& what,
                   bool has_settled = false) {
  const NextRound expected{
      {.number = 5, .restarts = 1, .quick_failures = 0}, milliseconds(0), has_settled};
  EXPECT_EQ(next, expected) << what;
}

TEST(NextRound, IsThereAfterAFailureAsLongAsRestartsAreLeft) {
  for (const Nodes nodes : {Nodes::Fixed, Nodes::Typed, Nodes::Elastic}) {
    for (int used = 0; used < kMost; ++used) {
      const auto next = next_round(rules_of(nodes), round_with(used), kCode7);
      ASSERT_TRUE(next) << used;
      EXPECT_EQ(next->state, (RoundState{.number = 5, .restarts = used + 1, .quick_failures = 1}));
    }
    EXPECT_FALSE(next_round(rules_of(nodes), round_with(kMost), kCode7));
    EXPECT_FALSE(next_round(rules_of(nodes, 0), round_with(0), kCode7));
  }
}

TEST(NextRound, IsNotThereWhenNothingWasWrongOrAnotherTryWouldBeTheSame) {
  for (const Nodes nodes : {Nodes::Fixed, Nodes::Typed, Nodes::Elastic}) {
    for (const Kind kind : {Kind::Completed, Kind::NotStarted, Kind::StoppedFromOutside}) {
      EXPECT_FALSE(next_round(rules_of(nodes), round_with(0), stopped_by(kind)))
          << static_cast<int>(nodes) << " " << static_cast<int>(kind);
    }
  }
}

TEST(NextRound, IsNotThereForWhoeverInterruptedAJobOfAllItsNodes) {
  for (const Nodes nodes : {Nodes::Fixed, Nodes::Typed}) {
    EXPECT_FALSE(next_round(rules_of(nodes), round_with(0), stopped_by(Kind::Interrupted, 1)));
    EXPECT_FALSE(next_round(rules_of(nodes), round_with(0), stopped_by(Kind::Interrupted)));
    EXPECT_FALSE(next_round(rules_of(nodes), round_with(0), stopped_by(Kind::NodesChange)));
    EXPECT_FALSE(next_round(rules_of(nodes), round_with(0), failed({.code = 7}, 1)))
        << "a trainer failed first";
    EXPECT_FALSE(next_round(rules_of(nodes), round_with(0), failed({.code = kStartMeAgain}, 1)));
    EXPECT_FALSE(next_round(rules_of(nodes), round_with(0), stopped_by(Kind::PodLost, 1)));
    EXPECT_FALSE(next_round(rules_of(nodes), round_with(0), stopped_by(Kind::GuardLost, 1)));
  }
}

TEST(NextRound, OfAnElasticJobAloneFollowsAFailureOfALauncherWhichStaysBehind) {
  const JobVerdict verdict = stopped_by(Kind::LauncherFailed);
  expect_change(next_round(rules_of(Nodes::Elastic), round_with(1), verdict), "elastic");
  EXPECT_TRUE(leaves(rules_of(Nodes::Elastic), verdict));
  for (const Nodes nodes : {Nodes::Fixed, Nodes::Typed}) {
    EXPECT_FALSE(next_round(rules_of(nodes), round_with(0), verdict));
    EXPECT_FALSE(leaves(rules_of(nodes), verdict));
  }
}

TEST(NextRound, NeedsAFailureThatIsKnown) {
  EXPECT_FALSE(next_round(rules_of(Nodes::Typed), round_with(0), stopped_by(Kind::WorkerFailed)));
}

TEST(NextRound, FollowsTheFirstOfSeveralFailures) {
  RestartCauses code_7 = kNothing;
  code_7.codes = {7};
  JobVerdict verdict = failed({.code = 7});
  verdict.failures.push_back({.exit = {.signal = SIGABRT}});
  EXPECT_TRUE(next_round(only_on(Nodes::Fixed, code_7), round_with(0), verdict));
  std::swap(verdict.failures[0], verdict.failures[1]);
  EXPECT_FALSE(next_round(only_on(Nodes::Fixed, code_7), round_with(0), verdict));
}

TEST(NextRound, QuickFailuresDoubleThePauseUpToAMinute) {
  const std::vector<int> expected = {1, 2, 4, 8, 16, 32, 60, 60};
  StoppedRound round = round_with(0);
  for (const int pause : expected) {
    const auto next = next_round(rules_of(Nodes::Typed, 100), round, kCode7);
    ASSERT_TRUE(next);
    EXPECT_EQ(next->pause, seconds(pause));
    round.state = next->state;
  }
}

TEST(NextRound, ALongFirstPauseIsKeptAndNoPauseStaysNone) {
  RestartRules rules = rules_of(Nodes::Typed, 100);
  for (const auto first : {seconds(300), seconds(0)}) {
    rules.spec.first_pause = first;
    for (const int quick_failures : {0, 1, 5, 1'000'000}) {
      const auto next = next_round(rules, round_with(0, quick_failures), kCode7);
      ASSERT_TRUE(next);
      EXPECT_EQ(next->pause, first) << quick_failures;
    }
  }
}

TEST(NextRound, ARoundOfAMinuteBeginsTheCountAnew) {
  const milliseconds minute{60'000};
  const auto quick =
      next_round(rules_of(Nodes::Typed), round_with(0, 3, minute - milliseconds(1)), kCode7);
  ASSERT_TRUE(quick);
  EXPECT_EQ(quick->pause, kPause * 8);
  EXPECT_EQ(quick->state.quick_failures, 4);
  const auto slow = next_round(rules_of(Nodes::Typed), round_with(0, 3, minute), kCode7);
  ASSERT_TRUE(slow);
  EXPECT_EQ(slow->pause, kPause);
  EXPECT_EQ(slow->state, (RoundState{.number = 5, .restarts = 1, .quick_failures = 0}));
}

TEST(NextRound, ComesAfterTheCausesOfRestartOn) {
  RestartCauses codes = kNothing;
  codes.any_code = true;
  RestartCauses signals = kNothing;
  signals.any_signal = true;
  RestartCauses some = kNothing;
  some.codes = {7, 75};
  some.signals = {SIGSEGV};
  RestartCauses killed = kNothing;
  killed.signals = {SIGKILL};
  struct Row {
    const char* what;
    RestartCauses on;
    JobVerdict verdict;
    bool goes_on;
  };
  const std::vector<Row> rows = {
      {"any code, code", codes, kCode7, true},
      {"any code, signal", codes, failed({.signal = SIGKILL}), false},
      {"any code, guard", codes, stopped_by(Kind::GuardLost), false},
      {"any signal, code", signals, kCode7, false},
      {"any signal, signal", signals, failed({.signal = SIGKILL}), true},
      {"any signal, guard", signals, stopped_by(Kind::GuardLost), true},
      {"named code", some, kCode7, true},
      {"another code", some, failed({.code = 1}), false},
      {"the code of a shell for a signal", some, failed({.code = 128 + SIGSEGV}), false},
      {"named signal", some, failed({.signal = SIGSEGV}), true},
      {"a signal with the number of a named code", some, failed({.signal = 7}), false},
      {"another signal, guard", some, stopped_by(Kind::GuardLost), false},
      {"SIGKILL, guard", killed, stopped_by(Kind::GuardLost), true},
      {"none, code", kNothing, kCode7, false},
      {"none, asks to be started again", kNothing, kAsksForMore, true},
  };
  for (const Row& row : rows) {
    for (const Nodes nodes : {Nodes::Fixed, Nodes::Typed, Nodes::Elastic}) {
      const auto next = next_round(only_on(nodes, row.on), round_with(0), row.verdict);
      EXPECT_EQ(next.has_value(), row.goes_on) << row.what;
    }
  }
}

TEST(NextRound, AfterALostGuardIsARestart) {
  expect_restart(next_round(rules_of(Nodes::Fixed), round_with(0), stopped_by(Kind::GuardLost)),
                 "fixed");
  EXPECT_FALSE(next_round(rules_of(Nodes::Fixed), round_with(kMost), stopped_by(Kind::GuardLost)));
}

TEST(NextRound, ForWhoeverAsksForItUsesUpNoRestart) {
  const auto first = next_round(rules_of(Nodes::Fixed), round_with(kMost), kAsksForMore);
  EXPECT_EQ(first, (NextRound{{.number = 5, .restarts = kMost, .quick_failures = 1}, {}}));
}

TEST(NextRound, ForWhoeverAsksInALoopIsHeldBackAsAfterFailures) {
  std::vector<milliseconds> pauses;
  StoppedRound round = round_with(kMost);
  for (int i = 0; i < 4; ++i) {
    const auto next = next_round(rules_of(Nodes::Fixed), round, kAsksForMore);
    ASSERT_TRUE(next);
    pauses.push_back(next->pause);
    round.state = next->state;
  }
  EXPECT_EQ(pauses,
            (std::vector<milliseconds>{milliseconds(0), 2 * kPause, 4 * kPause, 8 * kPause}));
  round.lasted = seconds(60);
  const auto slow = next_round(rules_of(Nodes::Fixed), round, kAsksForMore);
  EXPECT_EQ(slow, (NextRound{{.number = 9, .restarts = kMost, .quick_failures = 0}, {}}));
}

TEST(NextRound, AKilledTrainerDoesNotAskForIt) {
  EXPECT_FALSE(next_round(rules_of(Nodes::Fixed, 0), round_with(0),
                          failed({.code = kStartMeAgain, .signal = SIGKILL})));
}

TEST(NextRound, AfterALostNodeDependsOnWhoCouldTakeItsPlace) {
  const JobVerdict lost = stopped_by(Kind::PodLost);
  StoppedRound without_hub = round_with(0);
  without_hub.hub_is_lost = true;
  EXPECT_FALSE(next_round(rules_of(Nodes::Fixed), round_with(0), lost));
  EXPECT_FALSE(next_round(rules_of(Nodes::Fixed), without_hub, lost));
  expect_restart(next_round(rules_of(Nodes::Typed), round_with(0), lost), "typed");
  EXPECT_FALSE(next_round(rules_of(Nodes::Typed), round_with(kMost), lost)) << "used up";
  EXPECT_FALSE(next_round(rules_of(Nodes::Typed), without_hub, lost));
  without_hub.state.restarts = 1;
  expect_change(next_round(elastic(), round_with(1, 2), lost), "elastic");
  expect_change(next_round(elastic(), without_hub, lost), "elastic, the hub");
  EXPECT_TRUE(next_round(elastic(), round_with(kMost), lost)) << "no restart is needed";
}

TEST(NextRound, AfterALostNodeOnlyIfRestartOnNamesIt) {
  const JobVerdict lost = stopped_by(Kind::PodLost);
  RestartCauses on{};
  on.lost_node = false;
  EXPECT_FALSE(next_round(only_on(Nodes::Typed, on), round_with(0), lost));
  EXPECT_FALSE(next_round(only_on(Nodes::Elastic, on), round_with(0), lost));
  RestartCauses only = kNothing;
  only.lost_node = true;
  EXPECT_TRUE(next_round(only_on(Nodes::Typed, only), round_with(0), lost));
  EXPECT_TRUE(next_round(only_on(Nodes::Elastic, only), round_with(0), lost));
}

TEST(NextRound, OfAnElasticJobWithOtherNodesUsesUpNoRestart) {
  expect_change(next_round(elastic(), round_with(1, 2), stopped_by(Kind::NodesChange)), "change",
                true);
  expect_change(next_round(elastic(), round_with(1, 2), stopped_by(Kind::Interrupted, 1)), "left");
  EXPECT_TRUE(next_round(elastic(), round_with(kMost), stopped_by(Kind::NodesChange)));
  EXPECT_TRUE(next_round(elastic(), round_with(kMost), stopped_by(Kind::Interrupted, 3)));
}

TEST(NextRound, OfAnElasticJobNeedsSomebodyWhoGoesOn) {
  for (const int level : {0, 1}) {
    EXPECT_FALSE(next_round(elastic(level), round_with(0), stopped_by(Kind::Interrupted, 4)));
    EXPECT_FALSE(next_round(elastic(level), round_with(0), failed({.code = 7}, 4)));
    EXPECT_FALSE(next_round(elastic(level), round_with(0), stopped_by(Kind::NodesChange, 4)));
  }
  EXPECT_TRUE(next_round(elastic(), round_with(0), failed({.code = 7}, 3)));
  EXPECT_FALSE(next_round(elastic(0), round_with(0), failed({.code = 7}, 3)))
      << "the fourth leaves since its trainer failed";
}

TEST(NextRound, AtLevel0TheOthersGoOnWithoutTheNodeThatFailed) {
  expect_change(next_round(elastic(0), round_with(1, 2), kCode7), "code 7");
  EXPECT_TRUE(next_round(elastic(0), round_with(kMost), kCode7)) << "no restart is needed";
  StoppedRound alone = round_with(0);
  alone.nodes = 1;
  EXPECT_FALSE(next_round(elastic(0), alone, kCode7));
  EXPECT_TRUE(next_round(elastic(1), alone, kCode7));
  EXPECT_TRUE(next_round(elastic(0), alone, kAsksForMore)) << "nobody leaves";
}

TEST(LeavesAfterFailure, AtLevel0OfAnElasticJob) {
  EXPECT_TRUE(leaves(elastic(0), kCode7));
  EXPECT_TRUE(leaves(elastic(0), failed({.signal = SIGKILL})));
  EXPECT_FALSE(leaves(elastic(0), kAsksForMore));
  EXPECT_FALSE(leaves(elastic(0), stopped_by(Kind::NodesChange)));
  EXPECT_FALSE(leaves(elastic(0), stopped_by(Kind::PodLost)));
  EXPECT_FALSE(leaves(elastic(1), kCode7));
  RestartRules typed = rules_of(Nodes::Typed);
  typed.level = 0;
  EXPECT_FALSE(leaves(typed, kCode7));
}

// By the verdict, the rule, and what the launcher knows of itself.
TEST(EndOfRound, SaysWhoGoesOnAndWithWhichStatus) {
  struct Row {
    Nodes nodes;
    bool goes_on;
    OwnEnd own;
    int status;
    bool has_next, is_asked_to_end, leaves;
  };
  const OwnEnd nothing{};
  const OwnEnd asked{.ending_signal = SIGTERM};
  const OwnEnd failed_too{.has_failed = true};
  const OwnEnd both{.ending_signal = SIGINT, .has_failed = true};
  const Row rows[] = {
      {Nodes::Fixed, false, nothing, 7, false, false, false},
      {Nodes::Elastic, false, asked, 7, false, false, false},
      {Nodes::Typed, false, failed_too, 7, false, false, false},
      {Nodes::Typed, true, nothing, 7, true, false, false},
      {Nodes::Fixed, true, asked, 143, true, true, false},
      {Nodes::Typed, true, asked, 143, true, true, false},
      {Nodes::Typed, true, failed_too, 1, false, false, false},
      {Nodes::Typed, true, both, 130, true, true, false},
      {Nodes::Elastic, true, nothing, 7, true, false, false},
      {Nodes::Elastic, true, asked, 143, false, false, true},
      {Nodes::Elastic, true, failed_too, 1, false, false, true},
      {Nodes::Elastic, true, both, 130, false, false, true},
  };
  for (const Row& row : rows) {
    JobVerdict verdict = kCode7;
    verdict.first.status = 7;
    if (row.goes_on) verdict.next = NextRound{};
    const RoundEnd end = end_of_round(rules_of(row.nodes), verdict, row.own);
    const auto place = &row - rows;
    EXPECT_EQ(end.status, row.status) << place;
    EXPECT_EQ(end.next.has_value(), row.has_next) << place;
    EXPECT_EQ(end.is_asked_to_end, row.is_asked_to_end) << place;
    EXPECT_EQ(end.leaves, row.leaves) << place;
    EXPECT_EQ(end.verdict == verdict, !row.has_next) << place;
  }
}

}  // namespace
}  // namespace paddle_launch
