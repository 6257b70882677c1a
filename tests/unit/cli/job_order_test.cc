// SPDX-License-Identifier: Apache-2.0
// --status, --scale and --stop.
#include "launcher/cli/job_order.h"

#include <gtest/gtest.h>

#include "tests/unit/cli/parsing.h"

namespace paddle_launch {
namespace {

using Kind = JobOrder::Kind;

Words at_job(const Words& more) {
  Words words = {"--elastic_server=a:1", "--job_id=j"};
  words.insert(words.end(), more.begin(), more.end());
  return words;
}

JobOrder order_of(const Words& words, const Environment& env = {}) {
  return std::get<JobOrder>(command_line_of(words, env));
}

TEST(OrderOfOptions, IsWhatWasAsked) {
  const JobOrder status = order_of(at_job({"--status"}));
  EXPECT_EQ(status.kind, Kind::Status);
  EXPECT_FALSE(status.json);
  EXPECT_EQ(status.job_id, "j");
  EXPECT_EQ(status.etcd.endpoints, Words{"a:1"});
  EXPECT_TRUE(order_of(at_job({"--status=json"})).json);
  EXPECT_EQ(order_of(at_job({"--stop"})).kind, Kind::Stop);
  const JobOrder scale = order_of(at_job({"--scale", "3"}));
  EXPECT_EQ(scale.kind, Kind::Scale);
  EXPECT_EQ(scale.nodes, 3);
}

TEST(OrderOfOptions, FindsTheJobAsTheJobDoes) {
  const Environment env = {{"PADDLE_ELASTIC_SERVER", "b:2"}, {"PADDLE_ELASTIC_JOB_ID", "j2"}};
  EXPECT_EQ(order_of({"--stop"}, env).etcd.endpoints, Words{"b:2"});
  EXPECT_EQ(order_of({"--stop"}, env).job_id, "j2");
  EXPECT_EQ(order_of({"--master=etcd://c:3", "--status"}).job_id, "default");
  EXPECT_EQ(order_of(at_job({"--stop", "--etcd_user=root:x"})).etcd.user, "root");
  const Environment service = {{"PADDLE_ELASTIC_ETCD_SERVICE_HOST", "10.1.2.3"},
                               {"PADDLE_ELASTIC_ETCD_SERVICE_PORT", "2379"}};
  EXPECT_EQ(order_of({"--stop", "--job_id=j"}, service).etcd.endpoints, Words{"10.1.2.3:2379"});
}

TEST(OrderOfOptions, RefusesWhatCannotBeDone) {
  struct Row {
    Words words;
    Words parts;
  };
  for (const Row& row :
       {Row{{"--stop"}, {"--stop: ", "--elastic_server=HOST:PORT", "--job_id=NAME"}},
        {{"--status", "--job_id=j"}, {"--status: ", "--elastic_server=HOST:PORT"}},
        {{"--scale=2", "--elastic_server=a:1"}, {"--elastic_server=a:1: ", "--job_id=NAME"}},
        {{"--stop", "--master=10.0.0.1:1", "--job_id=j"}, {"--stop: ", "--elastic_server="}},
        {at_job({"--scale=0"}), {"--scale=0: ", "--stop"}},
        {at_job({"--scale=-1"}), {"--scale=-1 is refused"}},
        {at_job({"--status=xml"}), {"--status=xml", "text or json"}},
        {at_job({"--stop=now"}), {"--stop=now"}},
        {at_job({"--status", "--stop"}), {"--status and --stop contradict"}},
        {at_job({"--scale=2", "--stop"}), {"--scale=2 and --stop contradict"}},
        {at_job({"--stop", "--np=2"}), {"--stop and --np=2", "leave out --np"}},
        {at_job({"--stop", "train.py"}),
         {"--stop: it acts on a running job", "leave out train.py"}},
        {at_job({"--status", "-m", "pkg"}), {"--status: it acts on a running job", "pkg"}},
        {at_job({"--scale=2", "--np=2", "t.py"}), {"--scale=2: it acts on a running job", "t.py"}},
        {{"--stop", "train.py"}, {"--stop: it acts on a running job"}}}) {
    const std::string text = usage_error_of(row.words);
    for (const std::string& part : row.parts) {
      EXPECT_NE(text.find(part), std::string::npos) << part << " is missing in: " << text;
    }
  }
}

TEST(OrderOfOptions, LetsAScriptPassWithPaddlesDefault) {
  EXPECT_EQ(job_with({"--scale=0"}).mode, Mode::Collective);
  EXPECT_TRUE(job_with(at_job({"--scale=0", "--np=2"})).elastic);
}

}  // namespace
}  // namespace paddle_launch
