// SPDX-License-Identifier: Apache-2.0
// The links of a check, put in order. The values come from other machines, so none is trusted.
#pragma once

#include <cstddef>
#include <vector>

#include "launcher/job/link_check.h"

namespace paddle_launch {

// Point into the LinkCheck that they were taken from.
using Links = std::vector<const LinkTry*>;

// Every pair once, by place. What is no pair of two nodes is left out; of two answers for one pair
// the failure counts.
Links links_of(const LinkCheck& check);

Links failed_of(const Links& links);

// The first few of the good ones, the slowest first.
Links slowest_of(const Links& links, std::size_t most);

// Never negative, never endless.
double ms_of(const LinkTry& link);

// Every ordered pair of different nodes.
std::size_t number_of_links(const LinkCheck& check);

}  // namespace paddle_launch
