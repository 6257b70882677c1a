// SPDX-License-Identifier: Apache-2.0
// When a failed job is started again.
#include "launcher/cli/restarts_of_job.h"

#include <csignal>

#include <gtest/gtest.h>

#include "tests/unit/cli/parsing.h"

namespace paddle_launch {
namespace {

using std::chrono::milliseconds;

TEST(RestartsOfJob, AreNoneInAPlainJob) {
  EXPECT_EQ(job_of({"train.py"}).restarts, RestartSpec());
  EXPECT_FALSE(job_of({"train.py"}).has_rounds());
}

TEST(RestartsOfJob, AreWhatTheOptionsSay) {
  const JobSpec job = job_with({"--max_restart=5", "--restart_pause=0.5", "--restart_on=signal"});
  EXPECT_EQ(job.restarts.most, 5);
  EXPECT_EQ(job.restarts.first_pause, milliseconds(500));
  EXPECT_FALSE(job.restarts.on.any_code);
  EXPECT_TRUE(job.restarts.on.any_signal);
  EXPECT_TRUE(job.has_rounds());
  EXPECT_EQ(job_with({"--max_restart=1", "--restart_pause=0"}).restarts.first_pause,
            milliseconds(0));
  EXPECT_EQ(job_of({"train.py"}, {{"PADDLE_MAX_RESTART", "2"}}).restarts.most, 2);
  EXPECT_EQ(job_with({"--server_num=1", "--worker_num=2", "--max_restart=1"}).restarts.most, 1);
}

TEST(RestartsOfJob, AreThreeInAnElasticJob) {
  const Words elastic = {"--elastic_server=a:1", "--job_id=j", "--np=2"};
  const auto most = [&elastic](const Words& more) {
    Words options = elastic;
    options.insert(options.end(), more.begin(), more.end());
    return job_with(options).restarts.most;
  };
  EXPECT_EQ(most({}), 3);
  EXPECT_EQ(most({"--max_restart=0"}), 0);
  EXPECT_EQ(most({"--elastic_level=0"}), 3);
  EXPECT_EQ(most({"--elastic_level=-1"}), 0);
  EXPECT_EQ(most({"--elastic_level=-1", "--max_restart=2"}), 2);
}

TEST(RestartsOfJob, AreNoneWithAFixedNumberInNnodesAsInPaddle) {
  const Words etcd = {"--master=etcd://a:1", "--job_id=j"};
  const auto job = [&etcd](const Words& more) {
    Words options = etcd;
    options.insert(options.end(), more.begin(), more.end());
    return job_with(options);
  };
  EXPECT_EQ(job({"--nnodes=2"}).restarts.most, 0);
  EXPECT_EQ(job({"--nnodes=2"}).elastic->level, -1);
  EXPECT_EQ(job({"--nnodes=2", "--max_restart=2"}).restarts.most, 2);
  EXPECT_EQ(job({"--nnodes=2", "--elastic_level=1"}).restarts.most, 3);
  EXPECT_EQ(job({"--nnodes=2:3"}).restarts.most, 3);
  EXPECT_EQ(job({"--np=2"}).restarts.most, 3);
}

struct CauseRow {
  std::string_view text;
  std::string_view value;
  RestartCauses causes;
};

TEST(ReadRestartCauses, AreThoseOfTheList) {
  for (const CauseRow& row :
       {CauseRow{"any", "any", {}},
        {"any,7", "any,7", {}},
        {"code", "code", {true, {}, false, {}, false}},
        {"signal", "signal", {false, {}, true, {}, false}},
        {"lost_node", "lost_node", {false, {}, false, {}, true}},
        {" 7, 09 ,255", "7,9,255", {false, {7, 9, 255}, false, {}, false}},
        {"SIGKILL,segv", "SIGKILL,SIGSEGV", {false, {}, false, {SIGKILL, SIGSEGV}, false}},
        {"code,7,SIGBUS,lost_node",
         "code,7,SIGBUS,lost_node",
         {true, {}, false, {SIGBUS}, true}}}) {
    const ValueReading reading = read_restart_causes(row.text);
    EXPECT_EQ(reading.problem, "") << row.text;
    EXPECT_EQ(reading.text, row.value);
    EXPECT_EQ(std::get<RestartCauses>(reading.value), row.causes) << row.text;
  }
}

TEST(ReadRestartCauses, RefusesWordsThatAreNoCause) {
  for (const char* const text : {"", "0", "256", "-1", "segfault", "code,", "any code", "SIG"}) {
    const std::string problem = read_restart_causes(text).problem;
    EXPECT_NE(problem.find("it takes"), std::string::npos) << text;
  }
  EXPECT_EQ(usage_error_with({"--restart_on=7,oops"}).find("--restart_on=7,oops is refused"), 0U);
}

}  // namespace
}  // namespace paddle_launch
