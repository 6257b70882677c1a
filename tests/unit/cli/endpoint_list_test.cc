// SPDX-License-Identifier: Apache-2.0
// Lists of endpoints, numbers by stages and devices by stages, as people type them.
#include "launcher/cli/endpoint_list.h"

#include <gtest/gtest.h>

#include "tests/unit/cli/parsing.h"

namespace paddle_launch {
namespace {

constexpr EndpointList kServers{};
constexpr EndpointList kWorkers{true, false};
constexpr EndpointList kHeter{false, true};

void expect_problem(const ValueReading& reading, const Words& parts) {
  for (const std::string& part : parts) {
    EXPECT_NE(reading.problem.find(part), std::string::npos) << part << " in: " << reading.problem;
  }
}

TEST(EndpointListRule, StripsBlanksAndZeros) {
  EXPECT_EQ(read_endpoint_list(" 10.0.0.1:6170 ,\tps-1.paddle_x.com:06171", kServers).text,
            "10.0.0.1:6170,ps-1.paddle_x.com:6171");
  EXPECT_EQ(read_endpoint_list("a, b ,a", kWorkers).text, "a,b,a");
  EXPECT_EQ(read_endpoint_list("a:1 , b:1; a:2", kHeter).text, "a:1,b:1;a:2");
}

TEST(EndpointListRule, TakesTheExamplesOfTheDocuments) {
  EXPECT_EQ(read_endpoint_list("xx.xx.xx.xx:6170,yy.yy.yy.yy:6171", kServers).problem, "");
  EXPECT_EQ(read_endpoint_list("192.168.0.16:6172,192.168.0.17:6172", kHeter).problem, "");
}

TEST(EndpointListRule, RefusesWhatIsNoEndpoint) {
  const std::vector<std::pair<std::string, Words>> rows = {
      {"10.0.0.1", {"10.0.0.1 has no port", "from 1 to 65535"}},
      {"10.0.0.1:", {"10.0.0.1: is no endpoint"}},
      {":6170", {":6170 is no endpoint"}},
      {"10.0.0.1:0", {"10.0.0.1:0 is no endpoint", "from 1 to 65535"}},
      {"10.0.0.1:65536", {"10.0.0.1:65536 is no endpoint"}},
      {"10.0.0.1:-5", {"10.0.0.1:-5"}},
      {"10.0.0.1:x", {"10.0.0.1:x"}},
      {"10.0.0.1:6170,", {"an entry is empty"}},
      {",10.0.0.1:6170", {"an entry is empty"}},
      {"a:1,,b:1", {"an entry is empty"}},
      {" ", {"at least one endpoint"}},
      {"::1:6170", {"IPv6"}},
      {"http://a:80", {"without http://"}},
      {"10.0.0.256:6170", {"10.0.0.256 is no IPv4 address"}},
      {"10.0.0:6170", {"10.0.0 is no IPv4 address"}},
      {"a b:6170", {"'a b' is no host name"}},
      {"a/b:6170", {"'a/b' is no host name"}},
      {"a:1;b:2", {"a:1;b:2 is no endpoint"}},
      {"a:1,b:2,a:1", {"a:1 is there twice"}},
      {"a:1,a:01", {"a:1 is there twice"}}};
  for (const auto& [text, parts] : rows) {
    expect_problem(read_endpoint_list(text, kServers), parts);
  }
}

TEST(EndpointListRule, RefusesAListOfBothForms) {
  expect_problem(read_endpoint_list("a:1,b", kWorkers),
                 {"a:1 has a port and b has none", "for each entry or for none"});
}

TEST(EndpointListRule, RefusesStagesThatAreEmptyOrShareAnEndpoint) {
  expect_problem(read_endpoint_list("a:1;", kHeter), {"a stage is empty"});
  expect_problem(read_endpoint_list("a:1;;b:1", kHeter), {"a stage is empty"});
  expect_problem(read_endpoint_list("a:1;b:1,a:1", kHeter), {"a:1 is there twice"});
}

TEST(StageNumbersRule, TakesOneNumberOrOneForEachStage) {
  EXPECT_EQ(read_stage_numbers("2").text, "2");
  EXPECT_EQ(read_stage_numbers(" 1; 02 ;3").text, "1;2;3");
  for (const char* const text : {"0", "1;0", "1;", ";1", "1,2", "x", "-1", "4097", "4096;1"}) {
    expect_problem(read_stage_numbers(text), {"whole number from 1 to 4096", "1;2;3"});
  }
}

TEST(StageDevicesRule, TakesThreeWords) {
  EXPECT_EQ(read_stage_devices("cpu; gpu;xpu").text, "cpu;gpu;xpu");
  for (const char* const text : {"npu", "cpu;", "cpu,gpu", "GPU"}) {
    expect_problem(read_stage_devices(text), {"is no device", "cpu, gpu or xpu"});
  }
}

TEST(Stages, AreTakenApart) {
  EXPECT_EQ(std::get<Stages>(read_endpoint_list("a:1,b:1;c:1", kHeter).value),
            (Stages{{"a:1", "b:1"}, {"c:1"}}));
  EXPECT_EQ(std::get<std::vector<int>>(read_stage_numbers("1;2;3").value),
            (std::vector<int>{1, 2, 3}));
  EXPECT_EQ(std::get<Words>(read_stage_devices("cpu;gpu").value), (Words{"cpu", "gpu"}));
}

}  // namespace
}  // namespace paddle_launch
