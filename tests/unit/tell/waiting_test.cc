// SPDX-License-Identifier: Apache-2.0
#include "launcher/tell/waiting.h"

#include <algorithm>
#include <vector>

#include <gtest/gtest.h>

#include "launcher/tell/columns.h"
#include "tests/unit/tell/has.h"

namespace paddle_launch {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

const WaitingNotice::Time kStart = WaitingNotice::Time{} + seconds(1000);

WaitingFacts two_of_four() {
  return {.missing = 2, .nodes = 4, .names = {"192.168.0.3", "192.168.0.4"}, .waited = seconds(12)};
}

WaitingFacts hub_away() {
  return {.waited = seconds(12), .hub = "192.168.0.1:6060-6069", .last_try = "connection refused"};
}

TEST(WaitingLine, NamesWhoIsMissing) {
  EXPECT_EQ(waiting_line(two_of_four()),
            "waiting for 2 of 4 nodes: 192.168.0.3, 192.168.0.4 (12 s)");
}

TEST(WaitingLine, NamesSixAndCountsTheRest) {
  WaitingFacts facts = two_of_four();
  facts.missing = 23;
  facts.nodes = 64;
  facts.names = {"a", "b", "c", "d", "e", "f", "g"};
  EXPECT_EQ(waiting_line(facts), "waiting for 23 of 64 nodes: a, b, c, d, e, f, … 17 more (12 s)");
  facts.names = {};
  EXPECT_EQ(waiting_line(facts), "waiting for 23 of 64 nodes (12 s)");
}

TEST(WaitingLine, SaysWhatBecameOfTheLastTryToReachTheFirstNode) {
  EXPECT_EQ(waiting_line(hub_away()),
            "waiting for the first node, 192.168.0.1:6060-6069: connection refused (12 s)");
}

TEST(WaitingLine, HasWordsBeforeAndAfterTheCount) {
  EXPECT_EQ(waiting_line({.waited = seconds(2)}), "waiting for the other nodes (2 s)");
  EXPECT_EQ(waiting_line({.nodes = 4, .waited = seconds(2)}), "all 4 nodes have come (2 s)");
}

TEST(WaitingLine, TellsOfAnotherJobAndOfOddThings) {
  WaitingFacts facts = hub_away();
  facts.other_jobs = {"train.py of user bob"};
  facts.odd = {"a launcher of another version at 10.0.0.3"};
  const std::string line = waiting_line(facts);
  EXPECT_TRUE(line.starts_with("waiting for the first node, 192.168.0.1:6060-6069: ")) << line;
  for (const char* const part : {"another job there: train.py of user bob (", "--job_id",
                                 "; a launcher of another version at 10.0.0.3"}) {
    EXPECT_TRUE(has(line, part)) << part << " in: " << line;
  }
  facts.other_jobs = {"a", "b", "c", "d"};
  EXPECT_TRUE(has(waiting_line(facts), "met other jobs there: a, b, c, … 1 more (give all"));
}

TEST(WaitingLine, IsFitForATerminal) {
  WaitingFacts facts = two_of_four();
  facts.names = {"\x1b[2J\nx"};
  facts.other_jobs = facts.odd = {"\x1b]0;\x07"};
  facts.last_try = "\x1b";
  EXPECT_EQ(waiting_line(facts).find_first_of("\x1b\x07\n"), std::string::npos);
}

TEST(NeverCame, SaysWhoWhatWasTriedAndWhatToDo) {
  WaitingFacts facts = two_of_four();
  facts.waited = seconds(900);
  const std::string text = never_came(facts);
  for (const char* part :
       {"2 of 4 nodes did not come within 15 min 0 s: 192.168.0.3, 192.168.0.4",
        "Start the launcher on every node", "--job_id", "firewall", "--bootstrap_timeout"}) {
    EXPECT_TRUE(has(text, part)) << part << " in\n" << text;
  }
}

TEST(NeverCame, ExplainsWhyTheFirstNodeCannotBeReached) {
  WaitingFacts facts = hub_away();
  facts.other_jobs = {"train.py of user bob"};
  const std::string text = never_came(facts);
  for (const char* part :
       {"the first node, 192.168.0.1:6060-6069, was not reached within 12 s", "connection refused",
        "nothing listens", "Met another job there: train.py of user bob",
        "ports 6060-6069 of the first node"}) {
    EXPECT_TRUE(has(text, part)) << part << " in\n" << text;
  }
  facts.last_try = "no route to host";
  EXPECT_TRUE(has(never_came(facts), "ip route get"));
}

TEST(WaitingNotice, SaysNothingInTheFirstSecond) {
  WaitingNotice notice(false);
  EXPECT_EQ(notice.update(two_of_four(), kStart), "");
  EXPECT_EQ(notice.update(two_of_four(), kStart + milliseconds(999)), "");
  EXPECT_EQ(notice.update(two_of_four(), kStart + seconds(1)), waiting_line(two_of_four()));
  EXPECT_EQ(notice.end(), "");
}

TEST(WaitingNotice, RepeatsAfterTenThirtyAndEverySixtySeconds) {
  WaitingNotice notice(false);
  notice.update(two_of_four(), kStart - seconds(1));
  std::vector<long> told;
  WaitingFacts facts = two_of_four();
  for (int second = 0; second <= 280; ++second) {
    facts.waited = seconds(second);
    if (!notice.update(facts, kStart + seconds(second)).empty()) told.push_back(second);
  }
  EXPECT_EQ(told, (std::vector<long>{0, 10, 30, 90, 150, 210, 270}));
}

TEST(WaitingNotice, TellsAChangeAtOnceButNotTwiceASecond) {
  WaitingNotice notice(false);
  notice.update(two_of_four(), kStart - seconds(1));
  notice.update(two_of_four(), kStart);
  WaitingFacts one = two_of_four();
  one.missing = 1;
  one.names = {"192.168.0.4"};
  EXPECT_EQ(notice.update(one, kStart + milliseconds(400)), "");
  EXPECT_EQ(notice.update(one, kStart + seconds(1)), waiting_line(one));
  one.last_try = "no route to host";
  EXPECT_EQ(notice.update(one, kStart + seconds(3)), waiting_line(one));
}

TEST(WaitingNotice, ForgetsAChangeThatWasTakenBack) {
  WaitingNotice notice(false);
  notice.update(two_of_four(), kStart - seconds(1));
  notice.update(two_of_four(), kStart);
  notice.update(hub_away(), kStart + milliseconds(400));
  EXPECT_EQ(notice.update(two_of_four(), kStart + seconds(1)), "");
}

TEST(WaitingNotice, RenewsOneLineOnATerminal) {
  WaitingNotice notice(true, 80);
  EXPECT_EQ(notice.update(two_of_four(), kStart), "");
  EXPECT_EQ(notice.end(), "") << "nothing is there to be taken off";
  EXPECT_EQ(notice.update(two_of_four(), kStart + seconds(1)),
            "\r" + waiting_line(two_of_four()) + "\x1b[K");
  EXPECT_EQ(notice.update(two_of_four(), kStart + milliseconds(1999)), "");
  EXPECT_NE(notice.update(two_of_four(), kStart + seconds(2)), "");
  EXPECT_EQ(notice.end(), "\r\x1b[K");
  EXPECT_EQ(notice.end(), "");
  EXPECT_NE(notice.update(two_of_four(), kStart + seconds(3)), "");
}

std::string shown(int width, const WaitingFacts& facts) {
  WaitingNotice notice(true, width);
  notice.update(facts, kStart);
  const std::string text = notice.update(facts, kStart + seconds(1));
  return text.substr(1, text.size() - 4);
}

TEST(WaitingNotice, FitsTheTerminalAndKeepsTheSeconds) {
  WaitingFacts facts = two_of_four();
  facts.missing = 6;
  facts.nodes = 8;
  facts.names = std::vector<std::string>(6, "192.168.100.100");
  EXPECT_EQ(shown(80, facts),
            "waiting for 6 of 8 nodes: 192.168.100.100, 192.168.100.100, … 4 more (12 s)");
  EXPECT_EQ(shown(0, facts), shown(80, facts));
  EXPECT_EQ(shown(20, facts), "waiting for 6 of 8…");
  facts.names = {"a\tb"};
  EXPECT_LE(columns(shown(40, facts)), 39U);
  EXPECT_FALSE(has(shown(200, facts), "\t"));
}

TEST(WaitingNotice, GivesARemarkOnATerminalALineThatStays) {
  WaitingNotice notice(true, 80);
  WaitingFacts facts = two_of_four();
  facts.other_jobs = {"train.py of user bob"};
  notice.update(facts, kStart);
  EXPECT_EQ(notice.update(facts, kStart + seconds(1)),
            "\rmet another job there: train.py of user bob (give both the same --job_id to make "
            "them one)\x1b[K\n\r" +
                waiting_line(two_of_four()) + "\x1b[K");
  EXPECT_FALSE(has(notice.update(facts, kStart + seconds(2)), "bob"));
}

TEST(WaitingNotice, LetsNoStrangerFillTheTerminal) {
  WaitingNotice notice(true, 80);
  WaitingFacts facts = two_of_four();
  notice.update(facts, kStart);
  long lines = 0;
  for (int second = 1; second < 100; ++second) {
    facts.odd = {"remark " + std::to_string(second)};
    const std::string text = notice.update(facts, kStart + seconds(second));
    lines += std::count(text.begin(), text.end(), '\n');
  }
  EXPECT_EQ(lines, 8);
}

}  // namespace
}  // namespace paddle_launch
