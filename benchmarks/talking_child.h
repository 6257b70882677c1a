// SPDX-License-Identifier: Apache-2.0
// A helper process that tells numbers on its standard output, one line "key value" each.
#pragma once

#include <map>
#include <string>

#include "benchmarks/child.h"

namespace paddle_launch {

class TalkingChild {
 public:
  TalkingChild(const Argv& argv, const std::filesystem::path& directory);

  // Both throw its last words when it fails or the deadline comes first.
  void wait_for(const std::string& key, Clock::time_point deadline);
  void wait_for_end(Clock::time_point deadline);
  void tell_to_end() const;

  double operator[](const std::string& key) const;

 private:
  struct Pipe {
    Pipe();
    UniqueFd read;
    UniqueFd write;
  };

  bool listen(Clock::time_point deadline);
  [[noreturn]] void throw_why();

  std::filesystem::path directory_;
  Pipe pipe_;
  Child child_;
  std::string heard_;
  std::map<std::string, double> facts_;
};

}  // namespace paddle_launch
