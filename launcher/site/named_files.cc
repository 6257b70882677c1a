// SPDX-License-Identifier: Apache-2.0
#include "launcher/site/named_files.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "launcher/job/errors.h"
#include "launcher/os/files.h"
#include "launcher/os/side_process.h"
#include "launcher/os/unique_fd.h"

namespace paddle_launch {
namespace {

constexpr mode_t kMode = 0666;

// Replacing the file behind a symbolic link leaves the link as it is.
std::string behind_links(const std::string& path) {
  std::error_code error;
  const std::filesystem::path real = std::filesystem::canonical(path, error);
  return error ? path : real.string();
}

// A file that takes the place of /dev/null would hurt everybody.
std::optional<std::string> why_not_to_be_replaced(const std::string& path) {
  struct stat status {};
  if (stat(path.c_str(), &status) != 0 || S_ISREG(status.st_mode)) return std::nullopt;
  return fmt::format("{}: {}", path,
                     S_ISDIR(status.st_mode) ? "is a directory" : "is not a regular file");
}

std::optional<std::string> replace(const std::string& path, const std::string& content) {
  const std::string real = behind_links(path);
  if (auto refused = why_not_to_be_replaced(real)) return refused;
  return replace_file(real, content, kMode);
}

// Makes and removes a file beside it: what may be written there, only trying tells.
std::optional<std::string> try_to_write(const std::string& path) {
  const std::string real = behind_links(path);
  if (auto refused = why_not_to_be_replaced(real)) return refused;
  const std::string trial = fmt::format("{}.{}.trial", real, getpid());
  if (const auto failed = replace_file(trial, "", kMode)) {
    return path + failed->substr(trial.size());
  }
  unlink(trial.c_str());
  return std::nullopt;
}

}  // namespace

void check_report_file(const std::string& path) {
  const std::optional<std::string> problem =
      run_aside(kPatienceWithDisk, [&path] { return try_to_write(path).value_or(std::string()); });
  if (problem && problem->empty()) return;
  throw UsageError(
      fmt::format("--report={}; name a file in a directory that is there and that you may write to",
                  problem.value_or(path + ": the file system does not answer")));
}

std::optional<std::string> write_report_file(const std::string& path, const std::string& content) {
  std::optional<std::string> problem = run_aside(kPatienceWithDisk, [&path, &content] {
    return replace(path, content).value_or(std::string());
  });
  if (!problem) return path + ": the file system does not answer";
  if (problem->empty()) return std::nullopt;
  return problem;
}

void check_etcd_files(const EtcdSpec& etcd) {
  const std::pair<const char*, const std::string&> files[] = {
      {"--etcd_cacert", etcd.cacert}, {"--etcd_cert", etcd.cert}, {"--etcd_key", etcd.key}};
  for (const auto& [option, path] : files) {
    if (path.empty()) continue;
    const UniqueFd file(open(path.c_str(), O_RDONLY | O_CLOEXEC));
    if (file) continue;
    throw UsageError(
        fmt::format("{}={}: it cannot be read: {}; name a file that can, or leave out {}", option,
                    path, std::strerror(errno), option));
  }
}

}  // namespace paddle_launch
