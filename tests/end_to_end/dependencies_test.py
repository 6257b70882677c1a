# SPDX-License-Identifier: Apache-2.0
"""One binary for every node: it needs glibc (libc, libm, the loader) and nothing else."""
import os
import re
import subprocess
import unittest


class Dependencies(unittest.TestCase):
    def test_the_binary_needs_nothing_but_libc(self):
        dynamic = subprocess.run(["readelf", "-d", os.environ["PADDLE_LAUNCH_BINARY"]], check=True,
                                 capture_output=True, text=True).stdout
        needed = re.findall(r"NEEDED.*\[(.*)\]", dynamic)
        self.assertIn("libc.so.6", needed)
        self.assertEqual([name for name in needed if not re.match(r"(libc|libm|ld-linux)[-.]", name)], [])

    def test_nothing_in_it_points_back_to_the_build(self):
        dynamic = subprocess.run(["readelf", "-d", os.environ["PADDLE_LAUNCH_BINARY"]], check=True,
                                 capture_output=True, text=True).stdout
        self.assertNotIn("RUNPATH", dynamic)
        self.assertNotIn("RPATH", dynamic)


if __name__ == "__main__":
    unittest.main()
