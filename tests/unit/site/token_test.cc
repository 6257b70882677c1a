// SPDX-License-Identifier: Apache-2.0
#include <sys/stat.h>
#include <unistd.h>

#include <cstdio>

#include <gtest/gtest.h>

#include "launcher/job/errors.h"
#include "launcher/site/credentials.h"
#include "tests/unit/site/fake_root.h"

namespace paddle_launch {
namespace {

const std::string kSecret = "0123456789abcdef";

class TokenTest : public testing::Test {
 protected:
  std::string file(const std::string& content, mode_t mode = 0600,
                   const std::string& name = "token") const {
    root_.write(name, content);
    const std::string path = root_.path() + "/" + name;
    EXPECT_EQ(chmod(path.c_str(), mode), 0);
    return path;
  }

  const std::string& root() const { return root_.path(); }

 private:
  FakeRoot root_;
};

JobSpec with_file(const std::string& path) {
  JobSpec job;
  job.token_file = path;
  return job;
}

JobSpec with_variable(const std::string& token) {
  JobSpec job;
  job.token = token;
  return job;
}

std::string refusal(const JobSpec& job, const Environment& env = {}) {
  try {
    return "no refusal: " + find_token(job, env).source;
  } catch (const UsageError& error) {
    return error.what();
  }
}

bool says(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos && !text.starts_with("no refusal");
}

TEST_F(TokenTest, TheOptionBeatsTheVariableAndThatTheUsersFile) {
  const Environment env{{"HOME", root()}};
  EXPECT_EQ(find_token({}, env), (Token{"", ""}));
  const auto usual = file("usual-usual-usual", 0600, ".config/paddle-launch/token");
  EXPECT_EQ(find_token({}, env), (Token{"usual-usual-usual", usual}));
  JobSpec job = with_variable("variable-variable");
  EXPECT_EQ(find_token(job, env), (Token{"variable-variable", "PADDLE_LAUNCH_TOKEN"}));
  job.token_file = file("option-option-option\n");
  EXPECT_EQ(find_token(job, env),
            (Token{"option-option-option", "--token_file=" + *job.token_file}));
}

TEST_F(TokenTest, TheUsersFileIsWhereXdgSays) {
  const auto path = file(kSecret, 0400, "settings/paddle-launch/token");
  const Environment env{{"HOME", root()}, {"XDG_CONFIG_HOME", root() + "/settings"}};
  EXPECT_EQ(find_token({}, env).source, path);
  EXPECT_EQ(find_token({}, {{"HOME", root()}, {"XDG_CONFIG_HOME", "settings"}}).source, "");
  EXPECT_EQ(find_token({}, {}).source, "");
}

TEST_F(TokenTest, AUsersFileThatOthersReadIsRefusedToo) {
  const auto path = file(kSecret, 0640, ".config/paddle-launch/token");
  EXPECT_TRUE(says(refusal({}, {{"HOME", root()}}), path + ": its mode is 0640"));
}

TEST_F(TokenTest, TrailingWhiteSpaceIsNoPartOfTheSecret) {
  EXPECT_EQ(find_token(with_file(file(kSecret + " \r\n\n")), {}).secret, kSecret);
  EXPECT_EQ(find_token(with_variable(kSecret + "\n"), {}).secret, kSecret);
}

TEST_F(TokenTest, AFileThatOthersMayReadIsRefusedWithItsModeAndTheRemedy) {
  for (const mode_t mode : {0644U, 0604U, 0620U, 0610U}) {
    const auto path = file(kSecret, mode);
    const auto text = refusal(with_file(path));
    char shown[8];
    std::snprintf(shown, sizeof shown, "%04o", mode);
    EXPECT_TRUE(says(text, "--token_file=" + path + ": its mode is " + shown)) << text;
    EXPECT_TRUE(says(text, "chmod 600 " + path)) << text;
    EXPECT_FALSE(says(text, kSecret)) << text;
  }
}

TEST_F(TokenTest, AFileOfSomebodyElseIsRefused) {
  if (geteuid() != 0) GTEST_SKIP() << "only root can give a file away";
  const auto path = file(kSecret);
  ASSERT_EQ(chown(path.c_str(), 12345, 12345), 0);
  const auto text = refusal(with_file(path));
  EXPECT_TRUE(says(text, "the file belongs to user id 12345, not to root")) << text;
}

TEST_F(TokenTest, OnlyItsLengthIsToldOfATokenThatCouldBeGuessed) {
  const auto path = file("short\n");
  const auto text = refusal(with_file(path));
  EXPECT_TRUE(says(text, "the token has 5 bytes, and 16 to 4096 are needed")) << text;
  EXPECT_TRUE(says(text, "openssl rand -hex 32 > " + path)) << text;
  EXPECT_FALSE(says(text, "short")) << text;
  const auto variable = refusal(with_variable("hunter2"));
  EXPECT_TRUE(says(variable, "PADDLE_LAUNCH_TOKEN: the token has 7 bytes")) << variable;
  EXPECT_FALSE(says(variable, "hunter2")) << variable;
  EXPECT_TRUE(says(refusal(with_variable("")), "the token has 0 bytes"));
  EXPECT_TRUE(says(refusal(with_file(file(std::string(100, ' ')))), "the token has 0 bytes"));
}

TEST_F(TokenTest, FourThousandBytesAreTheMost) {
  const std::string longest(4096, 'x');
  EXPECT_EQ(find_token(with_file(file(longest)), {}).secret, longest);
  EXPECT_EQ(find_token(with_file(file(longest + "\n")), {}).secret, longest);
  EXPECT_TRUE(says(refusal(with_file(file(longest + "x"))), "too many"));
  EXPECT_TRUE(says(refusal(with_file(file(longest + "\nmore"))), "too many"));
  EXPECT_TRUE(says(refusal(with_variable(longest + "x")), "too many"));
}

TEST_F(TokenTest, WhatIsNoRegularFileIsRefusedWithoutWaiting) {
  const std::string fifo = root() + "/fifo";
  ASSERT_EQ(mkfifo(fifo.c_str(), 0600), 0);
  for (const auto& path : {fifo, root(), std::string("/dev/null")}) {
    const auto text = refusal(with_file(path));
    EXPECT_TRUE(says(text, path + ": this is not a regular file")) << text;
  }
}

TEST_F(TokenTest, ASymbolicLinkIsFollowedToTheFileThatCounts) {
  const std::string link = root() + "/link";
  ASSERT_EQ(symlink(file(kSecret).c_str(), link.c_str()), 0);
  EXPECT_EQ(find_token(with_file(link), {}).secret, kSecret);
  file(kSecret, 0644);
  EXPECT_TRUE(says(refusal(with_file(link)), "its mode is 0644"));
}

TEST_F(TokenTest, AFileThatIsNotThereIsRefusedWhenItWasNamed) {
  const auto text = refusal(with_file(root() + "/absent"));
  EXPECT_TRUE(says(text, "/absent: cannot open the token file: No such file")) << text;
  EXPECT_TRUE(says(text, "`paddle-launch --make_token --token_file=" + root() + "/absent`"))
      << text;
}

TEST_F(TokenTest, IsMadeWhereLaunchersLookForIt) {
  const Environment env{{"HOME", root() + "/home"}};
  const std::string told = make_token({}, env);
  const std::string path = root() + "/home/.config/paddle-launch/token";
  EXPECT_EQ(told.find(path + ": a new token"), 0U) << told;
  EXPECT_NE(told.find("ssh NODE 'umask 077; mkdir -p "), std::string::npos) << told;
  const Token made = find_token({}, env);
  EXPECT_EQ(made.source, path);
  EXPECT_EQ(made.secret.size(), 64U);
  EXPECT_EQ(told.find(made.secret), std::string::npos) << "shown";
  EXPECT_EQ(make_token({}, env).find(path + ": a token is there already"), 0U);
  EXPECT_EQ(find_token({}, env), made) << "it stays as it is";
}

TEST_F(TokenTest, IsMadeInTheFileThatIsNamed) {
  const std::string path = root() + "/it is here";
  const std::string told = make_token(path, {});
  EXPECT_NE(told.find("--token_file='" + path + "'"), std::string::npos) << told;
  EXPECT_EQ(find_token(with_file(path), {}).secret.size(), 64U);
  const std::string other = root() + "/other";
  make_token(other, {});
  EXPECT_NE(find_token(with_file(path), {}).secret, find_token(with_file(other), {}).secret);
}

TEST_F(TokenTest, IsNotMadeInThePlaceOfSomethingElse) {
  EXPECT_THROW(make_token({}, {}), UsageError) << "nobody says where";
  EXPECT_THROW(make_token(file(kSecret, 0644), {}), UsageError);
  EXPECT_THROW(make_token(file("short"), {}), UsageError);
  EXPECT_THROW(make_token("/proc/none/token", {}), UsageError);
}

TEST(UserName, IsNeverEmpty) {
  EXPECT_NE(user_name(), "");
  EXPECT_TRUE(geteuid() != 0 || user_name() == "root");
}

}  // namespace
}  // namespace paddle_launch
