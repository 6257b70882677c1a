// SPDX-License-Identifier: Apache-2.0
#include "launcher/nccl/id_maker.h"

#include <chrono>
#include <exception>

#include "launcher/job/errors.h"

namespace paddle_launch {
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
