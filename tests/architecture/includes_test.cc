// SPDX-License-Identifier: Apache-2.0
// Every line of launcher/ keeps to the table of rooms, and to what only one place may do.
#include <filesystem>
#include <fstream>
#include <functional>
#include <map>
#include <regex>
#include <set>
#include <string>

#include <gtest/gtest.h>

#include "tests/architecture/rooms.h"

namespace {

namespace fs = std::filesystem;

// Foreign headers that only one room may see.
const std::map<std::string, std::string> kOnlyIn = {
    {"CLI/", "cli"}, {"sodium", "channel"}, {"curl/", "etcd"}};

// Every line of C++ in launcher/ that has this word in it. Returns the number of files.
int each_line_with(
    const std::string& word,
    const std::function<void(const fs::path& file, const std::string& line)>& visit) {
  int files = 0;
  for (const auto& entry : fs::recursive_directory_iterator(fs::path(SOURCE_DIR) / "launcher")) {
    const std::string extension = entry.path().extension();
    if (extension != ".cc" && extension != ".h") continue;
    ++files;
    std::ifstream source(entry.path());
    for (std::string line; std::getline(source, line);) {
      if (line.find(word) != std::string::npos) visit(entry.path(), line);
    }
  }
  return files;
}

std::string room_of(const fs::path& file) {
  const fs::path relative = fs::relative(file, fs::path(SOURCE_DIR) / "launcher");
  return relative.has_parent_path() ? relative.begin()->string() : "";
}

TEST(Architecture, EveryRoomIsInTheTable) {
  Rooms found;
  for (const auto& entry : fs::directory_iterator(fs::path(SOURCE_DIR) / "launcher")) {
    if (entry.is_directory()) found.insert(entry.path().filename());
  }
  Rooms known;
  for (const auto& [room, others] : kMayInclude) known.insert(room);
  EXPECT_EQ(found, known);
}

TEST(Architecture, EveryRoomIncludesOnlyWhatItMay) {
  const std::regex own(R"(^#include "launcher/([a-z_]+)/)");
  const int files = each_line_with("#include", [&](const fs::path& file, const std::string& line) {
    const std::string room = room_of(file);
    std::smatch match;
    if (room.empty() || !std::regex_search(line, match, own) || match[1] == room) return;
    EXPECT_TRUE(kMayInclude.count(room) == 1 && kMayInclude.at(room).count(match[1]) == 1)
        << file << ": " << room << " may not include " << match[1];
  });
  EXPECT_GT(files, 50);
}

TEST(Architecture, ForeignLibrariesAreSeenByOneRoom) {
  const std::regex foreign(R"(^#include <([^>]+)>)");
  std::map<std::string, int> seen;
  each_line_with("#include", [&](const fs::path& file, const std::string& line) {
    std::smatch match;
    if (!std::regex_search(line, match, foreign)) return;
    for (const auto& [header, only_room] : kOnlyIn) {
      if (match[1].str().rfind(header, 0) != 0) continue;
      ++seen[header];
      EXPECT_EQ(room_of(file), only_room) << file << ": <" << match[1] << ">";
    }
  });
  EXPECT_EQ(seen.size(), kOnlyIn.size());
}

TEST(Architecture, TheLauncherKnowsNothingOfTheLibraryAroundIt) {
  const std::regex library(R"(^#include ["<](spawn|paddle_launch)/)");
  each_line_with("#include", [&](const fs::path& file, const std::string& line) {
    EXPECT_FALSE(std::regex_search(line, library)) << file << ": " << line;
  });
}

TEST(Architecture, OnlyMainReadsTheRealEnvironment) {
  const std::regex reading(R"(\bgetenv\(|\benviron\b)");
  bool does_main = false;
  each_line_with("env", [&](const fs::path& file, const std::string& line) {
    if (file.extension() != ".cc" || !std::regex_search(line, reading)) return;
    does_main = does_main || file.filename() == "main.cc";
    EXPECT_EQ(file.filename(), "main.cc") << line;
  });
  EXPECT_TRUE(does_main);
}

// The launcher's words hold what other nodes and files put there: two places write them, and make
// them printable. The announcer's notice moves the cursor, and the console shows what trainers
// print.
TEST(Architecture, OwnWordsLeaveThroughOneDoor) {
  const std::set<std::string> doors = {"own_words.cc", "files.h", "files.cc", "announcer.cc",
                                       "console_process.cc"};
  const std::regex writing(
      R"(\bstd::(fprintf|printf|fputs|puts|perror|cerr|cout)\b|\bwrite_to_stderr)");
  std::set<std::string> seen;
  each_line_with("", [&](const fs::path& file, const std::string& line) {
    if (!std::regex_search(line, writing)) return;
    seen.insert(file.filename());
    EXPECT_EQ(doors.count(file.filename()), 1) << file << ": " << line;
  });
  EXPECT_EQ(seen, doors);
}

}  // namespace
