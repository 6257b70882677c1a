// SPDX-License-Identifier: Apache-2.0
// http_proxy and its like are for the world outside; what the trainers say to each other must not
// go there.
#pragma once

#include <string>
#include <vector>

#include "launcher/job/plan.h"

namespace paddle_launch {

// A longer no_proxy is not set: the kernel refuses strings from 128 KiB on, and readers of the
// variable search it for each connection.
constexpr std::size_t kLongestNoProxy = 64 * 1024;

// In an environment with proxies: adds `hosts` (with commas) to no_proxy and NO_PROXY. Where
// `drop`, or with a warning where there are too many, renames the proxies to *_original.
void settle_proxies(const std::string& hosts, bool drop, std::vector<EnvVar>& env,
                    std::vector<std::string>& warnings);

}  // namespace paddle_launch
