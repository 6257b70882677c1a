// SPDX-License-Identifier: Apache-2.0
// Which values each rule takes, and in which spelling it keeps them.
#include "launcher/cli/value_rule.h"

#include <gtest/gtest.h>

namespace paddle_launch {
namespace {

struct Row {
  ValueRule rule;
  std::string_view text;
  std::string_view value;
};

TEST(ReadValue, KeepsWhatItTakesInOneSpelling) {
  for (const Row& row :
       {Row{AnyText(), "0,1", "0,1"},
        {TextOrNothing(), "", ""},
        {WholeNumber{1, 8}, "08", "8"},
        {WholeNumber{-1, 8}, "-1", "-1"},
        {OneOf{"none|numa"}, "numa", "numa"},
        {NodeCount(), "2", "2"},
        {NodeCount(), "2:4", "2:4"},
        {AddressList(), " 10.0.0.1 ,host-2\t", "10.0.0.1,host-2"},
        {HostAndPort(), " 10.0.0.1:06768 ", "10.0.0.1:6768"},
        {HostAndPort(), "node-1:65535", "node-1:65535"},
        {HostAndPort{true}, "etcd://10.0.0.1:2379", "etcd://10.0.0.1:2379"},
        {HostAndPort{true}, "etcd://dct-e:02379, etcd:1", "etcd://dct-e:2379,etcd:1"},
        {UserAndPassword(), "root", "root"},
        {UserAndPassword(), "root:a:b", "root:a:b"},
        {LogLevelWord(), "debug", "DEBUG"},
        {LogLevelWord(), "Warn", "WARNING"},
        {LogLevelWord(), "CRITICAL", "ERROR"},
        {LogLevelWord(), "fatal", "ERROR"},
        {LogLevelWord(), "NOTSET", "DEBUG"},
        {LogLevelWord(), "10", "DEBUG"},
        {LogLevelWord(), "20", "INFO"},
        {LogLevelWord(), "30", "WARNING"},
        {LogLevelWord(), "40", "ERROR"},
        {PortRange(), "7000:8000", "7000:8000"},
        {PortRange(), "7000:7000", "7000:7000"},
        {PluginName(), "our-flux_2", "our-flux_2"},
        {Seconds(), "0", "0"},
        {Seconds(), "2.5", "2.5"},
        {Seconds(), "86400", "86400"}}) {
    const ValueReading reading = read_value(row.rule, row.text);
    EXPECT_EQ(reading.problem, "") << row.text;
    EXPECT_EQ(reading.text, row.value) << row.text;
  }
}

struct ValueRow {
  ValueRule rule;
  std::string_view text;
  Value value;
};

TEST(ReadValue, GivesWhatTheTextMeans) {
  for (const ValueRow& row :
       {ValueRow{AnyText(), "0,1", {}},
        {Boolean(), "off", false},
        {Flag(), "True", true},
        {WholeNumber{-1, 8}, "-1", -1},
        {NodeCount(), "2", NodeRange{2, 2}},
        {NodeCount(), "2:4", NodeRange{2, 4}},
        {AddressList(), " 10.0.0.1 ,host-2\t", std::vector<std::string>{"10.0.0.1", "host-2"}},
        {HostAndPort(), " 10.0.0.1:06768 ", MeetingPoint{"10.0.0.1", 6768}},
        {HostAndPort{true}, "etcd://a:1, b:2", EtcdServersTyped{"etcd://", {"a:1", "b:2"}}},
        {UserAndPassword(), "root", UserTyped{"root", std::nullopt}},
        {UserAndPassword(), "root:a:b", UserTyped{"root", "a:b"}},
        {UserAndPassword(), "root:", UserTyped{"root", ""}},
        {LogLevelWord(), "warn", LogLevel::Warning},
        {PortRange(), "7000:8000", std::pair(7000, 8000)},
        {Seconds(), "2.5", std::chrono::milliseconds(2500)}}) {
    EXPECT_EQ(read_value(row.rule, row.text).value, row.value) << row.text;
  }
}

TEST(ReadValue, KnowsPythonsBooleanWords) {
  for (const char* const text : {"y", "yes", "t", "true", "on", "1", "TRUE", "Yes"}) {
    EXPECT_EQ(read_value(Boolean(), text).text, "True") << text;
  }
  for (const char* const text : {"n", "no", "f", "false", "off", "0", "False", "OFF"}) {
    EXPECT_EQ(read_value(Boolean(), text).text, "False") << text;
  }
}

TEST(ReadValue, SaysWhatItWouldTake) {
  for (const Row& row : {Row{AnyText(), "", "not empty"},
                         {PluginName(), "", "auto, solo"},
                         {PluginName(), "../x", "letters, digits"},
                         {PluginName(), "x.so", "letters, digits"},
                         {PluginName(), "a b", "letters, digits"},
                         {Boolean(), "", "y, yes"},
                         {Boolean(), "2", "y, yes"},
                         {Boolean(), "maybe", "y, yes"},
                         {WholeNumber{1, 4096}, "0", "from 1 to 4096"},
                         {WholeNumber{1, 4096}, "4097", "from 1 to 4096"},
                         {WholeNumber{1, 4096}, "2.0", "from 1 to 4096"},
                         {WholeNumber{1, 4096}, "two", "from 1 to 4096"},
                         {WholeNumber{1, 4096}, "99999999999999999999", "from 1 to 4096"},
                         {OneOf{"a|b|c"}, "d", "it takes a, b or c"},
                         {OneOf{"a|b"}, "A", "it takes a or b"},
                         {OneOf{"0"}, "1", "it takes 0 only"},
                         {NodeCount(), "0", "from 1 to 100000"},
                         {NodeCount(), "4:2", "MIN:MAX"},
                         {NodeCount(), "2:", "MIN:MAX"},
                         {NodeCount(), "1:2:3", "MIN:MAX"},
                         {LogLevelWord(), "loud", "DEBUG, INFO"},
                         {PortRange(), "7000", "LOW:HIGH"},
                         {PortRange(), "8000:7000", "LOW:HIGH"},
                         {PortRange(), "0:7000", "from 1 to 65535"},
                         {PortRange(), "7000:65536", "from 1 to 65535"},
                         {Seconds(), "-1", "from 0 to 86400"},
                         {UserAndPassword(), "", "NAME:PASSWORD"},
                         {UserAndPassword(), ":x", "NAME:PASSWORD"},
                         {Seconds(), "86400.001", "from 0 to 86400"},
                         {Seconds(), "soon", "from 0 to 86400"}}) {
    const std::string problem = read_value(row.rule, row.text).problem;
    EXPECT_NE(problem.find(row.value), std::string::npos) << row.text << ": " << problem;
  }
}

TEST(ReadValue, RefusesMeetingPointsThatAreNoHostAndPort) {
  for (const Row& row : {Row{HostAndPort(), "", "HOST:PORT"},
                         {HostAndPort(), "10.0.0.1", "a port from 1 to 65535"},
                         {HostAndPort(), "10.0.0.1:", "a port from 1 to 65535"},
                         {HostAndPort(), ":6768", "HOST:PORT"},
                         {HostAndPort(), "10.0.0.1:0", "a port from 1 to 65535"},
                         {HostAndPort(), "10.0.0.1:65536", "a port from 1 to 65535"},
                         {HostAndPort(), "10.0.0.1:6768/job", "a port from 1 to 65535"},
                         {HostAndPort(), "http://10.0.0.1:6768", "without http://"},
                         {HostAndPort(), "tcp://10.0.0.1:6768", "without tcp://"},
                         {HostAndPort(), "etcd://10.0.0.1:2379", "without etcd://"},
                         {HostAndPort{true}, "http://10.0.0.1:6768", "without http://"},
                         {HostAndPort{true}, "etcd://", "an entry is empty"},
                         {HostAndPort{true}, "etcd://10.0.0.1", "HOST:PORT"},
                         {HostAndPort{true}, "etcd://10.0.0.1:2379,http://a:1", "not with http://"},
                         {HostAndPort(), "[fe80::1]:6768", "IPv6"},
                         {HostAndPort(), "::1:6768", "IPv6"}}) {
    const std::string problem = read_value(row.rule, row.text).problem;
    EXPECT_NE(problem.find(row.value), std::string::npos) << row.text << ": " << problem;
  }
}

TEST(ShownValue, HidesAPassword) {
  EXPECT_EQ(shown_value(UserAndPassword(), "root:a:b"), "root");
  EXPECT_EQ(shown_value(UserAndPassword(), "root"), "root");
  EXPECT_EQ(shown_value(HostAndPort(), "a:1"), "a:1");
}

TEST(ReadValue, RefusesAddressListsThatCannotBeNodes) {
  for (const Row& row : {Row{AddressList(), "", "at least one address"},
                         {AddressList(), "10.0.0.1,", "an entry is empty"},
                         {AddressList(), "10.0.0.1, ,10.0.0.2", "an entry is empty"},
                         {AddressList(), "10.0.0.1,10.0.0.2, 10.0.0.1", "10.0.0.1 is there twice"},
                         {AddressList(), "::1", "::1 is an IPv6 address"},
                         {AddressList(), "[fe80::1]", "is an IPv6 address"},
                         {AddressList(), "10.0.0.1:6170", "has a port"}}) {
    const std::string problem = read_value(row.rule, row.text).problem;
    EXPECT_NE(problem.find(row.value), std::string::npos) << row.text << ": " << problem;
  }
}

}  // namespace
}  // namespace paddle_launch
