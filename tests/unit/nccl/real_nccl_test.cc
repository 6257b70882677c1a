// SPDX-License-Identifier: Apache-2.0
// The keeper with the machine's own libnccl; no GPU is needed.
#include "tests/unit/nccl/real_nccl.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "launcher/nccl/id_keeper.h"
#include "launcher/os/unique_fd.h"
#include "launcher/plan/nccl_env.h"

namespace paddle_launch {
namespace {

using std::chrono::seconds;
using std::chrono::steady_clock;

constexpr int kWrittenFor = 22809;  // as tests/fakes/nccl_check_in.py

class RealNccl : public ::testing::Test {
 protected:
  void SetUp() override {
    SKIP_WITHOUT_NCCL(search_);
    search_.env["NCCL_CONF_FILE"] = "/dev/null";
    unsetenv("NCCL_SOCKET_IFNAME");
    unsetenv("NCCL_COMM_ID");
    unsetenv("NCCL_DEBUG");
  }

  // On the loopback interface, which every machine has.
  static const NcclIds& ids_of(NcclKeeper& keeper, int count) {
    keeper.ask(count, "lo");
    if (!keeper.wait(seconds(60))) throw std::runtime_error(keeper.problem());
    return *keeper.ids();
  }

  NcclSearch search_ = search_for_real_nccl();
};

// After eight random bytes an id has the address at which ranks check in.
sockaddr_in address_in(const std::string& id) {
  sockaddr_in address{};
  std::memcpy(&address, id.data() + 8, sizeof address);
  return address;
}

bool accepts(const sockaddr_in& address) {
  const UniqueFd socket(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  return connect(socket.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0;
}

bool closes_soon(const sockaddr_in& address) {
  const auto until = steady_clock::now() + seconds(20);
  while (accepts(address)) {
    if (steady_clock::now() > until) return false;
    usleep(1000);
  }
  return true;
}

TEST_F(RealNccl, IdsDifferAndNameTheInterfaceThatWasAskedFor) {
  NcclKeeper keeper(search_);
  const NcclIds& ids = ids_of(keeper, 3);
  ASSERT_EQ(ids.ids.size(), 3U);
  EXPECT_NE(ids.ids[0], ids.ids[1]);
  EXPECT_NE(ids.ids[1], ids.ids[2]);
  EXPECT_GT(ids.version, 20000);
  EXPECT_EQ(ids.library, search_.given);
  for (const std::string& id : ids.ids) {
    EXPECT_EQ(address_in(id).sin_family, AF_INET);
    EXPECT_EQ(ntohl(address_in(id).sin_addr.s_addr), INADDR_LOOPBACK);
    EXPECT_TRUE(accepts(address_in(id)));
  }
}

TEST_F(RealNccl, AnInterfaceThatIsNotThereIsAProblemInNcclsWords) {
  NcclKeeper keeper(search_);
  keeper.ask(1, "nosuchnic0");
  EXPECT_FALSE(keeper.wait(seconds(60)));
  EXPECT_NE(keeper.problem().find("interface"), std::string::npos) << keeper.problem();
}

TEST_F(RealNccl, NobodyAnswersOnceTheKeeperIsGone) {
  sockaddr_in address{};
  {
    NcclKeeper keeper(search_);
    address = address_in(ids_of(keeper, 1).ids.front());
    EXPECT_TRUE(accepts(address));
  }
  EXPECT_TRUE(closes_soon(address));
}

std::vector<std::string> open_files() {
  std::vector<std::string> files;
  for (const auto& entry : std::filesystem::directory_iterator("/proc/self/fd")) {
    std::error_code ignored;
    files.push_back(std::filesystem::read_symlink(entry.path(), ignored));
  }
  return files;
}

bool has_libnccl_mapped() {
  const std::unique_ptr<FILE, int (*)(FILE*)> maps(std::fopen("/proc/self/maps", "r"), std::fclose);
  std::array<char, 4096> line{};
  while (std::fgets(line.data(), line.size(), maps.get()) != nullptr) {
    if (std::strstr(line.data(), "libnccl") != nullptr) return true;
  }
  return false;
}

TEST_F(RealNccl, TheLauncherKeepsItsEnvironmentItsLimitsAndItsDescriptors) {
  rlimit low{};
  getrlimit(RLIMIT_NOFILE, &low);
  low.rlim_cur = std::min<rlim_t>(low.rlim_cur, 512);  // NCCL raises it to the hard limit
  setrlimit(RLIMIT_NOFILE, &low);
  const Environment env = real_environment();
  const std::size_t files = open_files().size();

  NcclKeeper keeper(search_);
  ids_of(keeper, 2);

  rlimit now{};
  getrlimit(RLIMIT_NOFILE, &now);
  EXPECT_EQ(now.rlim_cur, low.rlim_cur);
  EXPECT_EQ(real_environment(), env);
  EXPECT_EQ(open_files().size(), files + 1) << "the socket to the keeper, and no more";
  EXPECT_FALSE(has_libnccl_mapped());
}

TEST_F(RealNccl, TheKeeperHasNothingOfTheLaunchersOpen) {
  std::array<int, 2> ends{};
  ASSERT_EQ(pipe(ends.data()), 0);
  NcclKeeper keeper(search_);
  ids_of(keeper, 1);
  close(ends[1]);
  char byte = 0;
  EXPECT_EQ(read(ends[0], &byte, 1), 0) << "the keeper holds no writing end";
  close(ends[0]);
  const std::string name = fmt::format("/proc/{}/fd/1", keeper.pid());
  EXPECT_EQ(std::filesystem::read_symlink(name), "/dev/null");
}

// --- ranks that check in ------------------------------------------------------------------------

using Pipe = std::unique_ptr<FILE, int (*)(FILE*)>;

Pipe start_rank(const NcclIds& ids, int rank, int world) {
  std::string command;
  for (const auto& [name, value] : nccl_variables(ids)) command += name + "=" + value + " ";
  command += fmt::format(
      "PADDLE_TRAINER_ID={} PADDLE_TRAINERS_NUM={} NCCL_CHECK_IN_DEADLINE=60 exec '{}' '{}' 2>&1",
      rank, world, PYTHON, NCCL_CHECK_IN);
  return {popen(command.c_str(), "r"), pclose};
}

struct Ending {
  std::string said;
  int status = 0;
};

Ending ending_of(Pipe rank) {
  Ending ending;
  std::array<char, 4096> chunk{};
  while (std::fgets(chunk.data(), chunk.size(), rank.get()) != nullptr) ending.said += chunk.data();
  ending.status = pclose(rank.release());
  return ending;
}

class CheckIn : public RealNccl, public ::testing::WithParamInterface<std::pair<int, int>> {};

TEST_P(CheckIn, EveryRankLearnsOfItsNextPeer) {
  const auto [world, count] = GetParam();
  NcclKeeper keeper(search_);
  const NcclIds& ids = ids_of(keeper, count);
  if (ids.version != kWrittenFor) {
    GTEST_SKIP() << "nccl_check_in.py speaks " << kWrittenFor << ", this is " << ids.version;
  }
  std::vector<Pipe> ranks;
  for (int rank = 0; rank < world; ++rank) ranks.push_back(start_rank(ids, rank, world));
  for (int rank = 0; rank < world; ++rank) {
    const Ending ending = ending_of(std::move(ranks[static_cast<std::size_t>(rank)]));
    const std::string wanted =
        fmt::format("rank {} of {} checked in; next peer 127.0.0.1:", rank, world);
    EXPECT_TRUE(ending.said.starts_with(wanted)) << ending.said;
    EXPECT_EQ(ending.status, 0);
  }
}

INSTANTIATE_TEST_SUITE_P(Worlds, CheckIn,
                         ::testing::Values(std::pair(1, 1), std::pair(4, 1), std::pair(5, 2)));

TEST_F(RealNccl, AnIdServesOnce) {
  NcclKeeper keeper(search_);
  const NcclIds& ids = ids_of(keeper, 1);
  if (ids.version != kWrittenFor) {
    GTEST_SKIP() << "nccl_check_in.py speaks " << kWrittenFor << ", this is " << ids.version;
  }
  EXPECT_EQ(ending_of(start_rank(ids, 0, 1)).status, 0);
  ASSERT_TRUE(closes_soon(address_in(ids.ids.front())));
  const Ending second = ending_of(start_rank(ids, 0, 1));
  EXPECT_NE(second.status, 0);
  EXPECT_NE(second.said.find("refused"), std::string::npos) << second.said;
}

TEST_F(RealNccl, TheStandInRefusesAnotherVersion) {
  const Ending ending = ending_of(start_rank({{std::string(kNcclIdBytes, 'x')}, 21805, ""}, 0, 1));
  EXPECT_EQ(WEXITSTATUS(ending.status), 3);
  EXPECT_EQ(ending.said, "the id was made by NCCL 21805; this stand-in speaks 22809\n");
}

}  // namespace
}  // namespace paddle_launch
