// SPDX-License-Identifier: Apache-2.0
#include <filesystem>
#include <iterator>

#include <gtest/gtest.h>

#include "launcher/os/files.h"
#include "tests/unit/temp_folder.h"

namespace paddle_launch {
namespace {

namespace fs = std::filesystem;

class ReplaceFile : public testing::Test {
 protected:
  TempFolder temp_;
  const fs::path& folder_ = temp_.path();
};

TEST_F(ReplaceFile, LeavesItWholeAndPrivateWhereAsked) {
  const fs::path path = folder_ / "file";
  EXPECT_FALSE(replace_file(path, "old", 0600));
  EXPECT_FALSE(replace_file(path, "new", 0600));
  EXPECT_EQ(read_file(path), "new");
  EXPECT_EQ(fs::status(path).permissions(), fs::perms::owner_read | fs::perms::owner_write);
  EXPECT_EQ(std::distance(fs::directory_iterator(folder_), {}), 1) << "no temporary file stays";
}

TEST_F(ReplaceFile, NamesTheFileThatCannotBeReplaced) {
  const fs::path path = folder_ / "none/file";
  EXPECT_EQ(replace_file(path, "x", 0666), path.string() + ": No such file or directory");
}

TEST_F(ReplaceFile, KeepsTheOldOneWhereTheNewOneCannotTakeItsPlace) {
  fs::create_directory(folder_ / "folder");
  EXPECT_TRUE(replace_file(folder_ / "folder", "x", 0666));
  EXPECT_TRUE(fs::is_directory(folder_ / "folder"));
  EXPECT_EQ(std::distance(fs::directory_iterator(folder_), {}), 1) << "no temporary file stays";
}

}  // namespace
}  // namespace paddle_launch
