// SPDX-License-Identifier: Apache-2.0
// How long keys stay: leases, and the ends of launchers and keepers.
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <stdexcept>

#include <gtest/gtest.h>

#include "launcher/etcd/etcd.h"
#include "tests/unit/etcd/observer.h"
#include "tests/unit/etcd/shared_server.h"

namespace paddle_launch {
namespace {

using std::chrono::seconds;
using std::chrono::steady_clock;

class EtcdLeases : public WithSharedServer {};

TEST_F(EtcdLeases, ThePodsKeysVanishAtOnceWhenItsObjectGoes) {
  Observer other(spec(), prefix());
  {
    Observer pod(spec(), prefix());
    ASSERT_TRUE(pod.put("pod", "1").done);
    ASSERT_TRUE(pod.put("job", "1", EtcdLease::Job).done);
    ASSERT_TRUE(other.sees("pod", "1"));
  }
  EXPECT_TRUE(other.misses("pod", seconds(20)));
  EXPECT_NE(other.find("job"), nullptr);
}

TEST_F(EtcdLeases, AChangeJustBeforeTheObjectGoesIsStillMade) {
  Observer other(spec(), prefix());
  {
    Observer pod(spec(), prefix());
    ASSERT_TRUE(pod.is_connected());
    EtcdChange change;
    change.puts.push_back({"last", "words", EtcdLease::None});
    pod.etcd->change(change, [](const EtcdAnswer&) {});
  }
  EXPECT_TRUE(other.sees("last", "words"));
}

TEST_F(EtcdLeases, CloseFinishesChangesGivesBothLeasesBackAndLeavesNoProcess) {
  Observer other(spec(), prefix());
  Observer pod(spec(), prefix());
  ASSERT_TRUE(pod.put("pod", "1").done);
  ASSERT_TRUE(pod.put("job", "1", EtcdLease::Job).done);
  ASSERT_TRUE(other.sees("job", "1"));
  const pid_t keeper = pod.etcd->pid();
  bool was_told = false;
  EtcdChange last;
  last.puts.push_back({"last", "1", EtcdLease::None});
  pod.etcd->change(last, [&](const EtcdAnswer&) { was_told = true; });
  pod.etcd->close(true, seconds(20));
  EXPECT_FALSE(was_told);
  EXPECT_EQ(kill(keeper, 0), -1);
  EXPECT_TRUE(other.misses("pod"));
  EXPECT_TRUE(other.misses("job"));
  EXPECT_TRUE(other.sees("last", "1"));
  EXPECT_EQ(pod.put("b", "1").problem, "the connection to etcd was closed");
}

// In a process of its own, as a launcher is; its id.
pid_t fork_pod(const EtcdSpec& spec, const std::string& prefix, seconds ttl, int report) {
  const pid_t child = fork();
  if (child != 0) return child;
  Observer pod(spec, prefix, ttl);
  const pid_t keeper = pod.etcd->pid();
  if (!pod.put("pod", "1").done) _exit(1);
  if (write(report, &keeper, sizeof keeper) != sizeof keeper) _exit(1);
  pod.wait_until([] { return false; }, std::chrono::minutes(2));
  _exit(0);
}

struct ForkedPod {
  ForkedPod(const EtcdSpec& spec, const std::string& prefix, seconds ttl) {
    int ends[2];
    if (pipe(ends) != 0) throw std::runtime_error("pipe");
    pid = fork_pod(spec, prefix, ttl, ends[1]);
    close(ends[1]);
    if (read(ends[0], &keeper, sizeof keeper) != sizeof keeper) keeper = -1;
    close(ends[0]);
  }
  ForkedPod(const ForkedPod&) = delete;
  ForkedPod& operator=(const ForkedPod&) = delete;
  ~ForkedPod() {
    kill(pid, SIGKILL);
    waitpid(pid, nullptr, 0);
  }

