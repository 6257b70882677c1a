// SPDX-License-Identifier: Apache-2.0
// How the launcher gets into etcd, and that nobody is shown the password.
#include "launcher/cli/etcd_of_options.h"

#include <gtest/gtest.h>

#include "tests/unit/cli/parsing.h"

namespace paddle_launch {
namespace {

Words elastic_at(const std::string& server, const Words& more = {}) {
  Words options = {"--elastic_server=" + server, "--job_id=j", "--np=2"};
  options.insert(options.end(), more.begin(), more.end());
  return options;
}

EtcdSpec etcd_with(const Words& more, const Environment& env = {}) {
  return job_with(elastic_at("a:1", more), env).elastic->etcd;
}

TEST(EtcdOfOptions, UsesTlsWhereItIsAskedFor) {
  EXPECT_FALSE(etcd_with({}).tls);
  EXPECT_FALSE(job_with(elastic_at("http://a:1")).elastic->etcd.tls);
  EXPECT_TRUE(job_with(elastic_at("https://a:1")).elastic->etcd.tls);
  EXPECT_EQ(job_with(elastic_at("https://a:1,b:2")).elastic->etcd.endpoints, (Words{"a:1", "b:2"}));
  EXPECT_TRUE(etcd_with({"--etcd_cacert=ca.pem"}).tls);
  const EtcdSpec etcd = etcd_with({"--etcd_cert=c.pem", "--etcd_key=k.pem"});
  EXPECT_TRUE(etcd.tls);
  EXPECT_EQ(etcd.cert, "c.pem");
  EXPECT_EQ(etcd.key, "k.pem");
  EXPECT_TRUE(
      job_with({"--master=etcd://a:1", "--nnodes=2", "--etcd_cacert=ca"}).elastic->etcd.tls);
}

TEST(EtcdOfOptions, TakesThePasswordFromTheOptionOrTheVariable) {
  const Environment env = {{"PADDLE_ETCD_PASSWORD", "swordfish"}};
  EXPECT_EQ(etcd_with({"--etcd_user=root"}, env).user, "root");
  EXPECT_EQ(etcd_with({"--etcd_user=root"}, env).password, "swordfish");
  EXPECT_EQ(etcd_with({"--etcd_user=root:a:b"}).password, "a:b");
  EXPECT_EQ(etcd_with({"--etcd_user=root:"}).password, "");
  EXPECT_EQ(etcd_with({}, {{"PADDLE_ETCD_USER", "u:p"}}).user, "u");
  EXPECT_EQ(etcd_with({}, {{"PADDLE_ETCD_USER", "u:p"}}).password, "p");
  EXPECT_EQ(etcd_with({}, env).user, "");
}

TEST(EtcdOfOptions, NeverShowsThePassword) {
  Words words = elastic_at("a:1", {"--etcd_user=root:swordfish"});
  words.emplace_back("train.py");
  const ParsedCommandLine line =
      parsed(words, {{"PADDLE_ETCD_USER", "u:herring"}, {"PADDLE_ETCD_PASSWORD", "cod"}});
  ASSERT_EQ(line.warnings.size(), 3U);
  Words texts = line.warnings;
  texts.push_back(usage_error_with({"--etcd_user=root:swordfish"}));
  texts.push_back(usage_error_with({"--etcd_user=:swordfish"}));
  texts.push_back(usage_error_of({"t.py"}, {{"PADDLE_ETCD_USER", ":herring"}}));
  for (const std::string& text : texts) {
    for (const char* const secret : {"swordfish", "herring", "cod"}) {
      EXPECT_EQ(text.find(secret), std::string::npos) << text;
    }
  }
}

TEST(EtcdOfOptions, WarnsOfAPasswordThatWasTyped) {
  Words words = elastic_at("a:1", {"--etcd_user=root:swordfish"});
  words.emplace_back("train.py");
  const ParsedCommandLine typed = parsed(words);
  ASSERT_EQ(typed.warnings.size(), 1U);
  EXPECT_NE(typed.warnings.front().find("PADDLE_ETCD_PASSWORD"), std::string::npos);
  Words plain = elastic_at("a:1");
  plain.emplace_back("train.py");
  EXPECT_TRUE(parsed(plain, {{"PADDLE_ETCD_USER", "u:p"}}).warnings.empty());
}

TEST(EtcdOfOptions, RefusesHalves) {
  for (const ErrorRow& row :
       {ErrorRow{elastic_at("a:1", {"--etcd_cert=c"}), {"--etcd_cert=c: ", "--etcd_key=FILE"}},
        {elastic_at("a:1", {"--etcd_key=k"}), {"--etcd_key=k: ", "--etcd_cert=FILE"}},
        {elastic_at("a:1", {"--etcd_user=root"}), {"--etcd_user=root: ", "PADDLE_ETCD_PASSWORD"}},
        {elastic_at("http://a:1", {"--etcd_cacert=c"}), {"http://a:1", "--etcd_cacert=c"}},
        {{"--etcd_user=root:x"}, {"--etcd_user=root: ", "--elastic_server=HOST:PORT"}},
        {{"--etcd_cacert=c"}, {"--etcd_cacert=c: ", "--elastic_server=HOST:PORT"}},
        {{"--etcd_cert=c"}, {"--etcd_cert=c: ", "--elastic_server=HOST:PORT"}},
        {{"--etcd_key=c"}, {"--etcd_key=c: ", "leave out --etcd_key"}}}) {
    EXPECT_EQ(missing_part(row), "");
  }
}

}  // namespace
}  // namespace paddle_launch
