// SPDX-License-Identifier: Apache-2.0
// What the first pod gives to all with the roster: the NCCL ids of the round, and the name of the
// log directory where the launcher chooses one (--log_dir=auto).
#pragma once

#include <string>
#include <string_view>

#include "launcher/job/job_spec.h"
#include "launcher/rendezvous/rendezvous.h"
#include "launcher/steps/preparation.h"

namespace paddle_launch {

struct JobPayload {
  std::string log_name{};
  std::string nccl{};
};

JobPayload unpack_payload(std::string_view payload);

// The directory of the whole job, for all of its rounds.
class NamedLogs {
 public:
  explicit NamedLogs(const JobSpec& job);
  // What `nccl` makes, and the name, which the first pod that is asked makes up.
  PayloadMaker maker(const Preparation& ready, PayloadMaker nccl);
  // Without other nodes, and without making anything: for --dry_run.
  void assume(Preparation& ready) const;
  // From the payload to the directory of this pod; a first pod that has no name for it leaves it to
  // this one.
  void take(std::string_view payload, Preparation& ready);

 private:
  const JobSpec& job_;
  bool is_asked_for_;
  std::string name_{};
};

}  // namespace paddle_launch
