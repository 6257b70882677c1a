// SPDX-License-Identifier: Apache-2.0
// Whether this node can take part: who it is, and what it brings.
#pragma once

#include <exception>
#include <string>

#include "launcher/job/environment.h"
#include "launcher/job/job_spec.h"
#include "launcher/site/machine.h"
#include "launcher/site/own_node.h"
#include "launcher/steps/company.h"
#include "launcher/steps/preparation.h"

namespace paddle_launch {

// What is wrong on this node is not thrown at once: the other nodes are to hear of it, instead of
// waiting for a node that will never come.
struct Readiness {
  OwnNode me;
  Preparation preparation;
  std::exception_ptr problem;
  std::string problem_text;
};

Readiness get_ready(const JobSpec& job, const Environment& env, const Machine& here,
                    const Company& company);

// For the next round: new ports, and whatever else may have changed meanwhile. Throws what is
// wrong.
void prepare_again(const JobSpec& job, const Environment& env, const Machine& here,
                   const Company& company, Readiness& ready);

}  // namespace paddle_launch
