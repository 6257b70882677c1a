// SPDX-License-Identifier: Apache-2.0
#include "launcher/tell/check_table.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <stdexcept>

#include <gtest/gtest.h>

#include "tests/unit/tell/has.h"

namespace paddle_launch {
namespace {

LinkCheck all_good(int nodes) {
  LinkCheck check;
  for (int i = 0; i < nodes; ++i) {
    check.nodes.push_back({.host = "10.0.0." + std::to_string(i + 1),
                           .machine = "node" + std::to_string(i + 1),
                           .trainers = 8,
                           .cards = 8,
                           .wall_clock = {.ms = 0.25 * i, .error_ms = 0.1}});
    for (int to = 0; to < nodes; ++to) {
      if (to != i) check.tries.push_back({.from = i, .to = to, .port = 6170, .ms = 0.21});
    }
  }
  return check;
}

LinkTry& link(LinkCheck& check, int from, int to) {
  for (LinkTry& one : check.tries) {
    if (one.from == from && one.to == to) return one;
  }
  throw std::out_of_range("no such link");
}

TEST(CheckTable, CountsProcessesOfAJobWithServers) {
  LinkCheck check = all_good(2);
  for (CheckedNode& node : check.nodes) node.trainers = node.cards = 0;
  check.nodes[0].processes = 3;
  check.nodes[1].processes = 1;
  EXPECT_TRUE(has(check_table(check), "   0  10.0.0.1  node1  3 processes  clock"))
      << check_table(check);
  EXPECT_TRUE(has(check_table(check), "   1  10.0.0.2  node2  1 process    clock"));
}

TEST(CheckTable, ShowsEveryPairOfAFewNodes) {
  LinkCheck check = all_good(3);
  check.nodes[2].cards = 0;
  check.nodes[2].trainers = 1;
  link(check, 2, 0).ms = 0.434;
  link(check, 0, 1).ms = 0.3;
  link(check, 1, 2).ms = 0.4;
  EXPECT_EQ(check_table(check),
            "nodes:\n"
            "   0  10.0.0.1  node1  8 cards    clock +0.0 ± 0.1 ms\n"
            "   1  10.0.0.2  node2  8 cards    clock +0.2 ± 0.1 ms\n"
            "   2  10.0.0.3  node3  1 trainer  clock +0.5 ± 0.1 ms\n"
            "milliseconds until connected, from (down) to (across):\n"
            "          0      1      2\n"
            "   0      -   0.30   0.21\n"
            "   1   0.21      -   0.40\n"
            "   2   0.43   0.21      -\n"
            "all 6 links work, the slowest took 0.43 ms (10.0.0.3 -> 10.0.0.1)\n");
  EXPECT_EQ(check_status(check), 0);
}

TEST(CheckTable, NamesEachFailedPairWithPortReasonAndRemedy) {
  LinkCheck check = all_good(4);
  link(check, 0, 2).problem = "no route to host";
  link(check, 3, 1).problem = "connection refused";
  link(check, 3, 1).port = 6171;
  const std::string text = check_table(check);
  for (const char* part :
       {"   0      -   0.21   FAIL   0.21\n",
        "   0 -> 2: 10.0.0.1 -> 10.0.0.3, port 6170: no route to host\n",
        "   3 -> 1: 10.0.0.4 -> 10.0.0.2, port 6171: connection refused\n", "what to do:\n",
        "ip route get", "a firewall rejects", "ports 6170-6171", "administrator"}) {
    EXPECT_TRUE(has(text, part)) << part << " in\n" << text;
  }
  EXPECT_TRUE(text.ends_with("\n2 of 12 links failed\n")) << text;
  EXPECT_EQ(check_status(check), 1);
}

TEST(CheckTable, GivesEachRemedyOnce) {
  LinkCheck check = all_good(4);
  for (LinkTry& one : check.tries) one.problem = "no answer in 5 s";
  const std::string text = check_table(check);
  EXPECT_EQ(text.find("a firewall drops"), text.rfind("a firewall drops"));
}

TEST(CheckTable, ShowsOnlyWhatMattersOfManyNodes) {
  LinkCheck check = all_good(17);
  link(check, 16, 0).ms = 250.4;
  std::string text = check_table(check);
  EXPECT_FALSE(has(text, "nodes:\n"));
  EXPECT_TRUE(has(text, "the slowest:\n  16 -> 0: 10.0.0.17 -> 10.0.0.1, port 6170: 250 ms\n"));
  EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 1 + 5 + 1) << text;
  EXPECT_TRUE(has(text, "all 272 links work, the slowest took 250 ms (10.0.0.17 -> 10.0.0.1)\n"));
  for (LinkTry& one : check.tries) one.problem = "connection refused";
  text = check_table(check);
  EXPECT_TRUE(has(text, "     … 222 more\n"));
  EXPECT_TRUE(text.ends_with("272 of 272 links failed\n"));
}

TEST(CheckTable, WarnsOfClocksThatAreMoreThanASecondApart) {
  LinkCheck check = all_good(3);
  EXPECT_FALSE(has(check_table(check), "warning"));
  check.nodes[1].wall_clock.ms = 600;
  check.nodes[2].wall_clock.ms = -600;
  const std::string text = check_table(check);
  EXPECT_TRUE(has(text,
                  "warning: the wall clocks differ by 1.2 s (10.0.0.2 +0.6 s, 10.0.0.3 -0.6 s): "
                  "the times in the logs"))
      << text;
  EXPECT_EQ(check_status(check), 0);
  check.nodes[2].wall_clock.error_ms = 300;
  EXPECT_FALSE(has(check_table(check), "warning")) << "within what the measuring can be wrong";
}

TEST(CheckTable, TellsOfNodesThatWereLostMeanwhile) {
  LinkCheck check = all_good(3);
  std::erase_if(check.tries, [](const LinkTry& one) { return one.from == 2; });
  check.silent = {2};
  const std::string text = check_table(check);
  for (const char* part : {"node3  8 cards  lost during the check\n", "   2      ?      ?      -\n",
                           "lost during the check: 10.0.0.3\n",
                           "2 of 6 links not tried; 1 node lost during the check\n"}) {
    EXPECT_TRUE(has(text, part)) << part << " in\n" << text;
  }
  EXPECT_EQ(check_status(check), 75);
}

TEST(CheckTable, IsNotImpressedByWhatCannotBe) {
  LinkCheck check = all_good(2);
  check.nodes[0].host = "\x1b[2J\nall is well";
  check.nodes[1].wall_clock = {.ms = std::nan(""), .error_ms = 1e300};
  check.tries[0].ms = std::nan("");
  check.tries[1].ms = -std::numeric_limits<double>::infinity();
  check.tries.push_back({.from = -1, .to = 7});
  check.tries.push_back({.from = 1, .to = 1});
  check.tries.push_back({.from = 1, .to = 0, .problem = "no\nway\x1b"});
  check.silent = {-4, 99};
  const std::string text = check_table(check);
  EXPECT_EQ(text.find('\x1b'), std::string::npos);
  EXPECT_TRUE(has(text, "1 of 2 links failed")) << text;
  EXPECT_FALSE(has(text, "\nall is well"));
}

TEST(CheckTable, HasWordsForOneNodeAndForNone) {
  EXPECT_TRUE(has(check_table(all_good(1)), "there is no other node"));
  EXPECT_TRUE(has(check_table({}), "there is no other node"));
  EXPECT_EQ(check_status(all_good(1)), 0);
}

}  // namespace
}  // namespace paddle_launch
