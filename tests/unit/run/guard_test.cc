// SPDX-License-Identifier: Apache-2.0
// The guard with processes that are held back, and whom it tells to stop. The rest of it is tried
// from outside, in tests/end_to_end.
#include "launcher/run/guard.h"

#include <poll.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <fstream>
#include <optional>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "launcher/os/child.h"
#include "launcher/os/clock.h"
#include "launcher/os/files.h"
#include "tests/unit/run/small_pod.h"

namespace paddle_launch {
namespace {

using Kind = GuardReport::Kind;

constexpr int kLong = 10'000;
constexpr int kShort = 150;

// However long its processes take on a busy machine.
void wait_for_end_of(const Guard& guard) {
  EXPECT_TRUE(is_gone_within(guard.pid(), std::chrono::minutes(1)));
}

bool is_about_the_start(const GuardReport& report) {
  return report.kind == Kind::LogBegins || report.kind == Kind::Opened ||
         report.kind == Kind::Started || report.kind == Kind::Obeys;
}

class HeldBack : public testing::Test {
 protected:
  void start() { guard_.emplace(pod_.plan(), pod_.settings()); }
  ~HeldBack() override {
    if (!guard_) return;
    guard_->order(GuardOrder::Kind::Kill);
    wait_for_end_of(*guard_);
  }

  // The next report about a process, or none in this time.
  std::optional<GuardReport> next(int milliseconds = kLong) {
    const auto until = std::chrono::steady_clock::now() + std::chrono::milliseconds(milliseconds);
    while (waiting_.empty() && std::chrono::steady_clock::now() < until) {
      pollfd watched{guard_->fd(), POLLIN, 0};
      poll(&watched, 1, milliseconds_until(until));
      waiting_ = guard_->receive().reports;
      std::erase_if(waiting_, is_about_the_start);
    }
    if (waiting_.empty()) return std::nullopt;
    const GuardReport report = waiting_.front();
    waiting_.erase(waiting_.begin());
    return report;
  }
  Kind next_kind() {
    const auto report = next();
    return report ? report->kind : Kind::Survivor;
  }
  void order(GuardOrder::Kind kind) { guard_->order(kind); }

