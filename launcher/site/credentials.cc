// SPDX-License-Identifier: Apache-2.0
// docs/job-channel.md says from what the secret of a job is made; docs/decisions/0019, why by
// MUNGE.
#include "launcher/site/credentials.h"

#include <fcntl.h>
#include <pwd.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <cstddef>
#include <cstring>
#include <filesystem>
#include <optional>
#include <stdexcept>
#include <system_error>
#include <vector>

#include <fmt/format.h>

#include "launcher/job/errors.h"
#include "launcher/os/files.h"
#include "launcher/os/shared_library.h"
#include "launcher/os/side_process.h"
#include "launcher/os/unique_fd.h"
#include "launcher/tell/log_lines.h"
#include "launcher/text/bytes_as_text.h"

namespace paddle_launch {
namespace {

constexpr std::size_t kShortest = 16;
constexpr std::size_t kLongest = 4096;
constexpr std::chrono::seconds kPatienceWithUserDatabase{5};

[[noreturn]] void refuse(const std::string& source, const std::string& reason,
                         const std::string& remedy) {
  throw UsageError(fmt::format("{}: {}; {}", source, reason, remedy));
}

// Bytes that an editor or `echo` adds must not make two secrets of one.
std::string without_trailing_space(std::string text) {
  text.erase(text.find_last_not_of(" \t\r\n\v\f") + 1);
  return text;
}

std::string how_to_make(const std::string& path) {
  return fmt::format(
      "make one with `(umask 077; openssl rand -hex 32 > {0})`, and copy it to "
      "every node",
      path);
}

void check_length(const std::string& secret, const std::string& source, const std::string& remedy) {
  if (secret.size() >= kShortest && secret.size() <= kLongest) return;
  refuse(source,
         fmt::format("the token has {} bytes, and {} to {} are needed",
                     secret.size() > kLongest ? "too many" : std::to_string(secret.size()),
                     kShortest, kLongest),
         remedy);
}

void check_owner_and_mode(const struct stat& file, const std::string& path,
                          const std::string& source) {
  if (!S_ISREG(file.st_mode)) {
    refuse(source, "this is not a regular file", "name a file that holds the token");
  }
  if (file.st_uid != geteuid() && file.st_uid != 0) {
    refuse(source,
           fmt::format("the file belongs to user id {}, not to {} or root, so others know the "
                       "token",
                       file.st_uid, user_name()),
           fmt::format("take a file of your own; {}", how_to_make(path)));
  }
  if ((file.st_mode & 077) != 0) {
    refuse(source,
           fmt::format("its mode is {:04o}, so others may read or change the token",
                       file.st_mode & 07777),
           fmt::format("run `chmod 600 {}`", path));
  }
}

std::string read_at_most(int fd, std::size_t most, const std::string& source) {
  std::string content(most, '\0');
  std::size_t filled = 0;
  while (filled < most) {
    const ssize_t got = read(fd, content.data() + filled, most - filled);
    if (got == 0) break;
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) refuse(source, std::strerror(errno), "give a file that can be read");
    filled += static_cast<std::size_t>(got);
  }
  content.resize(filled);
  return content;
}

// The opened file is examined, not its name: that could be another file a moment later.
// Non-blocking, since opening a FIFO would wait for its other end.
Token token_in(const std::string& path, const std::string& source) {
  const UniqueFd opened(open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY));
  if (!opened) {
    const int error = errno;
    refuse(
        source, fmt::format("cannot open the token file: {}", std::strerror(error)),
        error == ENOENT
            ? fmt::format("make one with `paddle-launch --make_token --token_file={}`, and bring "
                          "it to every node",
                          path)
            : "give a file that you can read");
  }
  struct stat file {};
  if (fstat(opened.get(), &file) != 0) refuse(source, std::strerror(errno), how_to_make(path));
  check_owner_and_mode(file, path, source);
  // One more than the longest: the end of a line.
  std::string content = read_at_most(opened.get(), kLongest + 1, source);
  if (file.st_size <= static_cast<off_t>(kLongest + 1)) {
    content = without_trailing_space(std::move(content));
  }
  check_length(content, source, how_to_make(path));
  return {std::move(content), source};
}

