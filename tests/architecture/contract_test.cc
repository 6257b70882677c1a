// SPDX-License-Identifier: Apache-2.0
// Whoever adds a way to meet adds it to the contract suite: what all of them promise is held there.
#include <filesystem>
#include <fstream>
#include <regex>
#include <set>
#include <sstream>
#include <string>

#include <gtest/gtest.h>

namespace {

namespace fs = std::filesystem;

std::string content_of(const fs::path& path) {
  std::ostringstream text;
  text << std::ifstream(path).rdbuf();
  return text.str();
}

// The first group of each match.
std::set<std::string> found(const std::string& text, const std::regex& pattern) {
  std::set<std::string> names;
  for (auto match = std::sregex_iterator(text.begin(), text.end(), pattern);
       match != std::sregex_iterator(); ++match) {
    names.insert((*match)[1]);
  }
  return names;
}

TEST(Architecture, EveryRendezvousPassesTheContract) {
  const std::regex derived(R"(class ([A-Za-z]+)[^;{]*:[^;{]*public Rendezvous\b)");
  std::set<std::string> without;
  for (const auto& entry : fs::recursive_directory_iterator(fs::path(SOURCE_DIR) / "launcher")) {
    if (entry.path().extension() != ".h" && entry.path().extension() != ".cc") continue;
    without.merge(found(content_of(entry.path()), derived));
  }
  EXPECT_GE(without.size(), 5);
  const fs::path grounds = fs::path(SOURCE_DIR) / "tests" / "contract" / "grounds.cc";
  for (const std::string& name :
       found(content_of(grounds), std::regex(R"(\.rendezvous = "([A-Za-z]+)\")"))) {
    without.erase(name);
  }
  EXPECT_EQ(without, std::set<std::string>()) << "add them to all_kinds() in " << grounds;
}

}  // namespace
