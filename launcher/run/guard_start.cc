// SPDX-License-Identifier: Apache-2.0
// The guard's first act, and in jobs with servers its second: environments and processes.
#include <unistd.h>

#include <algorithm>
#include <utility>

#include "launcher/os/check.h"
#include "launcher/run/guard_process.h"
#include "launcher/run/log_directory.h"
#include "launcher/run/start_process.h"

namespace paddle_launch {
namespace {

class CpuMask {
 public:
  explicit CpuMask(const std::vector<int>& cpus) {
    if (cpus.empty()) return;
    int highest = 0;
    for (const int cpu : cpus) highest = std::max(highest, cpu);
    size_ = CPU_ALLOC_SIZE(static_cast<std::size_t>(highest) + 1);
    bits_.resize(size_ / sizeof(cpu_set_t) + 1);
    for (const int cpu : cpus) CPU_SET_S(static_cast<std::size_t>(cpu), size_, bits_.data());
  }
  const cpu_set_t* get() const { return bits_.empty() ? nullptr : bits_.data(); }
  std::size_t size() const { return size_; }

 private:
  std::vector<cpu_set_t> bits_;
  std::size_t size_ = 0;
};

// A full disk may cost us our own line, never the job.
void write_start_line(int log, const std::string& line) {
  const std::string text = ends_unfinished(log) ? "\n" + line : line;
  [[maybe_unused]] const ssize_t written = write(log, text.data(), text.size());
}

std::string assignment(const EnvVar& variable) { return variable.first + "=" + variable.second; }

std::vector<char*> pointers(const std::vector<std::string>& shared,
                            const std::vector<std::string>& own) {
  std::vector<char*> result;
  result.reserve(shared.size() + own.size() + 1);
  for (const std::string& text : shared) result.push_back(const_cast<char*>(text.c_str()));
  for (const std::string& text : own) result.push_back(const_cast<char*>(text.c_str()));
  result.push_back(nullptr);
  return result;
}

}  // namespace

void GuardProcess::start_first() {
  if (phase_ != Phase::Running) return;
  rest_held_back_ = plan_.held_back > 0;
  start_workers(0, workers_.size() - static_cast<std::size_t>(plan_.held_back));
  if (phase_ == Phase::Running) unsent_.push_back({.kind = GuardReport::Kind::Started});
  for (const GuardOrder& order : std::exchange(early_orders_, {})) obey(order);
}

void GuardProcess::start_rest() {
  if (!rest_waits()) return;
  rest_held_back_ = false;
  start_workers(workers_.size() - static_cast<std::size_t>(plan_.held_back), workers_.size());
  // The order may have crossed a Ctrl-Z, after which everybody stands still.
  if (frozen_) freeze();
}

void GuardProcess::start_workers(std::size_t first, std::size_t end) {
  std::vector<std::string> shared_env;
  for (const EnvVar& variable : plan_.inherited) shared_env.push_back(assignment(variable));
  for (const EnvVar& variable : plan_.common_env) shared_env.push_back(assignment(variable));
  for (std::size_t i = first; i < end; ++i) {
    if (!start_worker(i, shared_env)) return;
  }
  if (rest_held_back_) return;
  console_output_.reset();
  console_errors_.reset();
}

StartResult GuardProcess::start(std::size_t index, const StartRequest& request) const {
  const OwnFunction* const function = plan_.function;
  if (function == nullptr) return start_process(request);
  return start_function(request, *function, [this, function, index] {
    return function->call(index, plan_.processes.size(), plan_.processes[index].rank);
  });
}

bool GuardProcess::start_worker(std::size_t index, const std::vector<std::string>& shared_env) {
  const ProcessSpec& spec = plan_.processes[index];
  const UniqueFd& log = logs_[index];
  if (log) write_start_line(log.get(), settings_.start_lines[index]);
  std::vector<std::string> own_env;
  for (const EnvVar& variable : spec.env) own_env.push_back(assignment(variable));
  const std::vector<char*> argv = pointers(plan_.argv, {});
  const std::vector<char*> env = pointers(shared_env, own_env);
  const CpuMask cpus(spec.cpus);
  const StartRequest request{.program = plan_.program.c_str(),
                             .argv = argv.data(),
                             .env = env.data(),
                             .stdin_fd = spec.has_stdin ? STDIN_FILENO : null_.get(),
                             .output_fd = log ? log.get() : console_output_.get(),
                             .error_fd = log ? log.get() : console_errors_.get(),
                             .cpus = cpus.get(),
                             .cpus_size = cpus.size(),
                             .mask = settings_.mask,
                             .open_files = settings_.open_files,
                             .ignore_sigchld = settings_.ignore_sigchld,
                             .take_terminal = settings_.lend_terminal && spec.has_stdin};
  const StartResult result = start(index, request);
  if (result.error != 0) {
    report_not_started(index, result.error, result.exec);
    return false;
  }
  workers_[index].pid = result.pid;
  workers_[index].started = Clock::now();
  return true;
}

void GuardProcess::report_not_started(std::size_t index, int error, bool exec) {
  unsent_.push_back({.kind = GuardReport::Kind::NotStarted,
                     .exec = exec,
                     .worker = static_cast<std::int32_t>(index),
                     .error = error});
  stop();
}

}  // namespace paddle_launch
