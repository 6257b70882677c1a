# SPDX-License-Identifier: Apache-2.0
"""One binary for every node: it needs glibc (libc, libm, the loader) and nothing else."""

import re
import subprocess
import unittest

from harness import binary

# Later versions of glibc have only moved these into libc, or given them another version.
OF_OLD = {"stat", "stat64", "fstat", "fstat64", "lstat", "lstat64", "__libc_start_main", "__pthread_key_create"}
OF_OLD_BEGIN = ("dl", "pthread_", "sem_", "timer_", "mq_", "getaddrinfo_a")
# What the C++ library of a compiler asks for. scripts/release builds with another one.
OF_THE_COMPILER = {"__libc_single_threaded", "_dl_find_object", "arc4random"}


class DependenciesTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.dynamic = subprocess.run(["readelf", "-d", binary()], check=True, capture_output=True, text=True).stdout

    def test_the_binary_needs_nothing_but_libc(self):
        needed = re.findall(r"NEEDED.*\[(.*)\]", self.dynamic)
        self.assertIn("libc.so.6", needed)
        self.assertEqual([name for name in needed if not re.match(r"(libc|libm|ld-linux)[-.]", name)], [])

    def test_it_calls_nothing_that_came_after_glibc_2_28(self):
        told = subprocess.run(["readelf", "--wide", "--dyn-syms", binary()], check=True, capture_output=True, text=True).stdout
        asked = re.findall(r"UND (\w+)@GLIBC_2\.(\d+)", told)
        self.assertTrue(asked)
        newer = {name for name, version in asked if int(version) > 28 and not name.startswith(OF_OLD_BEGIN)}
        self.assertEqual(newer - OF_OLD - OF_THE_COMPILER, set())

    def test_nothing_in_it_points_back_to_the_build(self):
        self.assertNotIn("RUNPATH", self.dynamic)
        self.assertNotIn("RPATH", self.dynamic)


if __name__ == "__main__":
    unittest.main()
