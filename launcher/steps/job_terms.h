// SPDX-License-Identifier: Apache-2.0
// What this node says about the job, so that the hub can compare.
#pragma once

#include <string>

#include "launcher/job/job_spec.h"
#include "launcher/job/pod.h"
#include "launcher/site/machine.h"
#include "launcher/site/own_node.h"
#include "launcher/steps/company.h"

namespace paddle_launch {

// `problem`: why it cannot take part, empty: it can.
JobTerms make_terms(const JobSpec& job, const Machine& here, const OwnNode& me,
                    const Company& company, const std::string& problem);

}  // namespace paddle_launch
