// SPDX-License-Identifier: Apache-2.0
// A FAKE of NVIDIA's NCCL, for what the real one cannot be made to do. FAKE_NCCL says how it fails:
//   error  ncclGetUniqueId gives an error         crash  it ends the process
//   hang   it never returns                       same   it always gives the same id
//   slow   a communicator never comes up          lost   it comes up with an error
// FAKE_NCCL_VERSION is its version (22809 if unset). FAKE_NCCL_ABORTED names a file that it makes
// when a communicator is aborted.
#include <unistd.h>

#include <array>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string_view>

namespace {

constexpr int kSuccess = 0;
constexpr int kSystemError = 2;
constexpr int kRemoteError = 6;
constexpr int kInProgress = 7;

struct UniqueId {
  std::array<char, 128> bytes;
};

char communicator = 0;  // its address is the handle

std::string_view way() {
  const char* const text = std::getenv("FAKE_NCCL");
  return text != nullptr ? text : "";
}

}  // namespace

extern "C" {

// NOLINTBEGIN(readability-identifier-naming): the names are NCCL's.
int ncclGetVersion(int* version) {
  const char* const text = std::getenv("FAKE_NCCL_VERSION");
  *version = text != nullptr ? std::atoi(text) : 22809;
  return kSuccess;
}

#ifndef FAKE_NCCL_WITHOUT_IDS
int ncclGetUniqueId(UniqueId* id) {
  static unsigned char made = 0;
  while (way() == "hang") pause();
  if (way() == "crash") __builtin_trap();
  if (way() == "error") return kSystemError;
  std::memset(id, 0, sizeof *id);
  if (way() != "same") ++made;
  id->bytes.front() = static_cast<char>(made);
  // What it was told about the interface, for tests to look at.
  const char* const name = std::getenv("NCCL_SOCKET_IFNAME");
  std::snprintf(&id->bytes.at(1), id->bytes.size() - 1, "%s", name != nullptr ? name : "none");
  std::printf("fake NCCL made an id\n");
  std::fflush(stdout);
  return kSuccess;
}
#endif

const char* ncclGetErrorString(int result) {
  return result == kSystemError ? "unhandled system error" : "remote process exited";
}

const char* ncclGetLastError(void* /*unused*/) { return "fake: no interface found"; }

int ncclCommInitRankConfig(void** comm, int /*nranks*/, UniqueId /*id*/, int /*rank*/,
                           void* /*config*/) {
  *comm = &communicator;
  return kInProgress;
}

int ncclCommInitRankScalable(void** comm, int /*nranks*/, int /*rank*/, int /*count*/,
                             UniqueId* /*ids*/, void* /*config*/) {
  *comm = &communicator;
  return kInProgress;
}

int ncclCommGetAsyncError(void* /*comm*/, int* state) {
  static int asked = 0;
  *state = kSuccess;
  if (way() == "slow" || ++asked < 3) *state = kInProgress;
  if (way() == "lost") *state = kRemoteError;
  return kSuccess;
}

int ncclCommAbort(void* /*comm*/) {
  const char* const name = std::getenv("FAKE_NCCL_ABORTED");
  if (name != nullptr) {
    std::FILE* const file = std::fopen(name, "w");
    if (file != nullptr) std::fclose(file);
  }
  return kSuccess;
}
// NOLINTEND(readability-identifier-naming)

}  // extern "C"
