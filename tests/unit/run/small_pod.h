// SPDX-License-Identifier: Apache-2.0
// The plan of a pod whose processes are lines of shell, with logs in a temporary directory.
#pragma once

#include <filesystem>
#include <string>

#include "launcher/job/plan.h"
#include "launcher/run/guard.h"
#include "tests/unit/temp_folder.h"

namespace paddle_launch {

class SmallPod {
 public:
  SmallPod() {
    plan_.program = "/bin/sh";
    plan_.argv = {"sh", "-c", "cd " + folder_.string() + "; eval \"$DO\""};
    plan_.inherited = {{"PATH", "/usr/bin:/bin"}};
    settings_.grace = std::chrono::milliseconds(2000);
    settings_.inherited = what_was_inherited();
  }
  SmallPod(const SmallPod&) = delete;
  SmallPod& operator=(const SmallPod&) = delete;

  SmallPod& add(Role role, const std::string& line) {
    const auto place = std::to_string(plan_.processes.size());
    plan_.processes.push_back(
        {.role = role, .env = {{"DO", line}}, .log_path = folder_ / ("log." + place)});
    settings_.start_lines.push_back("==== start\n");
    return *this;
  }
  SmallPod& grace(std::chrono::milliseconds grace) {
    settings_.grace = grace;
    return *this;
  }
  SmallPod& hold_back(int processes) {
    plan_.held_back = processes;
    return *this;
  }

  bool has(const std::string& file) const { return std::filesystem::exists(folder_ / file); }
  std::filesystem::path path(const std::string& file) const { return folder_ / file; }
  ProcessPlan& plan() { return plan_; }
  const GuardSettings& settings() const { return settings_; }

 private:
  TempFolder temp_;
  const std::filesystem::path& folder_ = temp_.path();
  ProcessPlan plan_{};
  GuardSettings settings_{};
};

}  // namespace paddle_launch
