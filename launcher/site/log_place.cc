// SPDX-License-Identifier: Apache-2.0
// docs/logs-and-ranks.md says what becomes of the logs.
#include "launcher/site/log_place.h"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cerrno>
#include <cstring>
#include <exception>

#include <fmt/format.h>

#include "launcher/job/errors.h"
#include "launcher/os/side_process.h"

namespace paddle_launch {
namespace {

constexpr std::size_t kLongestScript = 60;
constexpr std::size_t kLongestName = 200;
constexpr int kMostOfOneSecond = 10'000;
// The first byte of what the side process answers.
constexpr char kDone = '.';
constexpr char kWrongUse = '?';
constexpr char kProblem = '!';

bool is_plain(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '-' || c == '_' || c == '.';
}

std::string try_names(const std::string& parent, const std::string& wish) {
  prepare_log_directory(parent);
  for (int i = 1; i <= kMostOfOneSecond; ++i) {
    std::string name = i == 1 ? wish : fmt::format("{}-{}", wish, i);
    if (mkdir((parent + "/" + name).c_str(), 0777) == 0) return name;
    if (errno != EEXIST) break;
  }
  throw UsageError(
      fmt::format("--log_dir=auto: cannot make {}/{}: {}; name a directory with --log_dir=DIR",
                  parent, wish, std::strerror(errno)));
}

[[noreturn]] void refuse(const std::string& directory, const std::string& object, int error) {
  throw UsageError(fmt::format("--log_dir={}: {}: {}; name a directory that you may write to",
                               directory, object, std::strerror(error)));
}

void make_directories(const std::string& directory) {
  for (std::size_t slash = directory.find('/', 1);; slash = directory.find('/', slash + 1)) {
    const std::string part = directory.substr(0, slash);
    const int error = mkdir(part.c_str(), 0777) == 0 ? 0 : errno;
    const bool is_there = error == 0 || error == EEXIST || access(part.c_str(), F_OK) == 0;
    if (!is_there) refuse(directory, "cannot make " + part, error);
    if (slash == std::string::npos) return;
  }
}

}  // namespace

std::optional<std::string> ask_disk(const std::function<std::string()>& work) {
  const auto answer = run_aside(kPatienceWithDisk, [&work] {
    try {
      return kDone + work();
    } catch (const UsageError& error) {
      return kWrongUse + std::string(error.what());
    } catch (const std::exception& error) {
      return kProblem + std::string(error.what());
    }
  });
  if (!answer) return std::nullopt;
  const std::string text = answer->substr(1);
  if (answer->front() == kWrongUse) throw UsageError(text);
  if (answer->front() == kProblem) throw LaunchError(text);
  return text;
}

void prepare_log_directory(const std::string& directory) {
  make_directories(directory);
  struct stat status {};
  if (stat(directory.c_str(), &status) != 0) refuse(directory, "cannot look at it", errno);
  if (!S_ISDIR(status.st_mode)) refuse(directory, "cannot be used", ENOTDIR);
  if (access(directory.c_str(), W_OK | X_OK) != 0) refuse(directory, "cannot be written", errno);
}

std::string name_for_logs(const std::string& script, std::time_t now) {
  std::string what = script.substr(script.rfind('/') + 1);
  if (what.ends_with(".py")) what.resize(what.size() - 3);
  std::replace_if(
      what.begin(), what.end(), [](char c) { return !is_plain(c); }, '_');
  what.resize(std::min(what.size(), kLongestScript));
  std::tm local{};
  localtime_r(&now, &local);
  std::array<char, 32> when{};
  const std::size_t size = std::strftime(when.data(), when.size(), "%Y%m%d-%H%M%S", &local);
  return fmt::format("{}-{}", std::string_view(when.data(), size), what.empty() ? "job" : what);
}

bool is_name_for_logs(std::string_view name) {
  return !name.empty() && name.size() <= kLongestName && name.front() != '.' &&
         std::all_of(name.begin(), name.end(), is_plain);
}

std::string make_named_logs(const std::string& parent, const std::string& wish) {
  if (const auto name = ask_disk([&] { return try_names(parent, wish); })) return *name;
  throw LaunchError(fmt::format(
      "--log_dir=auto: {} could not be made within {} s; name a directory whose disk answers",
      parent, kPatienceWithDisk.count()));
}

NamedLogs::NamedLogs(const JobSpec& job)
    : job_(job),
      is_asked_for_(job.log_dir == kNamedLogs && job.console != ConsoleMode::Direct && !job.check) {
}

std::string NamedLogs::name_for_all(const std::string& parent) {
  if (is_asked_for_ && name_.empty()) {
    const std::string wish = name_for_logs(job_.script.name, std::time(nullptr));
    name_ = job_.dry_run == DryRun::No ? make_named_logs(parent, wish) : wish;
  }
  return name_;
}

void NamedLogs::assume(std::string& log_dir) const {
  if (is_asked_for_) log_dir += "/" + name_for_logs(job_.script.name, std::time(nullptr));
}

void NamedLogs::take(const std::string& name, std::string& log_dir) {
  if (!is_asked_for_ || is_taken_) return;
  name_ = is_name_for_logs(name) ? name : name_for_logs(job_.script.name, std::time(nullptr));
  log_dir += "/" + name_;
  is_taken_ = true;
}

}  // namespace paddle_launch
