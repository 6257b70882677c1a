// SPDX-License-Identifier: Apache-2.0
// --bind numa: which CPUs each trainer gets, from what the kernel tells in /sys.
#pragma once

#include <string>
#include <vector>

#include "launcher/job/card.h"

namespace paddle_launch {

// For each trainer the CPUs of `mask` next to its first card, shared out evenly among the trainers
// with the same ones; without cards, or where /sys knows no place for the card, its part of an even
// split of the whole mask. Whole cores stay together where there are enough; more trainers than
// CPUs share them.
std::vector<std::vector<int>> cpus_for_trainers(const std::vector<std::vector<Card>>& trainers,
                                                const std::vector<int>& mask,
                                                const std::string& root = "/");

// How many cores these CPUs are: two hardware threads of one core count once.
int number_of_cores(const std::vector<int>& cpus, const std::string& root = "/");

}  // namespace paddle_launch