// None: nobody says where the user keeps settings.
std::optional<std::string> usual_path(const Environment& env) {
  const std::string file = "/paddle-launch/token";
  const std::string settings = lookup(env, "XDG_CONFIG_HOME").value_or("");
  if (settings.starts_with('/')) return settings + file;  // XDG: a relative path is to be ignored
  const std::string home = lookup(env, "HOME").value_or("");
  if (home.empty()) return std::nullopt;
  return home + "/.config" + file;
}

// In a container HOME is often a directory that the user may not enter: nothing is there then.
bool is_there(const std::string& path) {
  struct stat file {};
  return stat(path.c_str(), &file) == 0;
}

std::string name_of_user(uid_t uid) {
  std::vector<char> text(16384);
  passwd entry{};
  passwd* found = nullptr;
  if (getpwuid_r(uid, &entry, text.data(), text.size(), &found) != 0 || found == nullptr) return "";
  return found->pw_name;
}

}  // namespace

Token find_token(const JobSpec& job, const Environment& env) {
  if (job.token_file) return token_in(*job.token_file, "--token_file=" + *job.token_file);
  if (job.token) {
    Token token{without_trailing_space(*job.token), "PADDLE_LAUNCH_TOKEN"};
    check_length(token.secret, token.source,
                 "set it to the output of `openssl rand -hex 32`, the same on every node, or unset "
                 "it");
    return token;
  }
  const auto path = usual_path(env);
  if (!path || !is_there(*path)) return {};
  return token_in(*path, *path);
}

namespace {

constexpr std::size_t kRandomBytes = 32;

void make_folder_of(const std::string& path, const std::string& source) {
  const std::filesystem::path folder = std::filesystem::path(path).parent_path();
  if (folder.empty()) return;
  std::error_code error;
  std::filesystem::create_directories(folder.parent_path(), error);
  if (mkdir(folder.c_str(), 0700) == 0 || errno == EEXIST) return;
  refuse(source, fmt::format("cannot make {}: {}", folder.string(), std::strerror(errno)),
         "name a file elsewhere with --token_file");
}

void write_token(int fd, const std::string& path, const std::string& source) {
  std::array<char, kRandomBytes> bytes{};
  const bool drawn = getrandom(bytes.data(), bytes.size(), 0) == static_cast<ssize_t>(bytes.size());
  if (drawn && write_all(fd, in_hex({bytes.data(), bytes.size()}) + "\n")) return;
  const int error = errno;
  unlink(path.c_str());
  refuse(source, fmt::format("cannot write the token: {}", std::strerror(error)),
         "name a file elsewhere with --token_file");
}

std::string how_to_bring(const std::string& path, bool is_named) {
  const std::string quoted = shell_quoted({path});
  const std::string folder = shell_quoted({std::filesystem::path(path).parent_path().string()});
  const std::string there =
      shell_quoted({fmt::format("umask 077; mkdir -p {} && cat > {}", folder, quoted)});
  return fmt::format(
      "it must be at the same place on every node; to bring it to one that does not share this "
      "disk:\nssh NODE {} < {}\nlaunchers {}\n",
      there, quoted,
      is_named ? fmt::format("take it with --token_file={}", quoted)
               : "find it there by themselves");
}

}  // namespace

// Whoever runs this at the same time on another node of a shared disk finds the file there.
std::string make_token(const std::optional<std::string>& file, const Environment& env) {
  std::optional<std::string> path = file ? file : usual_path(env);
  const std::string source = file ? "--token_file=" + *file : "--make_token";
  if (!path) refuse(source, "HOME is not set", "name a file with --token_file=FILE");
  path = std::filesystem::absolute(*path).lexically_normal().string();
  make_folder_of(*path, source);
  const UniqueFd made(open(path->c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600));
  if (!made && errno != EEXIST) {
    refuse(source, fmt::format("cannot make {}: {}", *path, std::strerror(errno)),
           "name a file elsewhere with --token_file");
  }
  if (made) {
    write_token(made.get(), *path, source);
  } else {
    token_in(*path, *path);
  }
  return fmt::format("{}: {}\n{}", *path,
                     made ? "a new token, random and readable by you alone"
                          : "a token is there already and stays as it is",
                     how_to_bring(*path, file.has_value()));
}

std::string user_name() {
  const uid_t uid = geteuid();
  // The user database may be on a network that hangs.
  const auto name = run_aside(kPatienceWithUserDatabase, [uid] { return name_of_user(uid); });
  return name && !name->empty() ? *name : fmt::format("uid {}", uid);
}

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
