// SPDX-License-Identifier: Apache-2.0
#include "launcher/nccl/keeper_process.h"

#include <sys/prctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <exception>
#include <stdexcept>
#include <string>
#include <string_view>

#include <fmt/format.h>

#include "launcher/nccl/find_nccl.h"
#include "launcher/nccl/keeper_wire.h"
#include "launcher/nccl/nccl_library.h"
#include "launcher/os/child.h"

namespace paddle_launch {
namespace {

constexpr const char* kInterfaceVariable = "NCCL_SOCKET_IFNAME";

// NCCL prints its debug lines to stdout; where they were asked for they go to the launcher's
// stderr, as they must not mix with the trainers'.
ChildOutput output_of(const Environment& env) {
  return lookup(env, "NCCL_DEBUG") ? ChildOutput::Stderr : ChildOutput::Nowhere;
}

void say(KeeperWord word, std::string_view text) {
  const std::string packet =
      static_cast<char>(word) + std::string(text.substr(0, kLongestPacket - 1));
  if (send(kOnlyDescriptor, packet.data(), packet.size(), MSG_NOSIGNAL) < 0) _exit(1);
}

// The next packet; the launcher's end of the socket closed is the end of this process.
std::string hear() {
  std::string packet(kLongestPacket, '\0');
  ssize_t size = -1;
  do {
    size = recv(kOnlyDescriptor, packet.data(), packet.size(), 0);
  } while (size < 0 && errno == EINTR);
  if (size <= 0) _exit(size == 0 ? 0 : 1);
  packet.resize(static_cast<std::size_t>(size));
  return packet;
}

[[noreturn]] void stay() {
  for (;;) hear();
}

// The user's variable and NCCL's configuration files win: the trainers obey them as well.
void choose_interface(const std::string& name, const Environment& env) {
  if (name.empty() || conf_sets(nccl_conf_files(env), kInterfaceVariable)) return;
  setenv(kInterfaceVariable, ("=" + name).c_str(), 0);
}

NcclLibrary open_library(const NcclSearch& search) {
  say(KeeperWord::Step, "looking for libnccl.so.2");
  const NcclCandidates found = find_nccl(search);
  if (!found.problem.empty()) throw std::runtime_error(found.problem);
  say(KeeperWord::Step, fmt::format("opening {}", found.paths.front()));
  OpenedNccl opened = open_nccl(found.paths);
  if (!opened.library) throw std::runtime_error(opened.problem);
  say(KeeperWord::Step, "waiting for the order");
  return std::move(*opened.library);
}

void serve(const NcclSearch& search) {
  const NcclLibrary nccl = open_library(search);
  const auto order = unpack_order(hear());
  if (!order) throw std::runtime_error("the NCCL keeper did not understand its order");
  choose_interface(order->interface_name, search.env);
  say(KeeperWord::Step, "making ids with ncclGetUniqueId");
  say(KeeperWord::Ids, pack_ids(nccl.make_ids(order->count)));
  stay();
}

}  // namespace

void be_the_nccl_keeper(int socket, pid_t launcher, const NcclSearch& search) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != launcher) _exit(1);
  prctl(PR_SET_NAME, "nccl keeper");
  setsid();                  // Ctrl-C at the terminal is for the launcher
  signal(SIGCHLD, SIG_DFL);  // libraries that start programs of their own wait for them
  try {
    if (!keep_only(socket, output_of(search.env))) _exit(1);
    serve(search);
  } catch (const std::exception& error) {
    say(KeeperWord::Problem, error.what());
    stay();
  } catch (...) {
    _exit(1);
  }
  _exit(0);
}

}  // namespace paddle_launch
