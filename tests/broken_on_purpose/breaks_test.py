"""The list of breaks is still about this program: each place is there, once, and its test exists."""
import pathlib
import subprocess
import unittest

from breaks import BREAKS, broken

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent


class BreaksTest(unittest.TestCase):
    def test_each_place_to_break_is_there_once_and_the_break_changes_it(self):
        self.assertGreaterEqual(len({one.room for one in BREAKS}), 10)
        for one in BREAKS:
            with self.subTest(room=one.room, file=one.file):
                whole = (ROOT / one.file).read_text()
                self.assertEqual(1, whole.count(one.before))
                self.assertNotEqual(whole, broken(one, whole))


if __name__ == "__main__":
    unittest.main()
