// SPDX-License-Identifier: Apache-2.0
#include "launcher/site/munge.h"

#include <sys/types.h>
#include <unistd.h>

#include <chrono>
#include <stdexcept>

#include "launcher/os/shared_library.h"
#include "launcher/os/side_process.h"

namespace paddle_launch {
namespace {

constexpr std::chrono::seconds kPatience{5};
// Of munge.h; part of the library's stable interface.
constexpr int kOptionSocket = 8;
constexpr int kOptionUidRestriction = 9;
constexpr int kSuccess = 0;
constexpr int kExpired = 15;
constexpr int kReplayed = 17;

class Munge {
 public:
  explicit Munge(const Environment& env)
      : library_("libmunge.so.2"), context_(library_.symbol<void* (*)()>("munge_ctx_create")()) {
    // The daemon's usual place unless a site has moved it.
    if (const auto socket = lookup(env, "PADDLE_LAUNCH_MUNGE_SOCKET")) {
      set()(context_, kOptionSocket, socket->c_str());
    }
  }

  std::string seal(const std::string& secret) const {
    using Encode = int (*)(char**, void*, const void*, int);
    set()(context_, kOptionUidRestriction, geteuid());
    char* credential = nullptr;
    const int result = library_.symbol<Encode>("munge_encode")(&credential, context_, secret.data(),
                                                               static_cast<int>(secret.size()));
    if (result != kSuccess || credential == nullptr) throw std::runtime_error("munge_encode");
    return credential;
  }

  // Several launchers of a node open the same credential, perhaps long after it was written: what
  // its age and number of readers say does not matter, who wrote it does.
  std::string open(const std::string& credential) const {
    using Decode = int (*)(const char*, void*, void**, int*, uid_t*, gid_t*);
    void* bytes = nullptr;
    int size = 0;
    uid_t uid = 0;
    gid_t gid = 0;
    const int result = library_.symbol<Decode>("munge_decode")(credential.c_str(), context_, &bytes,
                                                               &size, &uid, &gid);
    const bool readable = result == kSuccess || result == kReplayed || result == kExpired;
    if (!readable || bytes == nullptr || size <= 0 || uid != geteuid()) {
      throw std::runtime_error("munge_decode");
    }
    return {static_cast<const char*>(bytes), static_cast<std::size_t>(size)};
  }

 private:
  using Set = int (*)(void*, int, ...);
  Set set() const { return library_.symbol<Set>("munge_ctx_set"); }

  SharedLibrary library_;
  void* context_;
};

}  // namespace

std::optional<std::string> munge_seal(const std::string& secret, const Environment& env) {
  return run_aside(kPatience, [&] { return Munge(env).seal(secret); });
}

std::optional<std::string> munge_open(const std::string& credential, const Environment& env) {
  return run_aside(kPatience, [&] { return Munge(env).open(credential); });
}

}  // namespace paddle_launch
