// SPDX-License-Identifier: Apache-2.0
// Which texts name etcd servers.
#include <gtest/gtest.h>

#include "launcher/cli/etcd_of_options.h"

namespace paddle_launch {
namespace {

struct Row {
  std::string_view text;
  std::string_view expected;
};

TEST(ReadEtcdServers, KeepsOneSpelling) {
  for (const Row& row : {Row{"127.0.0.1:2379", "127.0.0.1:2379"},
                         {" etcd-0:02379 , etcd-1:2379", "etcd-0:2379,etcd-1:2379"},
                         {"a:1,b:2,a:1", "a:1,b:2"},
                         {"http://a:1/", "http://a:1"},
                         {"https://a:1,https://b:2", "https://a:1,b:2"},
                         {"https://a:1,b:2", "https://a:1,b:2"}}) {
    const ValueReading reading = read_etcd_servers(row.text);
    EXPECT_EQ(reading.problem, "") << row.text;
    EXPECT_EQ(reading.text, row.expected);
  }
}

TEST(ReadEtcdServers, SaysWhatItWouldTake) {
  for (const Row& row : {Row{"", "HOST:PORT"},
                         {"10.0.0.1", "HOST:PORT"},
                         {"10.0.0.1:", "HOST:PORT"},
                         {":2379", "HOST:PORT"},
                         {"a:0", "from 1 to 65535"},
                         {"a:65536", "from 1 to 65535"},
                         {"a:x", "from 1 to 65535"},
                         {"a:1,", "an entry is empty"},
                         {"a b:1", "no host name"},
                         {"10.0.0.300:2379", "no IPv4 address"},
                         {"[::1]:2379", "IPv4 address or a host name"},
                         {"etcd://a:1", "not with etcd://"},
                         {"http://a:1/v3", "from 1 to 65535"},
                         {"http://a:1,https://b:2", "one of them for all"}}) {
    const std::string problem = read_etcd_servers(row.text).problem;
    EXPECT_NE(problem.find(row.expected), std::string::npos) << row.text << ": " << problem;
  }
}

TEST(ReadEtcdMaster, NeverChangesAHost) {
  for (const char* const host : {"etcd", "dctest", "t.example.d", "ce", "e"}) {
    const std::string endpoint = std::string(host) + ":2379";
    const ValueReading reading = read_etcd_master("etcd://" + endpoint);
    EXPECT_EQ(std::get<EtcdServersTyped>(reading.value), (EtcdServersTyped{"etcd://", {endpoint}}));
  }
}

}  // namespace
}  // namespace paddle_launch
