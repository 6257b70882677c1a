// SPDX-License-Identifier: Apache-2.0
// The ground that each rendezvous needs, on this one machine: addresses of the loopback network
// that nobody else uses, a step of Slurm that is only told of, a plugin that meets in a folder, an
// etcd.
#pragma once

#include <functional>
#include <memory>
#include <ostream>
#include <string>
#include <vector>

#include "tests/contract/pods.h"

namespace paddle_launch {

// How many pods the job is to have. Only where their number may change it is a range.
using PodRange = NodeRange;

// One way to meet, and what the contract asks of it.
struct Kind {
  std::string rendezvous;  // the class that is chosen
  std::string name;        // of its tests
  std::function<std::unique_ptr<Ground>(const PodRange&)> ground;
  bool has_others = true;
  bool keeps_wishes = true;      // a pod may say which place it is to have
  bool others_may_come = false;  // in the place of one that went
  bool finds_new_hub = false;    // also of the hub, and before the first round
  bool has_one_console = false;  // of all launchers: what ends the job is said by the first
  bool is_elastic = false;       // whoever does not fit is turned away, and the others go on
};

inline std::ostream& operator<<(std::ostream& out, const Kind& kind) { return out << kind.name; }

const std::vector<Kind>& all_kinds();

// An etcd for all tests of this process; it is started when it is needed.
void stop_etcd();

}  // namespace paddle_launch
