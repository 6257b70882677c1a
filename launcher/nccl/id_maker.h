// SPDX-License-Identifier: Apache-2.0
// On the first pod: the NCCL ids of a round, for the trainers of all pods.
#pragma once

#include <optional>
#include <string>

#include "launcher/job/environment.h"
#include "launcher/job/job_spec.h"
#include "launcher/job/nccl_ids.h"
#include "launcher/job/start_method.h"
#include "launcher/nccl/id_keeper.h"

namespace paddle_launch {

class NcclIdMaker {
 public:
  // `program`: of the trainers, whose packages may hold their own NCCL.
  NcclIdMaker(const JobSpec& job, const Environment& env, const Program& program);

  // Loading libnccl takes a while, so a pod that will probably be asked begins early.
  void prepare();
  // `interface_name`: where the ranks check in; empty: NCCL's own choice. No ids where NCCL is not
  // there: the trainers then make them themselves, as always. Throws UsageError where the user
  // named a library that makes none.
  NcclIds make(int count, const std::string& interface_name);
  // The round is over, and its ids have served.
  void end_round();

 private:
  const JobSpec& job_;
  const Environment& env_;
  const Program& program_;
  std::optional<NcclKeeper> keeper_;
  std::string problem_;  // why there are no ids
};

}  // namespace paddle_launch
