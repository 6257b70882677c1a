// SPDX-License-Identifier: Apache-2.0
// A temporary directory that stands for "/" or "/proc" of some other machine.
#pragma once

#include <filesystem>
#include <fstream>
#include <stdexcept>
#include <string>

namespace paddle_launch {

class FakeRoot {
 public:
  FakeRoot() {
    std::string name = (std::filesystem::temp_directory_path() / "fake_root_XXXXXX").string();
    if (mkdtemp(name.data()) == nullptr) throw std::runtime_error("mkdtemp " + name);
    path_ = name;
  }
  FakeRoot(const FakeRoot&) = delete;
  FakeRoot& operator=(const FakeRoot&) = delete;
  ~FakeRoot() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }

  const std::string& path() const { return path_; }

  void write(const std::string& file, const std::string& content) const {
    const auto target = std::filesystem::path(path_) / file;
    std::filesystem::create_directories(target.parent_path());
    std::ofstream(target) << content;
  }

 private:
  std::string path_;
};

}  // namespace paddle_launch
