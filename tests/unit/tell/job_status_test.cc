// SPDX-License-Identifier: Apache-2.0
#include "launcher/tell/job_status.h"

#include <limits>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "tests/unit/tell/has.h"

namespace paddle_launch {
namespace {

constexpr std::int64_t kNow = 1'700'003'720;

JobStatus running() {
  return {.job_id = "job1",
          .wanted = "2:4",
          .created = kNow - 3720,
          .hub = "10.0.0.1",
          .is_running = true,
          .round = {.number = 3, .restarts = 1},
          .round_started = kNow - 12,
          .nodes = {
              {.host = "10.0.0.1", .machine = "n1", .pid = 1234, .first_rank = 0, .trainers = 4},
              {.host = "10.0.0.12", .machine = "n12", .pid = 1311, .first_rank = 4, .trainers = 1},
              {.host = "10.0.0.3", .machine = "n3", .pid = 99}}};
}

TEST(JobStatus, ShowsTheRoundAndWhoTakesPart) {
  EXPECT_EQ(job_status(running(), kNow),
            "job     job1, up 1 h 2 min, 2:4 nodes wanted\n"
            "round   3, running for 12 s, restarts used 1; held together by 10.0.0.1\n"
            "node       rank     pid   host name\n"
            "10.0.0.1   0-3      1234  n1\n"
            "10.0.0.12  4        1311  n12\n"
            "10.0.0.3   waiting  99    n3\n");
}

TEST(JobStatus, SaysThatNoRoundHasBegun) {
  const JobStatus status{.job_id = "job1",
                         .wanted = "1",
                         .created = kNow,
                         .nodes = {{.host = "10.0.0.1", .machine = "n1", .pid = 7}}};
  EXPECT_EQ(job_status(status, kNow),
            "job     job1, up 0 s, 1 node wanted\n"
            "round   none yet: waiting for nodes\n"
            "node      rank     pid  host name\n"
            "10.0.0.1  waiting  7    n1\n");
}

TEST(JobStatus, BetweenRoundsEverybodyWaits) {
  JobStatus status = running();
  status.is_running = false;
  const std::string text = job_status(status, kNow);
  EXPECT_TRUE(has(text, "round   none now: waiting for nodes, restarts used 1\n")) << text;
  EXPECT_TRUE(has(text, "10.0.0.1   waiting  1234  n1\n")) << text;
}

TEST(JobStatus, WhatIsNotKnownIsADash) {
  JobStatus status = running();
  status.hub.clear();
  status.nodes = {{.host = "10.0.0.1", .first_rank = 0, .trainers = 4}};
  const std::string text = job_status(status, kNow);
  EXPECT_TRUE(has(text, "restarts used 1\n")) << text;
  EXPECT_TRUE(has(text, "10.0.0.1  0-3   -    -\n")) << text;
}

TEST(JobStatus, ClocksThatDifferMakeNoNegativeTimes) {
  JobStatus status = running();
  status.created = kNow + 100;
  status.round_started = std::numeric_limits<std::int64_t>::max();
  const std::string text = job_status(status, kNow);
  EXPECT_TRUE(has(text, "job1, up 0 s,")) << text;
  EXPECT_TRUE(has(text, "running for 0 s,")) << text;
}

TEST(JobStatus, LargeNumbersOfTrainersDoNotOverflow) {
  JobStatus status = running();
  const int most = std::numeric_limits<int>::max();
  status.nodes = {{.host = "a", .first_rank = most, .trainers = most}};
  EXPECT_TRUE(has(job_status(status, kNow), "2147483647-4294967293"));
}

JobStatus with_control_characters() {
  JobStatus status = running();
  status.job_id = "job\x1b[2J";
  status.wanted = "2\r";
  status.hub = "a\nround   9";
  status.nodes[0].host = "h\x7f";
  status.nodes[1].machine = "m\xc2\x9b\xff";
  return status;
}

void expect_no_control_characters(const std::string& text) {
  for (const char byte : text) {
    EXPECT_FALSE((byte < ' ' && byte >= 0 && byte != '\n') || byte == '\x7f') << text;
  }
  EXPECT_FALSE(has(text, "\xc2\x9b")) << text;
}

TEST(JobStatus, ControlCharactersDoNotReachTheTerminal) {
  const std::string text = job_status(with_control_characters(), kNow);
  expect_no_control_characters(text);
  EXPECT_TRUE(has(text, "held together by a round   9\n")) << text;
  expect_no_control_characters(job_status_json(with_control_characters(), kNow));
}

TEST(JobStatusJson, IsOneObjectAndANewline) {
  const std::string text = job_status_json(running(), kNow);
  EXPECT_EQ(text.back(), '\n');
  const auto whole = nlohmann::json::parse(text);
  EXPECT_EQ(whole["job_id"], "job1");
  EXPECT_EQ(whole["wanted"], "2:4");
  EXPECT_EQ(whole["created"], kNow - 3720);
  EXPECT_EQ(whole["seconds"], 3720);
  EXPECT_EQ(whole["running"], true);
  EXPECT_EQ(whole["hub"], "10.0.0.1");
  EXPECT_EQ(whole["round"], (nlohmann::json{{"number", 3},
                                            {"restarts", 1},
                                            {"quick_failures", 0},
                                            {"started", kNow - 12},
                                            {"seconds", 12}}));
  ASSERT_EQ(whole["nodes"].size(), 3U);
  EXPECT_EQ(whole["nodes"][1], (nlohmann::json{{"host", "10.0.0.12"},
                                               {"machine", "n12"},
                                               {"pid", 1311},
                                               {"waiting", false},
                                               {"first_rank", 4},
                                               {"trainers", 1}}));
  EXPECT_EQ(whole["nodes"][2]["waiting"], true);
  EXPECT_TRUE(whole["nodes"][2]["first_rank"].is_null());
}

TEST(JobStatusJson, HasNoRoundBeforeTheFirst) {
  const auto whole = nlohmann::json::parse(job_status_json({.job_id = "j"}, kNow));
  EXPECT_TRUE(whole["round"].is_null());
  EXPECT_EQ(whole["running"], false);
  EXPECT_EQ(whole["nodes"], nlohmann::json::array());
}

TEST(JobStatusJson, TakesAnyBytes) {
  JobStatus status = running();
  status.nodes[0].machine = "\xff\xc3\xa9";
  const auto whole = nlohmann::json::parse(job_status_json(status, kNow));
  EXPECT_EQ(whole["nodes"][0]["machine"], "\xef\xbf\xbd\xc3\xa9");
}

}  // namespace
}  // namespace paddle_launch
