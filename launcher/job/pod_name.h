// SPDX-License-Identifier: Apache-2.0
// POD_NAME: letters by which a pod is told from all others, of this job and of any.
#pragma once

#include <cstddef>
#include <random>
#include <string>

namespace paddle_launch {

constexpr std::size_t kPodNameLetters = 6;  // of lower case, as Paddle's pods have

inline std::string random_pod_name() {
  std::random_device entropy;
  std::uniform_int_distribution<int> letter('a', 'z');
  std::string name(kPodNameLetters, ' ');
  for (char& c : name) c = static_cast<char>(letter(entropy));
  return name;
}

}  // namespace paddle_launch
