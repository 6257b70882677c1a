// SPDX-License-Identifier: Apache-2.0
#include "launcher/plan/proxies.h"

#include <map>

#include <gtest/gtest.h>

#include "launcher/plan/pod_plan.h"

namespace paddle_launch {
namespace {

using Variables = std::map<std::string, std::string>;

struct Settled {
  Variables env;
  std::vector<std::string> warnings;
};

Settled settled(const Variables& user, const std::string& hosts = "n1,n2", bool drop = false) {
  std::vector<EnvVar> env(user.begin(), user.end());
  Settled result;
  settle_proxies(hosts, drop, env, result.warnings);
  result.env = {env.begin(), env.end()};
  EXPECT_EQ(result.env.size(), env.size()) << "a variable is there twice";
  return result;
}

TEST(SettleProxies, TouchesNothingWhereThereAreNone) {
  const Variables user = {{"HOME", "/root"}, {"http_proxy", ""}, {"no_proxy", "x"}};
  EXPECT_EQ(settled(user).env, user);
  EXPECT_EQ(settled(user, "n1", true).env, user);
}

TEST(SettleProxies, ExceptsTheHostsOfTheJobInBothSpellings) {
  const Variables env = settled({{"HTTPS_PROXY", "p"}}).env;
  EXPECT_EQ(env, (Variables{{"HTTPS_PROXY", "p"}, {"NO_PROXY", "n1,n2"}, {"no_proxy", "n1,n2"}}));
}

TEST(SettleProxies, KeepsTheUsersExceptions) {
  Variables env = settled({{"all_proxy", "p"}, {"no_proxy", "a, n2"}, {"NO_PROXY", "b"}}).env;
  EXPECT_EQ(env["no_proxy"], "a, n2,n1");
  EXPECT_EQ(env["NO_PROXY"], "b,n1,n2");
  env = settled({{"http_proxy", "p"}, {"NO_PROXY", "b"}}).env;
  EXPECT_EQ(env["no_proxy"], "b,n1,n2") << "half of the programs would not know of b any more";
  env = settled({{"http_proxy", "p"}, {"no_proxy", "*"}}).env;
  EXPECT_EQ(env["no_proxy"], "*");
}

TEST(SettleProxies, PutsThemAsideOnRequest) {
  EXPECT_EQ(settled({{"http_proxy", "a"}, {"no_proxy", "x"}}, "n1", true).env,
            (Variables{{"http_proxy_original", "a"}, {"no_proxy", "x"}}));
  EXPECT_EQ(settled({{"http_proxy", "a"}, {"http_proxy_original", "b"}}, "n1", true).env,
            (Variables{{"http_proxy_original", "b"}}));
}

TEST(SettleProxies, PutsThemAsideWithAWordWhereThereAreTooManyHosts) {
  std::string hosts = "n1";
  while (hosts.size() <= kLongestNoProxy) hosts += ",n" + std::to_string(hosts.size());
  const Settled many = settled({{"http_proxy", "p"}}, hosts);
  EXPECT_EQ(many.env, (Variables{{"http_proxy_original", "p"}}));
  ASSERT_EQ(many.warnings.size(), 1U);
  EXPECT_NE(many.warnings[0].find("64 KiB"), std::string::npos) << many.warnings[0];
  EXPECT_TRUE(settled({{"http_proxy", "p"}}).warnings.empty());
}

TEST(SettleProxies, ExceptsEveryNodeOfAPlan) {
  const PodOffer one{
      .name = {}, .host = "n1", .card_kind = {}, .trainers = {{.cards = {}, .port = 1}}};
  PodOffer other = one;
  other.host = "n2";
  const PodPlan plan =
      plan_pod({}, {{"http_proxy", "p"}}, {}, {.pods = {one, other}, .mine = 1}, {});
  const Variables env(plan.processes.inherited.begin(), plan.processes.inherited.end());
  EXPECT_EQ(env.at("no_proxy"), "n1,n2");
}

}  // namespace
}  // namespace paddle_launch
