// SPDX-License-Identifier: Apache-2.0
// The NCCL ids of a round: made by the pod that holds the job together, given to all pods.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "launcher/job/environment.h"
#include "launcher/job/job_spec.h"
#include "launcher/job/nccl_ids.h"
#include "launcher/job/start_method.h"
#include "launcher/nccl/id_keeper.h"
#include "launcher/rendezvous/rendezvous.h"

namespace paddle_launch {

class NcclIdMaker {
 public:
  // Loading libnccl takes a while, so a pod that will probably be asked begins early.
  void prepare(const JobSpec& job, const Environment& env, const Program& program);
  // Empty where NCCL is not there: the trainers then make their ids themselves, as always.
  PayloadMaker maker(const JobSpec& job, const Environment& env, const Program& program);

 private:
  std::string make(int trainers, std::uint32_t own_address);

  std::optional<NcclKeeper> keeper_;
  std::string problem_;  // why there are none
};

NcclIds ids_of_payload(std::string_view payload);

}  // namespace paddle_launch
