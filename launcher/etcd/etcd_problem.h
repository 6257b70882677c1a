// SPDX-License-Identifier: Apache-2.0
// What a user is told who waits for etcd.
#pragma once

#include <chrono>
#include <string>
#include <string_view>

#include "launcher/job/elastic_spec.h"

namespace paddle_launch {

// Whether the server answers and does not let us in: waiting changes nothing.
bool is_refusal(std::string_view problem);

// The problem, or the silence where there is none, and what to do.
std::string why_etcd_is_no_use(const EtcdSpec& etcd, const std::string& problem,
                               std::chrono::seconds waited);

}  // namespace paddle_launch