  SmallPod pod_;
  std::optional<Guard> guard_;
  std::vector<GuardReport> waiting_;
};

TEST_F(HeldBack, APodWithoutProcessesHasNothingToWaitFor) {
  start();
  EXPECT_EQ(next_kind(), Kind::Drained);
}

TEST_F(HeldBack, WorkersAloneWaitForTheOrder) {
  pod_.add(Role::Trainer, "touch started").hold_back(1);
  start();
  EXPECT_FALSE(next(kShort)) << "having no child is not the end";
  EXPECT_FALSE(pod_.has("started"));
  order(GuardOrder::Kind::StartRest);
  EXPECT_EQ(next_kind(), Kind::Exited);
  EXPECT_EQ(next_kind(), Kind::Drained);
  EXPECT_TRUE(pod_.has("started"));
}

TEST_F(HeldBack, AServerThatEndsEarlyIsOnlyReported) {
  pod_.add(Role::Server, "true").add(Role::Trainer, "touch started; exit 3").hold_back(1);
  start();
  const auto server = next();
  ASSERT_TRUE(server);
  EXPECT_EQ(server->worker, 0);
  EXPECT_FALSE(next(kShort));
  order(GuardOrder::Kind::StartRest);
  const auto worker = next();
  ASSERT_TRUE(worker);
  EXPECT_EQ(worker->worker, 1);
  EXPECT_EQ(worker->code, 3);
  EXPECT_EQ(next_kind(), Kind::Drained);
}

TEST_F(HeldBack, ServersGoOnWhenTheWorkersHaveEnded) {
  pod_.add(Role::Server, "exec sleep 60").add(Role::Trainer, "true").hold_back(1);
  start();
  order(GuardOrder::Kind::StartRest);
  order(GuardOrder::Kind::StartRest);
  const auto worker = next();
  ASSERT_TRUE(worker);
  EXPECT_EQ(worker->worker, 1);
  EXPECT_FALSE(next(kShort)) << "started once, and the server runs";
  order(GuardOrder::Kind::Stop);
  const auto server = next();
  ASSERT_TRUE(server);
  EXPECT_EQ(server->signal, SIGTERM);
  EXPECT_TRUE(server->was_told_to_stop);
  EXPECT_EQ(next_kind(), Kind::Drained);
}

TEST_F(HeldBack, WhoCatchesSigtermAndEndsWasToldToStop) {
  pod_.add(Role::Trainer, "trap 'exit 1' TERM; touch ready; while :; do sleep 0.01; done");
  start();
  while (!pod_.has("ready")) usleep(1000);
  order(GuardOrder::Kind::Stop);
  const auto worker = next();
  ASSERT_TRUE(worker);
  EXPECT_EQ(worker->code, 1);
  EXPECT_TRUE(worker->was_told_to_stop);
}

TEST_F(HeldBack, IsNeverStartedAfterAStop) {
  for (const GuardOrder::Kind kind : {GuardOrder::Kind::Stop, GuardOrder::Kind::Kill}) {
    SmallPod pod;
    pod.add(Role::Trainer, "touch started").hold_back(1);
    Guard guard(pod.plan(), pod.settings());
    guard.order(kind);
    guard.order(GuardOrder::Kind::StartRest);
    wait_for_end_of(guard);
    Guard::Reports received = guard.receive();
    std::erase_if(received.reports, is_about_the_start);
    ASSERT_EQ(received.reports.size(), 1U);
    EXPECT_EQ(received.reports[0].kind, Kind::Drained);
    EXPECT_FALSE(pod.has("started"));
  }
}

TEST_F(HeldBack, IsNeverStartedWhenAServerCouldNotBe) {
  pod_.add(Role::Server, "true").add(Role::Trainer, "touch started").hold_back(1);
  pod_.plan().program = "/no/such/program";
  start();
  order(GuardOrder::Kind::StartRest);
  EXPECT_EQ(next_kind(), Kind::NotStarted);
  EXPECT_EQ(next_kind(), Kind::Drained);
}

TEST_F(HeldBack, IsNeverStartedWhenWhoeverHasTheGuardGoes) {
  pod_.add(Role::Trainer, "touch started").hold_back(1);
  std::optional<Guard> guard(std::in_place, pod_.plan(), pod_.settings());
  const pid_t pid = guard->pid();
  guard.reset();
  EXPECT_EQ(waitpid(pid, nullptr, 0), -1) << "it was waited for";
  EXPECT_FALSE(pod_.has("started"));
}

// As the kernel shows it in /proc: 'D' is a sleep that no signal ends. '?': there is no process.
char state_of(const std::string& pid) {
  const std::string stat = read_file("/proc/" + pid + "/stat").value_or("");
  const std::size_t name_end = stat.rfind(") ");
  return name_end == std::string::npos ? '?' : stat[name_end + 2];
}

// The child of posix_spawn waits for a writer, and its parent for the child.
TEST_F(HeldBack, AControlZDoesNotWaitForWhoeverCannotStop) {
  pod_.add(Role::Trainer,
           "mkfifo nobody_writes; echo $$ >pid; exec python3 -c 'import os; "
           "os.posix_spawn(\"/bin/true\", [\"true\"], {}, file_actions=[(os.POSIX_SPAWN_OPEN, 0, "
           "\"nobody_writes\", os.O_RDONLY, 0)])'");
  start();
  const auto until = std::chrono::steady_clock::now() + std::chrono::seconds(30);
  const auto cannot_stop = [this] {
    const std::string pid = read_file(pod_.path("pid")).value_or("");
    return state_of(pid.substr(0, pid.find('\n'))) == 'D';
  };
  bool is_so = false;
  while (!(is_so = cannot_stop()) && std::chrono::steady_clock::now() < until) usleep(1000);
  ASSERT_TRUE(is_so);
  order(GuardOrder::Kind::Freeze);
  EXPECT_EQ(next_kind(), Kind::Frozen);
}

TEST_F(HeldBack, IsFrozenAsWellWhenTheOrderCrossesAControlZ) {
  // Without a shell that forks: it would not stop while its child, stopped too, has yet to exec.
  pod_.add(Role::Server, "exec sleep 60").add(Role::Trainer, "exec sleep 0.2").hold_back(1);
  start();
  order(GuardOrder::Kind::Freeze);
  order(GuardOrder::Kind::StartRest);
  EXPECT_EQ(next_kind(), Kind::Frozen);
  EXPECT_FALSE(next(500));
  order(GuardOrder::Kind::Thaw);
  EXPECT_EQ(next_kind(), Kind::Exited);
}

// A data loader must outlive the checkpoint that its trainer writes when it is told to stop.
TEST(Guard, TellsATrainerToStopAndItsChildrenOnlyWhenItIsGone) {
  SmallPod pod;
  pod.add(Role::Trainer,
          "trap 'sleep 0.3; [ -e loader_was_told ] && touch too_early; exit 0' TERM;"
          "sh -c 'trap \"touch loader_was_told; exit 0\" TERM; touch ready;"
          "       while :; do sleep 0.02; done' & "
          "while :; do sleep 0.02; done");
  Guard guard(pod.plan(), pod.settings());
  const auto until = std::chrono::steady_clock::now() + std::chrono::seconds(30);
  while (!pod.has("ready") && std::chrono::steady_clock::now() < until) usleep(1000);
  ASSERT_TRUE(pod.has("ready"));
  guard.order(GuardOrder::Kind::Stop);
  wait_for_end_of(guard);
  EXPECT_FALSE(pod.has("too_early"));
  EXPECT_TRUE(pod.has("loader_was_told"));
}

// What a guard says of its logs before it starts the first process.
Guard::Reports first_words(Guard& guard) {
  wait_for_end_of(guard);
  return guard.receive();
}

TEST(Guard, TellsWhereThisRunBeginsInEachLogBeforeItStartsAProcess) {
  SmallPod pod;
  pod.add(Role::Trainer, "echo more").add(Role::Trainer, "true");
  std::ofstream(pod.plan().processes[0].log_path) << "before\n";
  Guard guard(pod.plan(), pod.settings());
  const Guard::Reports received = first_words(guard);
  ASSERT_GE(received.reports.size(), 4U);
  EXPECT_EQ(received.reports[0].log_begins, 7);
  EXPECT_EQ(received.reports[1].log_begins, 0);
  EXPECT_EQ(received.reports[2].kind, Kind::Opened);
  EXPECT_EQ(received.reports[3].kind, Kind::Started);
}

TEST(Guard, StartsNothingWhereOneLogIsNoRegularFile) {
  for (const bool is_link : {false, true}) {
    SmallPod pod;
    pod.add(Role::Trainer, "touch started").add(Role::Trainer, "true");
    const std::string log = pod.plan().processes[1].log_path;
    ASSERT_EQ(is_link ? symlink("elsewhere", log.c_str()) : mkfifo(log.c_str(), 0666), 0);
    Guard guard(pod.plan(), pod.settings());
    const Guard::Reports received = first_words(guard);
    ASSERT_EQ(received.words.size(), 1U);
    EXPECT_EQ(received.words[0].kind, Kind::Refused);
    EXPECT_NE(received.words[0].text.find(log), std::string::npos) << received.words[0].text;
    ASSERT_EQ(received.reports.size(), 1U);
    EXPECT_EQ(received.reports[0].kind, Kind::Drained);
    EXPECT_FALSE(pod.has("started"));
    EXPECT_FALSE(pod.has("elsewhere"));
  }
}

TEST(Guard, WritesItsFilesBeforeTheFirstProcess) {
  SmallPod pod;
  pod.add(Role::Trainer, "[ -e lists ] && touch was_there");
  GuardSettings settings = pod.settings();
  settings.files = {{.path = pod.path("lists"), .text = "of endpoints", .is_needed = true},
                    {.path = pod.path("no/such/place"), .text = "unwritable"}};
  Guard guard(pod.plan(), settings);
  const Guard::Reports received = first_words(guard);
  ASSERT_EQ(received.words.size(), 1U);
  EXPECT_EQ(received.words[0].kind, Kind::Warns);
  EXPECT_TRUE(pod.has("was_there"));
}

TEST(Guard, RemovesAFileThatHasServedWhenTheLastProcessIsGone) {
  SmallPod pod;
  pod.add(Role::Trainer, "while [ ! -e go ]; do sleep 0.01; done; [ -e lists ] && touch was_there");
  std::ofstream(pod.path("lists")) << "of endpoints";
  GuardSettings settings = pod.settings();
  settings.remove_at_end = pod.path("lists");
  Guard guard(pod.plan(), settings);
  std::ofstream(pod.path("go")) << "go";
  wait_for_end_of(guard);
  EXPECT_TRUE(pod.has("was_there"));
  EXPECT_FALSE(pod.has("lists"));
}

}  // namespace
}  // namespace paddle_launch
