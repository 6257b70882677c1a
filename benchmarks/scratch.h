// SPDX-License-Identifier: Apache-2.0
// A directory for one measurement, gone afterwards with all that is in it.
#pragma once

#include <filesystem>
#include <string>

namespace paddle_launch {

class Scratch {
 public:
  Scratch();
  ~Scratch();
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;

  const std::filesystem::path& path() const { return path_; }
  std::string operator/(const std::string& name) const { return (path_ / name).string(); }

 private:
  std::filesystem::path path_;
};

}  // namespace paddle_launch
