// SPDX-License-Identifier: Apache-2.0
// The door to etcd with servers that are not there, go away, or are something else.
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "launcher/etcd/etcd.h"
#include "tests/unit/etcd/etcd_server.h"
#include "tests/unit/etcd/observer.h"

namespace paddle_launch {
namespace {

using std::chrono::seconds;
using std::chrono::steady_clock;

EtcdSpec at(const std::string& address) { return {.endpoints = {address}}; }

std::string http(const std::string& status, const std::string& body) {
  return fmt::format("HTTP/1.1 {}\r\nContent-Length: {}\r\n\r\n{}", status, body.size(), body);
}

TEST(EtcdTrouble, AServerThatIsNotThereIsNamedWithTheReason) {
  const std::string address = "127.0.0.1:" + std::to_string(free_port());
  Observer one(at(address));
  EXPECT_EQ(one.problem(), address + ": connection refused");
  EXPECT_EQ(one.put("a", "1").problem, address + ": connection refused");
  EXPECT_EQ(one.pictures, 0);
}

TEST(EtcdTrouble, ANameThatNobodyKnowsIsSaidToBeOne) {
  Observer one(at("no-such-host.invalid:2379"));
  EXPECT_EQ(one.problem(), "no-such-host.invalid:2379: name not known");
}

TEST(EtcdTrouble, AServerThatIsNoEtcdIsSaidToBeNone) {
  const auto problem_with = [](const std::string& answer) {
    const OddServer server(answer);
    Observer one(at(server.address()));
    const std::string problem = one.problem();
    EXPECT_TRUE(problem.starts_with(server.address() + ": ")) << problem;
    EXPECT_EQ(one.put("a", "1").problem.substr(0, server.address().size()), server.address());
    return problem.substr(server.address().size() + 2);
  };
  EXPECT_EQ(problem_with(http("404 Not Found", "nothing here")),
            "answers, but not as etcd does (HTTP 404)");
  EXPECT_EQ(problem_with(http("200 OK", "<html>hello")), "answers, but not as etcd does (no JSON)");
  EXPECT_EQ(problem_with(http("200 OK", R"({"kvs":[{"key":"?"}],"header":{"revision":"1"}})")),
            "answers, but not as etcd does (no list of keys)");
  EXPECT_EQ(problem_with("SSH-2.0-OpenSSH_9.2\r\n"), "answers, but not as etcd does (no HTTP)");
}

TEST(EtcdTrouble, AServerThatSaysNothingIsGivenUpAfterFiveSecondsAndTheKeeperLeavesInTime) {
  const OddServer server("");
  Observer one(at(server.address()));
  std::vector<EtcdAnswer> answers;
  EtcdChange change;
  change.puts.push_back({"a", "1"});
  for (int i = 0; i < 3; ++i) {
    one.etcd->change(change, [&](const EtcdAnswer& answer) { answers.push_back(answer); });
  }
  EXPECT_EQ(one.problem(), server.address() + ": no answer in 5 s");
  ASSERT_TRUE(one.wait_until([&] { return answers.size() == 3; }));
  for (const EtcdAnswer& answer : answers) {
    EXPECT_EQ(answer.problem, server.address() + ": no answer in 5 s");
  }
  const pid_t keeper = one.etcd->pid();
  const auto start = steady_clock::now();
  one.etcd.reset();
  EXPECT_LT(steady_clock::now() - start, seconds(1));
  EXPECT_EQ(waitpid(keeper, nullptr, 0), keeper);
  EXPECT_LT(steady_clock::now() - start, seconds(10));
}

TEST(EtcdTrouble, AmongSeveralServersOneThatAnswersIsFound) {
  NEEDS_ETCD();
  const EtcdServer server;
  const OddServer odd(http("503 Busy", ""));
  EtcdSpec spec = server.spec();
  const std::string nobody = "127.0.0.1:" + std::to_string(free_port());
  spec.endpoints = {nobody, odd.address(), server.address()};
  Observer one(spec);
  EXPECT_TRUE(one.put("a", "1").done);
  EXPECT_TRUE(one.sees("a", "1"));
  EXPECT_EQ(one.problems, std::vector<std::string>{""});

  spec.endpoints.pop_back();
  Observer lost(spec);
  EXPECT_EQ(lost.problem(),
            fmt::format("{}: connection refused; {}: answers, but not as etcd does (HTTP 503)",
                        nobody, odd.address()));
}

TEST(EtcdTrouble, AChangeThatAServerMayHaveSeenGoesToNoOther) {
  const OddServer first(http("503 Busy", ""));
  const OddServer second(http("503 Busy", ""));
  EtcdSpec spec;
  spec.endpoints = {first.address(), second.address()};
  Observer one(spec);
  const std::string looked = one.problem();
  EXPECT_NE(looked.find(first.address()), std::string::npos);
  EXPECT_NE(looked.find(second.address()), std::string::npos);
  const std::string changed = one.put("a", "1", EtcdLease::None).problem;
  EXPECT_NE(changed.find("HTTP 503"), std::string::npos) << changed;
  EXPECT_EQ(changed.find(';'), std::string::npos) << changed;
}

TEST(EtcdTrouble, AServerThatComesBackIsFoundAgainWithItsKeysAndLeases) {
  NEEDS_ETCD();
  EtcdServer server;
  Observer one(server.spec());
  Observer other(server.spec());
  ASSERT_TRUE(one.put("a", "1").done);
  ASSERT_TRUE(one.sees("a", "1"));
  ASSERT_TRUE(other.sees("a", "1"));
  const int pictures = one.pictures;

  server.stop();
  EXPECT_EQ(one.problem(), server.address() + ": connection refused");
  EXPECT_EQ(one.put("b", "1").problem, server.address() + ": connection refused");
  server.start();
  ASSERT_TRUE(one.is_connected());
  EXPECT_EQ(one.problems.size(), 3U);
  EXPECT_EQ(one.pictures, pictures);
  EXPECT_EQ(one.find("b"), nullptr);

  ASSERT_TRUE(other.is_connected());
  EXPECT_TRUE(other.put("c", "1").done);
  EXPECT_TRUE(one.sees("c", "1"));
  EXPECT_TRUE(one.sees("a", "1"));
}

TEST(EtcdTrouble, AServerThatHangsIsNoticedByTheLease) {
  NEEDS_ETCD();
  const EtcdServer server;
  Observer one(server.spec(), "/test/", seconds(3));
  ASSERT_TRUE(one.put("a", "1").done);
  kill(server.pid(), SIGSTOP);
  EXPECT_EQ(one.problem(), server.address() + ": no answer in 5 s");
  const auto start = steady_clock::now();
  one.etcd->close(false, std::chrono::milliseconds(500));
  EXPECT_LT(steady_clock::now() - start, seconds(5));
  kill(server.pid(), SIGCONT);
}

// Run by the next test, in a process that finds no libcurl.
TEST(EtcdTrouble, DISABLED_WithoutLibcurl) {
  Observer one(at("127.0.0.1:2379"));
  const std::string problem = one.problem();
  EXPECT_NE(problem.find("install it (package libcurl4"), std::string::npos) << problem;
  EXPECT_EQ(one.put("a", "1").problem, problem);
  one.etcd->close(false, seconds(20));
}

TEST(EtcdTrouble, WithoutLibcurlItSaysWhatToInstall) {
  const TempFolder folder;
  for (const char* name : {"libcurl.so.4", "libcurl-gnutls.so.4"}) {
    std::ofstream(folder.path(name)) << "not a library";
  }
  const std::string self = std::filesystem::read_symlink("/proc/self/exe").string();
  const std::string command = fmt::format(
      "LD_LIBRARY_PATH={} '{}' --gtest_also_run_disabled_tests "
      "--gtest_filter=EtcdTrouble.DISABLED_WithoutLibcurl >{} 2>&1",
      folder.path(""), self, folder.path("log"));
  EXPECT_EQ(std::system(command.c_str()), 0) << std::ifstream(folder.path("log")).rdbuf();
}

}  // namespace
}  // namespace paddle_launch
