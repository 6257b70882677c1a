// SPDX-License-Identifier: Apache-2.0
// The table of who may include whom. It is the law; launcher/CMakeLists.txt mirrors it.
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <regex>
#include <set>
#include <string>

#include <gtest/gtest.h>

namespace {

namespace fs = std::filesystem;
using Rooms = std::set<std::string>;

const std::map<std::string, Rooms> kMayInclude = {
    {"job", {}},
    {"text", {}},
    {"os", {}},
    {"etcd", {"job", "text", "os"}},
    {"channel", {"job", "text", "os"}},
    {"cli", {"job", "text"}},
    {"site", {"job", "text", "os"}},
    {"nccl", {"job", "text", "os"}},
    {"plan", {"job", "text"}},
    {"rendezvous", {"job", "text", "os", "channel", "etcd"}},
    {"run", {"job", "text", "os", "channel"}},
    {"tell", {"job", "text"}},
};
// Foreign headers that only one room may see.
const std::map<std::string, std::string> kOnlyIn = {
    {"CLI/", "cli"}, {"sodium", "channel"}, {"curl/", "etcd"}};

std::string room_of(const fs::path& file, const fs::path& launcher) {
  const fs::path relative = fs::relative(file, launcher);
  return relative.has_parent_path() ? relative.begin()->string() : "";
}

TEST(Architecture, EveryFileBesideLaunchStandsInTheDocument) {
  std::ifstream file(fs::path(SOURCE_DIR) / "docs" / "architecture.md");
  const std::string document((std::istreambuf_iterator<char>(file)), {});
  int files = 0;
  for (const auto& entry : fs::directory_iterator(fs::path(SOURCE_DIR) / "launcher")) {
    const fs::path& path = entry.path();
    if (path.extension() != ".cc" && path.extension() != ".h") continue;
    ++files;
    const std::string name = path.stem() == "main" ? "main.cc" : path.stem().string();
    EXPECT_NE(document.find("`" + name + "`"), std::string::npos) << path;
  }
  EXPECT_GT(files, 20);
}

TEST(Architecture, EveryRoomIncludesOnlyWhatItMay) {
  const fs::path launcher = fs::path(SOURCE_DIR) / "launcher";
  const std::regex own(R"(^#include "launcher/([a-z_]+)/)");
  const std::regex foreign(R"(^#include <([^>]+)>)");
  int files = 0;
  for (const auto& entry : fs::recursive_directory_iterator(launcher)) {
    const std::string extension = entry.path().extension();
    if (extension != ".cc" && extension != ".h") continue;
    ++files;
    const std::string room = room_of(entry.path(), launcher);
    std::ifstream source(entry.path());
    for (std::string line; std::getline(source, line);) {
      std::smatch match;
      if (!room.empty() && std::regex_search(line, match, own) && match[1] != room) {
        ASSERT_TRUE(kMayInclude.count(room)) << "room " << room << " is not in the table";
        EXPECT_TRUE(kMayInclude.at(room).count(match[1]))
            << entry.path() << ": " << room << " may not include " << match[1];
      }
      if (!std::regex_search(line, match, foreign)) continue;
      for (const auto& [header, only_room] : kOnlyIn) {
        EXPECT_TRUE(match[1].str().rfind(header, 0) != 0 || room == only_room)
            << entry.path() << ": <" << match[1] << "> belongs in " << only_room;
      }
    }
  }
  EXPECT_GT(files, 50);
}

TEST(Architecture, TheLauncherKnowsNothingOfTheLibraryAroundIt) {
  const fs::path launcher = fs::path(SOURCE_DIR) / "launcher";
  const std::regex library(R"(^#include ["<](spawn|paddle_launch)/)");
  for (const auto& entry : fs::recursive_directory_iterator(launcher)) {
    if (entry.is_directory()) continue;
    std::ifstream source(entry.path());
    for (std::string line; std::getline(source, line);) {
      EXPECT_FALSE(std::regex_search(line, library)) << entry.path() << ": " << line;
    }
  }
}

TEST(Architecture, OnlyMainReadsTheRealEnvironment) {
  const fs::path launcher = fs::path(SOURCE_DIR) / "launcher";
  const std::regex reading(R"(\bgetenv\(|\benviron\b)");
  for (const auto& entry : fs::recursive_directory_iterator(launcher)) {
    if (entry.path().extension() != ".cc" || entry.path().filename() == "main.cc") continue;
    std::ifstream source(entry.path());
    for (std::string line; std::getline(source, line);) {
      EXPECT_FALSE(std::regex_search(line, reading)) << entry.path() << ": " << line;
    }
  }
}

}  // namespace
