// SPDX-License-Identifier: Apache-2.0
// docs/decisions/0002: why the trainers have another parent than the launcher.
#include "launcher/run/guard.h"

#include <sys/syscall.h>
#include <unistd.h>

#include <csignal>
#include <map>
#include <utility>

#include <nlohmann/json.hpp>

#include "launcher/os/child.h"
#include "launcher/run/guard_process.h"
#include "launcher/tell/log_lines.h"
#include "launcher/tell/voice.h"

namespace paddle_launch {
namespace {

// Beyond what trainers may take to end.
constexpr std::chrono::seconds kToTakeItsLeave{5};

std::vector<std::string> make_start_lines(const ProcessPlan& plan) {
  const std::string now = timestamp();
  std::vector<std::string> lines;
  for (const ProcessSpec& spec : plan.processes) lines.push_back(log_start_line(plan, spec, now));
  return lines;
}

std::vector<PodFile> shared_files(const PodPlan& plan) {
  std::vector<PodFile> files;
  // Pods of one node share its directory.
  if (plan.first_on_node && !plan.log_dir.empty()) {
    files.push_back({.path = plan.log_dir + "/endpoints.log", .text = plan.endpoints_log});
  }
  if (plan.backup_path.empty()) return files;
  const nlohmann::json backup =
      std::map<std::string, std::string>(plan.backup_env.begin(), plan.backup_env.end());
  files.push_back(
      {.path = plan.backup_path, .text = backup.dump(), .mode = 0600, .is_needed = true});
  return files;
}

// It stops the trainers when the launcher is gone, and then ends by itself. Every descriptor would
// be copied and closed once for each trainer; the locks on ports are one a trainer.
ChildRecipe recipe_for(const ProcessPlan& plan, const GuardSettings& settings, int launcher) {
  ChildRecipe recipe{.name = "pl-guard",
                     .dies_with_launcher = false,
                     .own_session = settings.own_session,
                     .descriptors = ChildRecipe::Descriptors::Standard,
                     .kept = {launcher}};
  if (plan.function != nullptr) {
    const std::vector<int>& kept = plan.function->kept;
    recipe.kept.insert(recipe.kept.end(), kept.begin(), kept.end());
  }
  return recipe;
}

}  // namespace

GuardSettings guard_settings(const JobSpec& job, const PodPlan& plan, bool is_first_round) {
  return {.grace = job.grace,
          .log_dir = plan.log_dir,
          .log_overwrite = job.log_overwrite && is_first_round,
          .must_own_logs = is_first_round,
          .is_named = job.log_dir == kNamedLogs && plan.first_on_node && !plan.log_dir.empty() &&
                      is_first_round,
          .files = shared_files(plan),
          .start_lines = make_start_lines(plan.processes),
          .remove_at_end = plan.log_dir.empty() ? plan.backup_path : ""};
}

Guard::Guard(const ProcessPlan& plan, const GuardSettings& settings) : grace_(settings.grace) {
  // A pidfd tells of our death even while some other child still holds a copy of the socket. None
  // on Linux before 5.3: the end of the socket does.
  UniqueFd launcher(static_cast<int>(syscall(SYS_pidfd_open, getpid(), 0)));
  Child child = start_child(recipe_for(plan, settings, launcher.get()), [&](FramePipe orders) {
    GuardProcess(plan, settings, std::move(orders), std::move(launcher)).run();
  });
  pid_ = child.pid;
  guard_ = std::move(child.pipe);
}

Guard::~Guard() {
  if (pid_ < 0 || !guard_.is_open()) return;
  order(GuardOrder::Kind::Stop);
  if (is_gone_within(pid_, grace_ + kPatienceWithSigkill + kToTakeItsLeave)) return;
  kill(pid_, SIGKILL);
  is_gone_within(pid_, kPatienceWithGuard);
}

void Guard::wait_for_end() { is_gone_within(std::exchange(pid_, -1), kPatienceWithGuard); }

// A guard that is gone is noticed by receive().
void Guard::order(GuardOrder::Kind kind, int signal) {
  guard_.push(guard_frame(GuardOrder{kind, signal}));
}

Guard::Reports Guard::receive() {
  Reports result;
  result.guard_is_gone = !guard_.receive();
  while (const auto frame = guard_.next()) {
    std::string_view rest = *frame;
    const auto report = take_from<GuardReport>(rest);
    if (has_text(report.kind)) {
      result.words.push_back({report.kind, std::string(rest)});
    } else {
      result.reports.push_back(report);
    }
  }
  return result;
}

}  // namespace paddle_launch
