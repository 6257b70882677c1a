// SPDX-License-Identifier: Apache-2.0
#include <sys/stat.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include <gtest/gtest.h>

#include "launcher/job/errors.h"
#include "launcher/site/find_program.h"
#include "tests/unit/temp_folder.h"

namespace paddle_launch {
namespace {

namespace fs = std::filesystem;

class FindProgram : public testing::Test {
 protected:
  FindProgram() {
    make("first/python3", 0755);
    make("second/python", 0755);
    make("second/tool", 0755);
    make("train.py", 0644);
    make("plain", 0644);
    make("run.sh", 0755);
  }

  void make(const std::string& name, mode_t mode) const {
    const fs::path path = folder_ / name;
    fs::create_directories(path.parent_path());
    std::ofstream(path) << "#!/bin/sh\n";
    chmod(path.c_str(), mode);
  }
  std::string at(const std::string& name) const { return folder_ / name; }
  Environment env() const { return {{"PATH", at("first") + ":" + at("second")}}; }
  std::string refusal(const Script& script) const {
    try {
      find_program(script, env());
    } catch (const UsageError& error) {
      return error.what();
    }
    return "accepted";
  }

  TempFolder temp_;
  const fs::path& folder_ = temp_.path();
};

TEST_F(FindProgram, RunsAPythonScriptUnbufferedWithTheFirstPythonOnPath) {
  const Program program = find_program({.name = at("train.py"), .args = {"--x"}}, env());
  EXPECT_EQ(program.path, at("first/python3"));
  EXPECT_EQ(program.argv,
            (std::vector<std::string>{at("first/python3"), "-u", at("train.py"), "--x"}));
}

TEST_F(FindProgram, RunsAModule) {
  const Program program = find_program({.name = "pkg.train", .is_module = true}, env());
  EXPECT_EQ(program.argv, (std::vector<std::string>{at("first/python3"), "-u", "-m", "pkg.train"}));
}

TEST_F(FindProgram, TakesTheInterpreterThatWasNamed) {
  EXPECT_EQ(find_program({.name = at("train.py"), .python = "python"}, env()).path,
            at("second/python"));
  EXPECT_EQ(find_program({.name = at("train.py"), .python = at("second/python")}, env()).path,
            at("second/python"));
  EXPECT_NE(refusal({.name = at("train.py"), .python = "nopython"}).find("--python=nopython"),
            std::string::npos);
}

TEST_F(FindProgram, InAVirtualEnvironmentItsOwnInterpreterComesBeforeThoseOnPath) {
  make("venv/bin/python", 0755);
  const auto python_beside = [&](const Script& script) {
    return find_program(script, env(), at("venv/bin")).path;
  };
  EXPECT_EQ(python_beside({.name = at("train.py")}), at("first/python3")) << "no environment";
  make("venv/pyvenv.cfg", 0644);
  EXPECT_EQ(python_beside({.name = at("train.py")}), at("venv/bin/python"));
  EXPECT_EQ(python_beside({.name = "pkg.train", .is_module = true}), at("venv/bin/python"));
  EXPECT_EQ(python_beside({.name = at("train.py"), .python = "python"}), at("second/python"));
  make("venv/bin/python", 0644);
  EXPECT_EQ(python_beside({.name = at("train.py")}), at("first/python3")) << "it cannot be run";
}

TEST_F(FindProgram, RunsAnExecutableAsItIs) {
  EXPECT_EQ(find_program({.name = at("run.sh")}, env()).argv,
            std::vector<std::string>{at("run.sh")});
  EXPECT_EQ(find_program({.name = "tool"}, env()).path, at("second/tool"));
}

TEST_F(FindProgram, RefusesWhatCannotBeRun) {
  EXPECT_NE(refusal({.name = at("missing.py")}).find("No such file"), std::string::npos);
  EXPECT_NE(refusal({.name = at("missing")}).find("No such file"), std::string::npos);
  EXPECT_NE(refusal({.name = at("plain")}).find("chmod +x"), std::string::npos);
  EXPECT_NE(refusal({.name = at("first")}).find("is a directory"), std::string::npos);
}

}  // namespace
}  // namespace paddle_launch
