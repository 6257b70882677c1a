// SPDX-License-Identifier: Apache-2.0
#include "launcher/steps/nccl_id_maker.h"

#include <chrono>
#include <exception>

#include "launcher/job/errors.h"
#include "launcher/plan/nccl_env.h"
#include "launcher/site/machine.h"
#include "launcher/text/wire.h"

namespace paddle_launch {
namespace {

// A library of 200 MB on a slow shared disk takes its time.
constexpr std::chrono::seconds kPatience{20};

std::string pack(const NcclIds& ids) {
  WireWriter out;
  out.varint(static_cast<std::uint64_t>(ids.version));
  out.text(ids.library);
  out.varint(ids.ids.size());
  for (const std::string& id : ids.ids) out.text(id);
  return out.take();
}

// The interpreter of the trainers, whose packages may hold their own NCCL; empty: no Python.
std::string interpreter_of(const Program& program) {
  return program.path.find("python") == std::string::npos ? std::string() : program.path;
}

}  // namespace

void NcclIdMaker::prepare(const JobSpec& job, const Environment& env, const Program& program) {
  if (keeper_ || !job.nccl_ids) return;
  try {
    keeper_.emplace(NcclSearch{
        .given = job.nccl_lib.value_or(""), .python = interpreter_of(program), .env = env});
  } catch (const std::exception& error) {
    problem_ = error.what();
  }
}

PayloadMaker NcclIdMaker::maker(const JobSpec& job, const Environment& env,
                                const Program& program) {
  if (!job.nccl_ids) return {};
  return [this, &job, &env, &program](int trainers, std::uint32_t own_address) {
    prepare(job, env, program);
    std::string payload = make(trainers, own_address);
    if (payload.empty() && job.nccl_lib) {
      throw UsageError("--nccl_lib=" + *job.nccl_lib + ": " + problem_ +
                       "; name the libnccl.so.2 that the trainers load, or leave out --nccl_lib");
    }
    return payload;
  };
}

std::string NcclIdMaker::make(int trainers, std::uint32_t own_address) {
  if (!keeper_) return {};
  keeper_->ask(ids_for(trainers), interface_of(own_address).value_or(""));
  const std::optional<NcclIds>& ids = keeper_->wait(kPatience);
  if (ids) return pack(*ids);
  problem_ = keeper_->problem();
  keeper_.reset();
  return {};
}

NcclIds ids_of_payload(std::string_view payload) {
  if (payload.empty()) return {};
  WireReader in(payload);
  NcclIds ids;
  ids.version = static_cast<int>(in.varint(INT32_MAX));
  ids.library = in.text(in.left());
  ids.ids.resize(in.count());
  for (std::string& id : ids.ids) id = in.text(kNcclIdBytes);
  return in.finished_well() ? ids : NcclIds{};
}

}  // namespace paddle_launch
