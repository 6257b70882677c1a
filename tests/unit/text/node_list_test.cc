// SPDX-License-Identifier: Apache-2.0
#include "launcher/text/node_list.h"

#include <cstdio>
#include <filesystem>
#include <fstream>

#include <gtest/gtest.h>

namespace paddle_launch {
namespace {

using Nodes = std::vector<std::string>;
using Counts = std::vector<int>;

constexpr const char* kLists[] = {"n1",
                                  "n[08-11,3]",
                                  "n[1-3]",
                                  "n[9-10]",
                                  "n[099-101]",
                                  "n[001-3]",
                                  "n[1,1]",
                                  "n1,n1",
                                  "n[1-2],m",
                                  "n1,,n2",
                                  ",n1,",
                                  "n1 n2",
                                  "gpu-a[1-2]b[3-4,6],login-1",
                                  "a[1-2]b[3-4]",
                                  "[1-2]",
                                  "node-1.site.example,node-2.site.example"};

TEST(ExpandNodeList, KeepsTheOrderAndTheZeros) {
  EXPECT_EQ(expand_node_list("n1"), Nodes{"n1"});
  EXPECT_EQ(expand_node_list("n[08-11,3]"), (Nodes{"n08", "n09", "n10", "n11", "n3"}));
  EXPECT_EQ(expand_node_list("n[099-101]"), (Nodes{"n099", "n100", "n101"}));
  EXPECT_EQ(expand_node_list("b,a[2,1],c-1.x"), (Nodes{"b", "a2", "a1", "c-1.x"}));
}

TEST(ExpandNodeList, CountsTheLastOfTwoBracketsFastest) {
  EXPECT_EQ(expand_node_list("a[1-2]b[3-4]"), (Nodes{"a1b3", "a1b4", "a2b3", "a2b4"}));
}

TEST(ExpandNodeList, RefusesWhatIsNoList) {
  for (const char* text :
       {"", ",", "n[", "n[1", "n1]", "n[]", "n[1-]", "n[-1]", "n[3-1]", "n[1-2]x", "n[[1]]", "n[a]",
        "n[1,,2]", "n[1-2-3]", "n[1 - 2]", "n[0-9999999999999999999]", "a[1-2]b[3-4]c[5-6]"}) {
    EXPECT_EQ(expand_node_list(text), std::nullopt) << text;
  }
}

TEST(ExpandNodeList, HasALimit) {
  ASSERT_TRUE(expand_node_list("n[0-65535]"));
  EXPECT_EQ(expand_node_list("n[0-65535]")->back(), "n65535");
  for (const char* text : {"n[0-65536]", "n[0-65535],m", "n[0-65535,0]", "n[0-999]m[0-999]",
                           "n[0-99999999999999999]"}) {
    EXPECT_EQ(expand_node_list(text), std::nullopt) << text;
  }
}

// The lists have no quotes.
Nodes hostnames(const std::string& conf, const std::string& list) {
  const std::string command = "SLURM_CONF='" + conf + "' scontrol show hostnames '" + list + "'";
  FILE* const answer = popen(command.c_str(), "r");
  Nodes nodes;
  char line[256];
  while (answer != nullptr && fgets(line, sizeof line, answer) != nullptr) {
    nodes.emplace_back(line, std::string_view(line).find('\n'));
  }
  if (answer != nullptr) pclose(answer);
  return nodes;
}

TEST(ExpandNodeList, AgreesWithSlurm) {
  const std::string conf = testing::TempDir() + "node_list_slurm.conf";
  std::ofstream(conf) << "ClusterName=test\nSlurmctldHost=localhost\nNodeName=localhost\n"
                         "PartitionName=all Nodes=ALL\n";
  if (hostnames(conf, "n1") != Nodes{"n1"}) GTEST_SKIP() << "no scontrol here";
  for (const char* list : kLists) {
    EXPECT_EQ(expand_node_list(list), hostnames(conf, list)) << list;
  }
  std::filesystem::remove(conf);
}

TEST(ExpandTaskCounts, RepeatsWhatStandsBeforeTheBracket) {
  EXPECT_EQ(expand_task_counts("2(x3),1"), (Counts{2, 2, 2, 1}));
  EXPECT_EQ(expand_task_counts("8"), Counts{8});
  EXPECT_EQ(expand_task_counts("1,2,3(x2)"), (Counts{1, 2, 3, 3}));
}

TEST(ExpandTaskCounts, RefusesWhatIsNoList) {
  for (const char* text : {"", ",", "1,", "x", "2(x3", "2(x)", "2(3)", "(x3)", "2(x3)1", "-1",
                           "2(x-1)", "2(x65537)", "99999999999", "1(x65536),1"}) {
    EXPECT_EQ(expand_task_counts(text), std::nullopt) << text;
  }
  EXPECT_TRUE(expand_task_counts("1(x65536)"));
}

}  // namespace
}  // namespace paddle_launch
