// SPDX-License-Identifier: Apache-2.0
// The answer of --check: which node reaches which, how quickly, and what to do where one does not.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "launcher/job/link_check.h"

namespace paddle_launch {

// The links of a check, put in order. The values come from other machines, so none is trusted.

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

// The exit status: 0 where all links work, 75 where a node was lost meanwhile, else 1.
int check_status(const LinkCheck& check);

// Up to 16 nodes: a legend and a matrix. More: only what failed and what was slow. The last line is
// the verdict.
std::string check_table(const LinkCheck& check);

}  // namespace paddle_launch
