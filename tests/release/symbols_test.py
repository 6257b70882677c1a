# SPDX-License-Identifier: Apache-2.0
"""What scripts/release has made, if it has, and what would be wrong with it."""

import pathlib
import unittest

import symbols

DIST = pathlib.Path(__file__).resolve().parent.parent.parent / "dist"
MOST_BYTES = 4_000_000


class SymbolsTest(unittest.TestCase):
    def test_what_is_not_in_glibc_2_28_is_told(self):
        self.assertEqual(list(symbols.problems_of(["libc.so.6", "ld-linux-aarch64.so.1", "libm.so.6"], {(2, 17), (2, 28)})), [])
        self.assertEqual(list(symbols.problems_of(["libstdc++.so.6", "libc.so.6"], {(2, 28), (2, 34)})),
                         ["needs libstdc++.so.6", "needs glibc 2.34"])

    def test_a_program_is_read(self):
        count, wrong = symbols.look_at(pathlib.Path("/proc/self/exe"), tell=lambda line: None)
        self.assertEqual(count, 1, wrong)

    def test_what_was_made_needs_only_an_old_glibc(self):
        made = [*DIST.glob("*.whl"), *DIST.glob("*.tar.gz")]
        if not made:
            self.skipTest("there is nothing in dist: scripts/release")
        for path in made:
            with self.subTest(path.name):
                count, wrong = symbols.look_at(path, tell=lambda line: None)
                self.assertGreaterEqual(count, 2)
                self.assertEqual(wrong, [])
                self.assertLess(path.stat().st_size, MOST_BYTES)


if __name__ == "__main__":
    unittest.main()
