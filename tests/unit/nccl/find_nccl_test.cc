// SPDX-License-Identifier: Apache-2.0
#include <filesystem>

#include <gtest/gtest.h>

#include "launcher/nccl/libnccl.h"
#include "tests/unit/site/fake_root.h"

namespace paddle_launch {
namespace {

using Paths = std::vector<std::string>;

class FindNccl : public ::testing::Test {
 protected:
  // Makes the file and gives its path.
  std::string at(const std::string& file) const {
    root_.write(file, "library");
    return root_.path() + "/" + file;
  }
  std::string path(const std::string& file) const { return root_.path() + "/" + file; }
  NcclSearch search() const { return {"", "", {}, path("local")}; }

  FakeRoot root_;
};

TEST_F(FindNccl, AtLastTheLoaderLooksItself) {
  EXPECT_EQ(find_nccl(search()).paths, Paths{"libnccl.so.2"});
  EXPECT_EQ(find_nccl(search()).problem, "");
}

TEST_F(FindNccl, TheOptionIsAFileOrADirectoryAndNothingElseIsTried) {
  const std::string library = at("mine/libnccl.so.2");
  at("local/cuda/lib64/libnccl.so.2");
  NcclSearch wish = search();
  wish.given = library;
  EXPECT_EQ(find_nccl(wish).paths, Paths{library});
  wish.given = path("mine");
  EXPECT_EQ(find_nccl(wish).paths, Paths{library});
  wish.given = path("elsewhere");
  EXPECT_EQ(find_nccl(wish).paths, Paths{});
  EXPECT_EQ(find_nccl(wish).problem,
            "--nccl_lib=" + path("elsewhere") +
                ": no such file; name libnccl.so.2 or the directory that has it");
  wish.given = path("local");
  EXPECT_NE(find_nccl(wish).problem.find("there is no libnccl.so.2 in it"), std::string::npos);
}

TEST_F(FindNccl, TheOrderIsPaddlesFlagThenTheLoadersPathThenPythonThenTheToolkit) {
  const Paths all = {at("flag/libnccl.so.2"),
                     at("second/libnccl.so.2"),
                     at("pythonpath/nvidia/nccl/lib/libnccl.so.2"),
                     at("home/.local/lib/python3.11/site-packages/nvidia/nccl/lib/libnccl.so.2"),
                     at("python/lib/python3.11/site-packages/nvidia/nccl/lib/libnccl.so.2"),
                     at("python/lib/python3.11/dist-packages/nvidia/nccl/lib/libnccl.so.2"),
                     at("conda/lib/libnccl.so.2"),
                     at("toolkit/lib64/libnccl.so.2"),
                     at("local/cuda/lib/libnccl.so.2"),
                     at("local/cuda-12.4/targets/x86_64-linux/lib/libnccl.so.2"),
                     "libnccl.so.2"};
  NcclSearch wish = search();
  wish.python = at("python/bin/python3.11");
  wish.env = {{"FLAGS_nccl_dir", path("flag")},
              {"LD_LIBRARY_PATH", ":" + path("first") + "::" + path("second")},
              {"PYTHONPATH", path("pythonpath")},
              {"HOME", path("home")},
              {"CONDA_PREFIX", path("conda")},
              {"CUDA_HOME", path("toolkit")}};
  EXPECT_EQ(find_nccl(wish).paths, all);
}

TEST_F(FindNccl, OnlyTheInterpretersOwnVersionOfPythonCounts) {
  at("python/lib/python3.9/site-packages/nvidia/nccl/lib/libnccl.so.2");
  const std::string own = at("python/lib/python3.11/site-packages/nvidia/nccl/lib/libnccl.so.2");
  NcclSearch wish = search();
  at("python/bin/python3.11");
  std::filesystem::create_symlink("python3.11", path("python/bin/python"));
  wish.python = path("python/bin/python");
  EXPECT_EQ(find_nccl(wish).paths, (Paths{own, "libnccl.so.2"}));
}

TEST_F(FindNccl, AVirtualEnvironmentComesBeforeTheHomeAndBeforeWhatItIsMadeOf) {
  const Paths all = {at("venv/lib/python3.11/site-packages/nvidia/nccl/lib/libnccl.so.2"),
                     at("home/.local/lib/python3.11/site-packages/nvidia/nccl/lib/libnccl.so.2"),
                     at("base/lib/python3.11/dist-packages/nvidia/nccl/lib/libnccl.so.2"),
                     "libnccl.so.2"};
  at("venv/pyvenv.cfg");
  at("base/bin/python3.11");
  std::filesystem::create_directories(path("venv/bin"));
  std::filesystem::create_symlink(path("base/bin/python3.11"), path("venv/bin/python"));
  NcclSearch wish = search();
  wish.python = path("venv/bin/python");
  wish.env = {{"HOME", path("home")}, {"VIRTUAL_ENV", path("venv")}};
  EXPECT_EQ(find_nccl(wish).paths, all);
}

TEST_F(FindNccl, AFileIsTriedOnceWhateverItsNames) {
  const std::string library = at("local/cuda-13.0/lib64/libnccl.so.2");
  std::filesystem::create_directory_symlink("lib64", path("local/cuda-13.0/lib"));
  std::filesystem::create_directory_symlink("cuda-13.0", path("local/cuda"));
  NcclSearch wish = search();
  wish.env = {{"CUDA_HOME", path("local/cuda-13.0")}, {"CUDA_PATH", path("local/cuda")}};
  EXPECT_EQ(find_nccl(wish).paths, (Paths{library, "libnccl.so.2"}));
}

}  // namespace
}  // namespace paddle_launch
