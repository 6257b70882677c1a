// SPDX-License-Identifier: Apache-2.0
// A temporary directory that stands for "/" or "/proc" of some other machine.
#pragma once

#include <filesystem>
#include <fstream>
#include <string>

#include "tests/unit/temp_folder.h"

namespace paddle_launch {

class FakeRoot {
 public:
  const std::string& path() const { return temp_.path().native(); }

  void write(const std::string& file, const std::string& content) const {
    const auto target = temp_.path() / file;
    std::filesystem::create_directories(target.parent_path());
    std::ofstream(target) << content;
  }

 private:
  TempFolder temp_;
};

}  // namespace paddle_launch
