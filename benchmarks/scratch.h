// SPDX-License-Identifier: Apache-2.0
// A directory for one measurement, gone afterwards with all that is in it. It lies in TMPDIR, else
// in memory (/dev/shm), else in /tmp: the launchers are measured, not the disk. ext4 without a
// journal, for one, passes over every inode that was freed in the last minutes when it makes a
// file, so that each repetition would be slower than the one before.
#pragma once

#include <filesystem>
#include <string>

namespace paddle_launch {

std::filesystem::path scratch_parent();

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