  pid_t pid = -1;
  pid_t keeper = -1;
};

bool is_gone_soon(pid_t process, seconds patience) {
  const auto until = steady_clock::now() + patience;
  while (kill(process, 0) == 0) {
    if (steady_clock::now() > until) return false;
    // A dead one whose new parent does not care stays as a zombie.
    if (waitpid(process, nullptr, WNOHANG) == process) return true;
    usleep(5000);
  }
  return true;
}

TEST_F(EtcdLeases, ThePodsKeysVanishAtOnceWhenTheLauncherIsKilled) {
  Observer other(spec(), prefix());
  ForkedPod pod(spec(), prefix(), seconds(60));
  ASSERT_TRUE(other.sees("pod", "1"));
  kill(pod.pid, SIGKILL);
  EXPECT_TRUE(other.misses("pod", seconds(20)));
}

TEST_F(EtcdLeases, ThePodsKeysRunOutWhenItsKeeperIsKilledAsWell) {
  Observer other(spec(), prefix());
  ForkedPod pod(spec(), prefix(), seconds(2));
  ASSERT_TRUE(other.sees("pod", "1"));
  kill(pod.pid, SIGSTOP);  // it would start another keeper
  // For longer than the lease lasts, the keeper keeps it.
  EXPECT_FALSE(other.misses("pod", seconds(3)));
  kill(pod.keeper, SIGKILL);
  EXPECT_TRUE(other.misses("pod"));
}

TEST_F(EtcdLeases, AKeeperThatDiedIsReplacedAndTheNextOneKeepsItsLeases) {
  Observer other(spec(), prefix());
  Observer pod(spec(), prefix(), seconds(3));
  ASSERT_TRUE(pod.put("pod", "1").done);
  ASSERT_TRUE(pod.sees("pod", "1"));
  const std::int64_t lease = pod.find("pod")->lease;
  const pid_t first = pod.etcd->pid();
  std::vector<EtcdAnswer> answers;
  kill(first, SIGSTOP);
  EtcdChange change;
  change.puts.push_back({"b", "1"});
  for (int i = 0; i < 2; ++i) {
    pod.etcd->change(change, [&](const EtcdAnswer& answer) { answers.push_back(answer); });
  }
  kill(first, SIGKILL);
  const std::string problem = pod.problem();
  EXPECT_EQ(problem, "the process that talks to etcd ended by SIGKILL; another one is started");
  ASSERT_TRUE(pod.is_connected());
  ASSERT_EQ(answers.size(), 2U);
  EXPECT_EQ(answers[0].problem, problem);
  EXPECT_FALSE(answers[1].done);
  EXPECT_NE(pod.etcd->pid(), first);
  EXPECT_TRUE(pod.put("c", "1").done);
  ASSERT_TRUE(pod.sees("c", "1"));
  EXPECT_EQ(pod.find("c")->lease, lease);
  EXPECT_FALSE(other.misses("pod", seconds(4)));
}

TEST_F(EtcdLeases, TheJobsLeaseIsAdoptedAndKeptByTheOthers) {
  Observer second(spec(), prefix(), seconds(1));
  {
    Observer first(spec(), prefix(), seconds(1));
    ASSERT_TRUE(first.put("job", "1", EtcdLease::Job).done);
    ASSERT_TRUE(second.sees("job", "1"));
    ASSERT_TRUE(second.put("own", "1", EtcdLease::Job).done);
    ASSERT_TRUE(second.sees("own", "1"));
    EXPECT_NE(second.find("own")->lease, second.find("job")->lease);
    second.etcd->adopt_job_lease(second.find("job")->lease);
    // Its own one is given back.
    ASSERT_TRUE(second.misses("own"));
    ASSERT_TRUE(second.put("round", "1", EtcdLease::Job).done);
  }
  ASSERT_TRUE(second.sees("round", "1"));
  EXPECT_EQ(second.find("round")->lease, second.find("job")->lease);
  EXPECT_FALSE(second.misses("job", seconds(2)));
  second.etcd->adopt_job_lease(0);
  EXPECT_TRUE(second.misses("job"));
}

TEST_F(EtcdLeases, TheJobsLeaseIsForgottenWithoutBeingGivenBackAsOthersMayHaveIt) {
  Observer first(spec(), prefix());
  Observer second(spec(), prefix());
  ASSERT_TRUE(first.put("job", "1", EtcdLease::Job).done);
  ASSERT_TRUE(second.sees("job", "1"));
  const std::int64_t lease = second.find("job")->lease;
  second.etcd->adopt_job_lease(lease);
  first.etcd->adopt_job_lease(0);
  ASSERT_TRUE(first.put("next", "1", EtcdLease::Job).done);
  ASSERT_TRUE(second.sees("next", "1"));
  EXPECT_NE(second.find("next")->lease, lease);
  EXPECT_FALSE(second.misses("job", seconds(1)));
}

TEST_F(EtcdLeases, ALeaseThatIsGoneIsMadeAnewForTheNextChange) {
  Observer pod(spec(), prefix(), seconds(60));
  ASSERT_TRUE(pod.put("pod", "1").done);
  ASSERT_TRUE(pod.put("job", "1", EtcdLease::Job).done);
  ASSERT_TRUE(pod.sees("job", "1"));
  const std::int64_t lost = pod.find("pod")->lease;
  const std::int64_t job = pod.find("job")->lease;
  server().ask("/v3/lease/revoke", R"({"ID":")" + std::to_string(lost) + R"("})");
  ASSERT_TRUE(pod.misses("pod"));
  EtcdChange both;
  both.puts = {{"pod", "2"}, {"job", "2", EtcdLease::Job}};
  EXPECT_TRUE(pod.change(both).done);
  ASSERT_TRUE(pod.sees("pod", "2"));
  ASSERT_TRUE(pod.sees("job", "2"));
  EXPECT_NE(pod.find("pod")->lease, lost);
  EXPECT_EQ(pod.find("job")->lease, job);
}

TEST_F(EtcdLeases, TheKeeperIsGoneSoonAfterTheObject) {
  pid_t keeper = -1;
  {
    Observer one(spec(), prefix());
    ASSERT_TRUE(one.is_connected());
    keeper = one.etcd->pid();
  }
  EXPECT_TRUE(is_gone_soon(keeper, seconds(20)));
}

}  // namespace
}  // namespace paddle_launch
