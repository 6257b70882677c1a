// SPDX-License-Identifier: Apache-2.0
// docs/nccl.md says what the ids are for; docs/decisions/0021, why the launcher makes them.
#include "launcher/nccl/id_keeper.h"

#include <sys/wait.h>

#include <chrono>
#include <csignal>
#include <exception>
#include <utility>

#include <fmt/format.h>

#include "launcher/job/environment.h"
#include "launcher/job/errors.h"
#include "launcher/nccl/id_keeper_process.h"
#include "launcher/os/child.h"
#include "launcher/text/signal_name.h"

namespace paddle_launch {
namespace {

using std::chrono::milliseconds;
using std::chrono::steady_clock;

// The longest to wait for a killed keeper to be gone; usually it takes a few milliseconds.
constexpr milliseconds kLastBreath{500};

// NCCL prints its debug lines to stdout; where they were asked for they go to the launcher's
// stderr, as they must not mix with the trainers'.
ChildRecipe recipe_for(const Environment& env) {
  const bool may_print = lookup(env, "NCCL_DEBUG").has_value();
  return {
      .name = "nccl keeper",
      .own_session = true,
      .descriptors = may_print ? ChildRecipe::Descriptors::Errors : ChildRecipe::Descriptors::None};
}

}  // namespace

NcclKeeper::NcclKeeper(const NcclSearch& search) {
  Child child = start_child(recipe_for(search.env), [&search](FramePipe launcher) {
    be_the_nccl_keeper(launcher, search);
  });
  pid_ = child.pid;
  keeper_ = std::move(child.pipe);
}

NcclKeeper::~NcclKeeper() { end(); }

void NcclKeeper::end() {
  keeper_ = FramePipe();
  if (pid_ < 0) return;
  if (!is_gone(pid_)) {
    kill(pid_, SIGKILL);
    is_gone_within(pid_, kLastBreath);
  }
  pid_ = -1;
}

void NcclKeeper::ask(int count, const std::string& interface_name) {
  keeper_.push(pack_order({count, interface_name}));
}

void NcclKeeper::take(const std::string& packet) {
  const std::string text = packet.substr(1);
  switch (static_cast<KeeperWord>(packet.front())) {
    case KeeperWord::Step:
      step_ = text;
      break;
    case KeeperWord::Problem:
      problem_ = text;
      break;
    case KeeperWord::Ids:
      ids_ = unpack_ids(text);
      if (!ids_) problem_ = "the NCCL keeper gave ids that cannot be read";
      break;
  }
}

void NcclKeeper::explain_the_end() {
  int status = 0;
  std::string how;
  if (is_gone_within(pid_, kLastBreath, &status)) {
    pid_ = -1;
    if (WIFSIGNALED(status)) how = fmt::format("by {} ", signal_name(WTERMSIG(status)));
  }
  problem_ = fmt::format("the process that holds libnccl ended {}while {}", how, step_);
}

const std::optional<NcclIds>& NcclKeeper::wait(milliseconds deadline) {
  const auto until = steady_clock::now() + deadline;
  while (!ids_ && problem_.empty()) {
    if (const auto packet = keeper_.wait(until)) {
      take(*packet);
    } else if (steady_clock::now() < until) {
      explain_the_end();
    } else {
      problem_ =
          fmt::format("libnccl gave no ids within {} ms; it was {}", deadline.count(), step_);
    }
  }
  return ids_;
}

namespace {

// A library of 200 MB on a slow shared disk takes its time.
constexpr std::chrono::seconds kPatience{20};

// The interpreter of the trainers; empty: no Python.
std::string interpreter_of(const Program& program) {
  return program.path.find("python") == std::string::npos ? std::string() : program.path;
}

}  // namespace

NcclIdMaker::NcclIdMaker(const JobSpec& job, const Environment& env, const Program& program)
    : job_(job), env_(env), program_(program) {}

void NcclIdMaker::prepare() {
  if (keeper_ || !job_.nccl_ids) return;
  try {
    keeper_.emplace(NcclSearch{
        .given = job_.nccl_lib.value_or(""), .python = interpreter_of(program_), .env = env_});
  } catch (const std::exception& error) {
    problem_ = error.what();
  }
}

NcclIds NcclIdMaker::make(int count, const std::string& interface_name) {
  if (!job_.nccl_ids) return {};
  prepare();
  if (keeper_) {
    keeper_->ask(count, interface_name);
    if (const auto& ids = keeper_->wait(kPatience)) return *ids;
    problem_ = keeper_->problem();
    keeper_.reset();
  }
  if (!job_.nccl_lib) return {};
  throw UsageError("--nccl_lib=" + *job_.nccl_lib + ": " + problem_ +
                   "; name the libnccl.so.2 that the trainers load, or leave out --nccl_lib");
}

void NcclIdMaker::end_round() {
  keeper_.reset();
  problem_.clear();
}

}  // namespace paddle_launch
