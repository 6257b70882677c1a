// SPDX-License-Identifier: Apache-2.0
// Where the logs of a job go: the directory, made and checked, and its name under --log_dir=auto. A
// dead disk would hold the launcher, which therefore asks for all of it aside.
#pragma once

#include <ctime>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "launcher/job/job_spec.h"

namespace paddle_launch {

// What `work` says, asked of a disk aside and for a limited time. None: the disk has not answered.
// Throws the UsageError or LaunchError that `work` throws.
std::optional<std::string> ask_disk(const std::function<std::string()>& work);

// Makes the directory where it is missing. Throws UsageError when no log could be written there.
void prepare_log_directory(const std::string& directory);

// --log_dir=auto: a directory for each job, below `log`, with the link `latest` beside it.

constexpr std::string_view kParentOfNamedLogs = "log";

// "20220817-130502-train": when it was started, and what.
std::string name_for_logs(const std::string& script, std::time_t now);
// One name comes from another node, and is used as a path.
bool is_name_for_logs(std::string_view name);

// Makes the directory, and nobody else has it: where the name is taken, "-2" or more stands behind
// it. Returns the name. Throws UsageError, or LaunchError where the disk does not answer; it is
// asked aside.
std::string make_named_logs(const std::string& parent, const std::string& wish);

// The directory of the whole job, for all of its rounds.
class NamedLogs {
 public:
  explicit NamedLogs(const JobSpec& job);

  // On the first pod that is asked, which makes the directory (for a dry run only its name); empty
  // without --log_dir=auto.
  std::string name_for_all(const std::string& parent);
  // Without other nodes, and without making anything: for --dry_run.
  void assume(std::string& log_dir) const;
  // From the first pod's name to the directory of this pod, once. A first pod that has no name for
  // it leaves it to this one.
  void take(const std::string& name, std::string& log_dir);

 private:
  const JobSpec& job_;
  bool is_asked_for_;
  bool is_taken_ = false;
  std::string name_{};
};

}  // namespace paddle_launch
