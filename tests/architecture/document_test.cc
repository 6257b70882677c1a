// SPDX-License-Identifier: Apache-2.0
// Rooms, functions and files that docs/architecture.md and CONTRIBUTING.md name are there, and
// CMake has the same rooms.
#include <filesystem>
#include <fstream>
#include <map>
#include <regex>
#include <set>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "tests/architecture/rooms.h"

namespace {

namespace fs = std::filesystem;

// The cells of each row of a table below that heading.
std::vector<std::vector<std::string>> table_below(const std::string& heading) {
  std::ifstream document(fs::path(SOURCE_DIR) / "docs" / "architecture.md");
  std::vector<std::vector<std::string>> rows;
  bool is_below = false;
  for (std::string line; std::getline(document, line);) {
    if (line.rfind("## ", 0) == 0) is_below = line == "## " + heading;
    if (!is_below || line.rfind("| ", 0) != 0) continue;
    std::vector<std::string> cells;
    for (std::size_t at = 2, end = 0; (end = line.find(" |", at)) != std::string::npos;
         at = end + 3) {
      cells.push_back(line.substr(at, end - at));
    }
    rows.push_back(cells);
  }
  return rows;
}

std::set<std::string> words_in(const std::string& text) {
  const std::regex word("[a-z_]+");
  return {std::sregex_token_iterator(text.begin(), text.end(), word), {}};
}

TEST(Document, HasTheTableOfRooms) {
  std::map<std::string, Rooms> rows;
  for (const auto& cells : table_below("The rooms")) {
    if (cells.size() != 3 || cells.front().find("/`") == std::string::npos) continue;
    const Rooms others = words_in(cells.back());
    rows[*words_in(cells.front()).begin()] = others == Rooms{"nobody"} ? Rooms{} : others;
  }
  EXPECT_EQ(rows, kMayInclude);
}

TEST(Document, NamesNoFunctionThatTheLauncherLacks) {
  std::ifstream document(fs::path(SOURCE_DIR) / "docs" / "architecture.md");
  const std::string page(std::istreambuf_iterator<char>(document), {});
  std::string sources;
  for (const auto& entry : fs::recursive_directory_iterator(fs::path(SOURCE_DIR) / "launcher")) {
    if (!entry.is_regular_file()) continue;
    std::ifstream source(entry.path());
    sources.append(std::istreambuf_iterator<char>(source), {});
  }
  const std::regex function(R"(([a-z_]+)\(\))");
  std::set<std::string> missing;
  for (std::sregex_iterator found(page.begin(), page.end(), function), end; found != end; ++found) {
    const std::string name = (*found)[1];
    if (name != "spawn" && sources.find(name + "(") == std::string::npos) missing.insert(name);
  }
  EXPECT_EQ(missing, std::set<std::string>());
}

TEST(Document, ContributorsAreSentToFilesThatAreThere) {
  std::ifstream document(fs::path(SOURCE_DIR) / "CONTRIBUTING.md");
  const std::string page(std::istreambuf_iterator<char>(document), {});
  const std::regex file(R"(`(([a-z]+)/[a-z_]+\.(?:cc|h))`)");
  std::set<std::string> missing;
  for (std::sregex_iterator found(page.begin(), page.end(), file), end; found != end; ++found) {
    if (kMayInclude.count((*found)[2]) == 0) continue;
    const fs::path path = fs::path(SOURCE_DIR) / "launcher" / (*found)[1].str();
    if (!fs::exists(path)) missing.insert((*found)[1]);
  }
  EXPECT_EQ(missing, std::set<std::string>());
}

TEST(Document, CMakeLinksTheRoomsByTheTable) {
  std::ifstream file(fs::path(SOURCE_DIR) / "launcher" / "CMakeLists.txt");
  const std::string text(std::istreambuf_iterator<char>(file), {});
  const std::regex room(R"(\nroom\(([a-z]+) SOURCES [^)]*\))");
  const std::regex uses(R"(\sUSES ([a-z ]+))");
  std::map<std::string, Rooms> rooms;
  for (std::sregex_iterator found(text.begin(), text.end(), room), end; found != end; ++found) {
    const std::string call = found->str();
    std::smatch used;
    rooms[(*found)[1]] =
        std::regex_search(call, used, uses) ? Rooms(words_in(used[1].str())) : Rooms{};
  }
  EXPECT_EQ(rooms, kMayInclude);
}

}  // namespace
