# SPDX-License-Identifier: Apache-2.0
"""One binary for every node: it needs glibc (libc, libm, the loader) and nothing else."""

import re
import subprocess
import unittest

from harness import binary


class DependenciesTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.dynamic = subprocess.run(["readelf", "-d", binary()], check=True, capture_output=True, text=True).stdout

    def test_the_binary_needs_nothing_but_libc(self):
        needed = re.findall(r"NEEDED.*\[(.*)\]", self.dynamic)
        self.assertIn("libc.so.6", needed)
        self.assertEqual([name for name in needed if not re.match(r"(libc|libm|ld-linux)[-.]", name)], [])

    def test_nothing_in_it_points_back_to_the_build(self):
        self.assertNotIn("RUNPATH", self.dynamic)
        self.assertNotIn("RPATH", self.dynamic)


if __name__ == "__main__":
    unittest.main()
