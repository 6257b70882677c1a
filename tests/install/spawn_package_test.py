# SPDX-License-Identifier: Apache-2.0
"""The installed library of spawn(): from a prefix that was moved, by the example in examples/spawn.

PADDLE_LAUNCH_BUILD names the build directory, CMAKE_COMMAND cmake.
"""

import os
import pathlib
import re
import shutil
import subprocess
import tempfile
import unittest

SOURCE = pathlib.Path(__file__).resolve().parents[2]
CMAKE = os.environ.get("CMAKE_COMMAND", "cmake")
PAGE = (SOURCE / "docs" / "spawn.md").read_text(encoding="utf-8").partition("\n## C++")[2]
BLOCK = re.compile(r"(?ms)^```(\w+)\n(.*?)^```\n")
# What the page's blocks take for granted.
PROGRAM = """\
#include <chrono>
#include <cstdlib>
#include <iostream>
#include <stdexcept>
#include <string>
#include <vector>
static std::vector<float> load() { return {1.0F, 2.0F}; }
static void train(const std::vector<float>& data, const char* rank) {
  if (std::getenv("BAD_RANK") != nullptr && rank == std::string(std::getenv("BAD_RANK"))) throw std::runtime_error("no data");
  std::cout << "rank " + std::string(rank) + ": " + std::to_string(data.size()) + " values\\n" << std::flush;
}
"""
MEANWHILE = """\
#include <cstdio>
#include <unistd.h>
static void train() { pause(); }
int main() {
%s
  std::printf("%%zu stopped\\n", pids.size());
}
"""


def run(*command, **how):
    return subprocess.run([str(word) for word in command], text=True, capture_output=True, timeout=300, **how)


class SpawnPackageTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.base = pathlib.Path(tempfile.mkdtemp(prefix="paddle-launch-package-"))
        cls.addClassCleanup(shutil.rmtree, cls.base, ignore_errors=True)
        first, cls.prefix = cls.base / "first", cls.base / "moved"
        for component in ("spawn", "development"):
            cls.must(CMAKE, "--install", os.environ["PADDLE_LAUNCH_BUILD"], "--prefix", first, "--component", component)
        first.rename(cls.prefix)
        cls.must(CMAKE, "-S", SOURCE / "examples" / "spawn", "-B", cls.base / "build",
                 f"-DCMAKE_PREFIX_PATH={cls.prefix}", f"-DCMAKE_CXX_FLAGS={os.environ.get('EXAMPLE_FLAGS', '')}")
        cls.must(CMAKE, "--build", cls.base / "build")
        cls.example = cls.base / "build" / "spawn_example"

    @classmethod
    def must(cls, *command):
        done = run(*command)
        if done.returncode != 0:
            raise AssertionError(f"{command}: {done.returncode}\n{done.stdout}\n{done.stderr}")

    def test_the_example_runs(self):
        done = run(self.example, 3, cwd=self.base)
        self.assertEqual(done.returncode, 0, done.stderr)
        lines = sorted(done.stdout.splitlines())
        self.assertEqual(len(lines), 4)
        for rank, points in enumerate((334, 333, 333)):
            self.assertRegex(lines[rank], rf"^rank {rank} of 3 at 127\.0\.0\.1:\d+: {points} points$")
        self.assertEqual(lines[3], "y = 3.0 x + 0.5")

    def test_its_failure_is_told(self):
        done = run(self.example, 2, 1, cwd=self.base)
        self.assertEqual(done.returncode, 1)
        self.assertIn("rank 1: rank 1 failed: exit code 1: the data of this rank is broken\n", done.stderr)

    def block(self, kind, sign):
        found = [text for name, text in BLOCK.findall(PAGE) if name == kind and sign in text]
        self.assertEqual(len(found), 1, f"{kind} {sign}")
        return found[0]

    def build_page(self, name, text):
        """A program of the page's words, built with the page's lines for CMake."""
        folder = self.base / name
        folder.mkdir()
        (folder / "main.cc").write_text(text)
        (folder / "CMakeLists.txt").write_text(
            f"cmake_minimum_required(VERSION 3.16)\nproject({name} LANGUAGES CXX)\nadd_executable(train main.cc)\n"
            "target_compile_features(train PRIVATE cxx_std_20)\n" + self.block("cmake", "find_package"))
        self.must(CMAKE, "-S", folder, "-B", folder / "build", f"-DCMAKE_PREFIX_PATH={self.prefix}",
                  f"-DCMAKE_CXX_FLAGS={os.environ.get('EXAMPLE_FLAGS', '')}")
        self.must(CMAKE, "--build", folder / "build")
        return folder / "build" / "train"

    def test_every_block_of_the_page_is_tried(self):
        kinds = [kind for kind, _ in BLOCK.findall(PAGE)]
        self.assertEqual(sorted(kinds), ["cmake", "cpp", "cpp", "sh"])
        for line in self.block("sh", "cmake -S").splitlines()[:2]:  # as setUpClass does it
            self.assertRegex(line, r"^cmake (-S examples/spawn -B build/spawn -DCMAKE_PREFIX_PATH=PREFIX|--build build/spawn)$")

    def test_the_pages_first_program(self):
        include, _, rest = self.block("cpp", "int main()").partition("\n\n")
        program = self.build_page("first_program", f"{include}\n{PROGRAM}{rest}")
        done = run(program, cwd=self.base)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(sorted(done.stdout.splitlines()), [f"rank {rank}: 2 values" for rank in range(4)])
        done = run(program, cwd=self.base, env={**os.environ, "BAD_RANK": "2"})
        self.assertEqual(done.returncode, 1)
        self.assertIn("\nrank 2: rank 2 failed: exit code 1: no data\n", done.stderr)

    def test_the_pages_program_that_does_not_wait(self):
        words = self.block("cpp", "join_for").replace("std::chrono::minutes(5)", "std::chrono::milliseconds(200)")
        program = self.build_page("meanwhile", "#include <paddle_launch/spawn.h>\n" + MEANWHILE % words)
        done = run(program, cwd=self.base)
        self.assertEqual((done.returncode, done.stdout), (0, "2 stopped\n"), done.stderr)

    def test_nothing_points_back_to_where_it_was_built(self):
        files = list(self.prefix.rglob("*.cmake"))
        self.assertTrue(files)
        for file in files:
            text = file.read_text()
            self.assertNotIn(str(SOURCE), text, file)
            self.assertNotIn(str(self.base / "first"), text, file)

    def test_the_header_needs_nothing_but_the_standard_library(self):
        header = (self.prefix / "include" / "paddle_launch" / "spawn.h").read_text()
        names = re.findall(r"#include (\S+)", header)
        self.assertIn("<functional>", names)
        for name in names:
            self.assertRegex(name, r"^<[a-z_/]+(\.h)?>$")

    def test_the_library_shows_its_api_alone(self):
        tool = shutil.which("nm")
        if tool is None:
            self.skipTest("nm is not installed")
        library = next(self.prefix.rglob("libpaddle_launch_spawn.so"))
        shown = run(tool, "-DC", "--defined-only", library).stdout.splitlines()
        names = [line.split(maxsplit=2)[2] for line in shown if len(line.split(maxsplit=2)) == 3]
        strange = [name for name in names
                   if not re.search(r"paddle_launch::(spawn|Spawned|SpawnError)\b|^PADDLE_LAUNCH_", name)]
        self.assertEqual(strange, [])
        self.assertTrue(any("paddle_launch::spawn(" in name for name in names), shown)


if __name__ == "__main__":
    unittest.main()
