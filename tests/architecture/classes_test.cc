// SPDX-License-Identifier: Apache-2.0
// A class has one .cc file: who looks for what it does looks into one place, and a class that
// becomes too long for that is cut by its ideas, not by its lines.
#include <filesystem>
#include <fstream>
#include <map>
#include <regex>
#include <set>
#include <string>

#include <gtest/gtest.h>

namespace {

namespace fs = std::filesystem;

using Files = std::set<std::string>;

// The files in which a class's member functions stand, by the names of the classes.
std::map<std::string, Files> files_of_classes() {
  // As clang-format leaves them: no blank before the line, the name before the first bracket.
  const std::regex member(R"(^(?:[A-Za-z][^(]*[ &*])?([A-Z][A-Za-z]*)::~?[A-Za-z_]+\()");
  std::map<std::string, Files> classes;
  const fs::path launcher = fs::path(SOURCE_DIR) / "launcher";
  for (const auto& entry : fs::recursive_directory_iterator(launcher)) {
    if (entry.path().extension() != ".cc") continue;
    std::ifstream source(entry.path());
    for (std::string line; std::getline(source, line);) {
      std::smatch match;
      // Reading every line by a pattern would take seconds.
      if (line.find("::") == std::string::npos || line.front() == ' ' || line.back() == ';')
        continue;
      if (std::regex_search(line, match, member))
        classes[match[1]].insert(fs::relative(entry.path(), launcher));
    }
  }
  return classes;
}

TEST(Architecture, AClassHasOneFile) {
  std::map<std::string, Files> not_whole;
  const auto classes = files_of_classes();
  for (const auto& [name, files] : classes) {
    if (files.size() > 1) not_whole[name] = files;
  }
  EXPECT_EQ(not_whole, (std::map<std::string, Files>{}));
  EXPECT_GT(classes.size(), 50);
}

}  // namespace
