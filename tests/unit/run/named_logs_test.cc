// SPDX-License-Identifier: Apache-2.0
#include <filesystem>
#include <fstream>

#include <gtest/gtest.h>

#include "launcher/job/errors.h"
#include "launcher/run/log_directory.h"
#include "launcher/site/log_place.h"
#include "tests/unit/temp_folder.h"

namespace paddle_launch {
namespace {

namespace fs = std::filesystem;

class NamedLogDirectory : public testing::Test {
 protected:
  TempFolder temp_;
  fs::path parent_ = temp_.path() / "log";
};

TEST_F(NamedLogDirectory, HasDateTimeAndScript) {
  const std::string name = name_for_logs("some/where/train one.py", 1'660'741'502);
  EXPECT_EQ(name.size(), std::string("20220817-130502-train_one").size());
  EXPECT_TRUE(name.ends_with("-train_one")) << name;
  EXPECT_TRUE(is_name_for_logs(name));
  EXPECT_TRUE(name_for_logs("", 0).ends_with("-job"));
}

TEST_F(NamedLogDirectory, OfAnotherNodeIsNoPath) {
  for (const char* name : {"", ".", "..", "../up", "a/b", ".hidden", "new\nline", "blank here"}) {
    EXPECT_FALSE(is_name_for_logs(name)) << name;
  }
  EXPECT_FALSE(is_name_for_logs(std::string(300, 'x')));
}

TEST_F(NamedLogDirectory, IsNeverOneThatWasThere) {
  EXPECT_EQ(make_named_logs(parent_, "name"), "name");
  EXPECT_EQ(make_named_logs(parent_, "name"), "name-2");
  EXPECT_EQ(make_named_logs(parent_, "name"), "name-3");
  EXPECT_TRUE(fs::is_directory(parent_ / "name-3"));
}

TEST_F(NamedLogDirectory, ThatCannotBeMadeIsWrongUse) {
  std::ofstream(parent_) << "a file";
  EXPECT_THROW(make_named_logs(parent_, "name"), UsageError);
}

TEST_F(NamedLogDirectory, IsTheSameForAllPodsAndInAllRounds) {
  JobSpec job;
  job.script.name = "train.py";
  job.log_dir = kNamedLogs;
  NamedLogs of_first(job);
  NamedLogs of_other(job);
  const std::string name = of_first.name_for_all(parent_);
  EXPECT_EQ(of_first.name_for_all(parent_), name);
  std::string log_dir = "/other/log";
  of_other.take(name, log_dir);
  EXPECT_EQ(log_dir, "/other/log/" + name);
  of_other.take("of-another-round", log_dir);
  EXPECT_EQ(log_dir, "/other/log/" + name);
  EXPECT_EQ(of_other.name_for_all("/other/log"), name) << "when it leads the job later";
}

TEST_F(NamedLogDirectory, IsThePodsOwnWhereTheFirstPodsNameIsAPath) {
  JobSpec job;
  job.script.name = "train.py";
  job.log_dir = kNamedLogs;
  std::string log_dir = "/log";
  NamedLogs(job).take("../../etc", log_dir);
  EXPECT_TRUE(log_dir.ends_with("-train")) << log_dir;
  EXPECT_EQ(log_dir.find(".."), std::string::npos);
}

TEST_F(NamedLogDirectory, IsNotMadeWhereNobodyAskedForIt) {
  JobSpec job;
  job.log_dir = "log";
  NamedLogs logs(job);
  EXPECT_EQ(logs.name_for_all(parent_), "");
  std::string log_dir = "/log";
  logs.take("name", log_dir);
  logs.assume(log_dir);
  EXPECT_EQ(log_dir, "/log");
}

TEST_F(NamedLogDirectory, LatestIsReplacedWhereItIsALinkOnly) {
  for (const char* name : {"one", "two"}) {
    fs::create_directories(parent_ / name);
    EXPECT_FALSE(point_latest_to(parent_ / name));
    EXPECT_EQ(fs::read_symlink(parent_ / "latest"), name);
    EXPECT_TRUE(fs::is_empty(parent_ / name));
  }
  fs::remove(parent_ / "latest");
  std::ofstream(parent_ / "latest") << "mine";
  EXPECT_TRUE(point_latest_to(parent_ / "one"));
  EXPECT_TRUE(fs::is_regular_file(parent_ / "latest"));
  fs::remove(parent_ / "latest");
  fs::create_directory(parent_ / "latest");
  EXPECT_TRUE(point_latest_to(parent_ / "one"));
  EXPECT_TRUE(fs::is_directory(fs::symlink_status(parent_ / "latest")));
}

}  // namespace
}  // namespace paddle_launch
