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


def run(*command, **how):
    return subprocess.run([str(word) for word in command], text=True, capture_output=True, timeout=300, **how)


class SpawnPackageTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.base = pathlib.Path(tempfile.mkdtemp(prefix="paddle-launch-package-"))
        cls.addClassCleanup(shutil.rmtree, cls.base, ignore_errors=True)
        first, cls.prefix = cls.base / "first", cls.base / "moved"
        cls.must(CMAKE, "--install", os.environ["PADDLE_LAUNCH_BUILD"], "--prefix", first, "--component", "spawn")
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

    def test_nothing_points_back_to_where_it_was_built(self):
        for file in self.prefix.rglob("*.cmake"):
            text = file.read_text()
            self.assertNotIn(str(SOURCE), text, file)
            self.assertNotIn(str(self.base / "first"), text, file)

    def test_the_header_needs_nothing_but_the_standard_library(self):
        header = (self.prefix / "include" / "paddle_launch" / "spawn.h").read_text()
        for name in re.findall(r"#include (\S+)", header):
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
