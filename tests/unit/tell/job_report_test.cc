// SPDX-License-Identifier: Apache-2.0
#include "launcher/tell/job_report.h"

#include <csignal>
#include <map>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace paddle_launch {
namespace {

using Kind = StopCause::Kind;
using nlohmann::json;

JobVerdict failed_by_signal() {
  JobVerdict verdict;
  verdict.first = {.kind = Kind::WorkerFailed, .status = 137, .text = "rank 1 failed"};
  verdict.failures = {{.exit = {.pid = 123, .signal = SIGKILL, .core_dumped = true},
                       .rank = 1,
                       .node = "node17",
                       .log_path = "/log/workerlog.1"},
                      {.exit = {.pid = 124, .code = 7}, .role = Role::Server, .rank = 0}};
  verdict.stopped = {{Role::Trainer, 0}};
  return verdict;
}

TEST(JobReport, NamesTheFirstCauseAndAllWhoFailed) {
  const json report = json::parse(job_report(failed_by_signal(), 137, 2));
  EXPECT_EQ(report["status"], 137);
  EXPECT_EQ(report["kind"], "worker_failed");
  EXPECT_EQ(report["text"], "rank 1 failed");
  EXPECT_EQ(report["restarts"], 2);
  const json first = {{"role", "trainer"},
                      {"rank", 1},
                      {"node", "node17"},
                      {"pid", 123},
                      {"code", 0},
                      {"signal", "SIGKILL"},
                      {"signal_number", SIGKILL},
                      {"core_dumped", true},
                      {"log", "/log/workerlog.1"}};
  EXPECT_EQ(report["first"], first);
  ASSERT_EQ(report["failures"].size(), 2U);
  EXPECT_EQ(report["failures"][0], first);
  EXPECT_EQ(report["failures"][1]["role"], "server");
  EXPECT_EQ(report["failures"][1]["signal"], json());
  EXPECT_EQ(report["failures"][1]["log"], json());
  EXPECT_EQ(report["stopped"], json::parse(R"([{"role": "trainer", "rank": 0}])"));
}

TEST(JobReport, OfSuccessHasNoFirstCause) {
  const json report = json::parse(job_report({}, 0, 0));
  EXPECT_EQ(report["kind"], "completed");
  EXPECT_EQ(report["first"], json());
  EXPECT_EQ(report["failures"], json::array());
}

TEST(JobReport, ALostNodeHidesNoFailureButIsTheFirstCause) {
  JobVerdict verdict = failed_by_signal();
  verdict.first.kind = Kind::PodLost;
  verdict.silent = {"node18"};
  const json report = json::parse(job_report(verdict, 75, 0));
  EXPECT_EQ(report["kind"], "node_lost");
  EXPECT_EQ(report["first"], json());
  EXPECT_EQ(report["failures"].size(), 2U);
  EXPECT_EQ(report["silent"], json::parse(R"(["node18"])"));
}

TEST(JobReport, HasAWordForEachWayToEnd) {
  const std::map<Kind, std::string> words = {
      {Kind::Completed, "completed"},           {Kind::WorkerFailed, "worker_failed"},
      {Kind::NotStarted, "not_started"},        {Kind::Interrupted, "interrupted"},
      {Kind::GuardLost, "guard_lost"},          {Kind::PodLost, "node_lost"},
      {Kind::NodesChange, "nodes_changed"},     {Kind::StoppedFromOutside, "stopped_from_outside"},
      {Kind::LauncherFailed, "launcher_failed"}};
  for (const auto& [kind, word] : words) {
    JobVerdict verdict;
    verdict.first.kind = kind;
    EXPECT_EQ(json::parse(job_report(verdict, 1, 0))["kind"], word);
  }
}

TEST(JobReport, NamesWhoProbablyBeganIt) {
  JobVerdict verdict = failed_by_signal();
  verdict.hint = RootCauseHint{.rank = 3, .node = "node18", .log_path = "/log/workerlog.3"};
  EXPECT_EQ(json::parse(job_report(verdict, 137, 0))["suspect"],
            json::parse(R"({"role": "trainer", "rank": 3, "node": "node18",
                            "log": "/log/workerlog.3"})"));
}

TEST(JobReport, BrokenTextStaysJson) {
  JobVerdict verdict = failed_by_signal();
  verdict.first.text = "bad \xff byte";
  EXPECT_TRUE(json::accept(job_report(verdict, 1, 0)));
  EXPECT_TRUE(json::accept(launch_report("launch_failed", 2, "\xc3")));
}

TEST(LaunchReport, HasTheSameKeys) {
  const json job = json::parse(job_report({}, 0, 0));
  const json launch = json::parse(launch_report("launch_failed", 2, "no such file"));
  EXPECT_EQ(launch["kind"], "launch_failed");
  EXPECT_EQ(launch["text"], "no such file");
  for (const auto& [key, value] : job.items()) EXPECT_TRUE(launch.contains(key)) << key;
  EXPECT_EQ(job.size(), launch.size());
}

}  // namespace
}  // namespace paddle_launch
