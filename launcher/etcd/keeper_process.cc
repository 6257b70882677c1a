// SPDX-License-Identifier: Apache-2.0
#include "launcher/etcd/keeper_process.h"

#include <poll.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <csignal>
#include <optional>
#include <stdexcept>
#include <string>

#include "launcher/etcd/etcd_keeper.h"
#include "launcher/etcd/frame_pipe.h"
#include "launcher/etcd/keeper_wire.h"
#include "launcher/os/child.h"
#include "launcher/os/unique_fd.h"

namespace paddle_launch {
namespace {

constexpr unsigned kLastSeconds = 3;

// The end of the socket is what usually tells that the launcher is gone. This is for a keeper that
// is stuck at the time, in a name server or a file system: it must not stay for longer.
void limit_the_time_without_the_launcher() {
  const int parent_is_gone = SIGRTMIN;
  struct sigaction action {};
  action.sa_handler = [](int) { alarm(kLastSeconds); };
  sigaction(parent_is_gone, &action, nullptr);
  signal(SIGALRM, SIG_DFL);
  sigset_t both;
  sigemptyset(&both);
  sigaddset(&both, parent_is_gone);
  sigaddset(&both, SIGALRM);
  pthread_sigmask(SIG_UNBLOCK, &both, nullptr);
  prctl(PR_SET_PDEATHSIG, parent_is_gone);
}

// Without libcurl: every change is answered, with the reason.
void only_answer(FramePipe& launcher, const std::string& problem) {
  launcher.push(pack_connection({EtcdProblem::Kind::Explained, problem}));
  for (bool goes_on = true; goes_on;) {
    const auto events = static_cast<short>(POLLIN | (launcher.has_backlog() ? POLLOUT : 0));
    pollfd waiting{launcher.fd(), events, 0};
    poll(&waiting, 1, -1);
    launcher.flush();
    goes_on = launcher.receive();
    while (const auto frame = launcher.next()) {
      if (frame->starts_with(static_cast<char>(EtcdWord::Close))) return;
      if (!frame->starts_with(static_cast<char>(EtcdWord::Change))) continue;
      launcher.push(pack_answer({.problem = problem}));
    }
  }
}

void serve(const KeeperOrders& orders) {
  FramePipe launcher{UniqueFd(kOnlyDescriptor)};
  std::optional<EtcdKeeper> keeper;
  try {
    keeper.emplace(launcher, orders);
  } catch (const std::runtime_error& error) {
    return only_answer(launcher, error.what());
  }
  keeper->run();
  _exit(0);  // what libcurl has under way is not waited for
}

}  // namespace

void be_the_etcd_keeper(int socket, const KeeperOrders& orders) {
  prctl(PR_SET_NAME, "etcd keeper");
  setsid();  // Ctrl-C at the terminal is for the launcher
  signal(SIGCHLD, SIG_DFL);
  try {
    if (!keep_only(socket)) _exit(1);
    limit_the_time_without_the_launcher();
    serve(orders);
  } catch (...) {
    _exit(1);
  }
  _exit(0);
}

}  // namespace paddle_launch
