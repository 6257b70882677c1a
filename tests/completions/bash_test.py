# SPDX-License-Identifier: Apache-2.0
"""The Tab key in bash."""

import unittest

from shell_case import COMPLETIONS, Directory, PROGRAMS, Screen, ShellTests, needed

RC = [
    "PS1=",
    "bind 'set show-all-if-ambiguous on'; bind 'set completion-query-items 0'; bind 'set page-completions off'",
    "bind 'set enable-bracketed-paste off'; bind 'set bell-style none'",
    *PROGRAMS,
    f"source '{COMPLETIONS}/paddle-launch.bash'",
]


class BashTest(ShellTests, unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        screen = cls.screen(RC)
        cls.offered, cls.completed = screen.offered, screen.completed

    @classmethod
    def screen(cls, lines):
        directory = Directory(cls)
        return Screen(cls, [needed("bash"), "--rcfile", directory.file_of("bashrc", lines), "-i"], directory)

    def test_where_equals_does_not_cut_words(self):
        screen = self.screen([*RC, "COMP_WORDBREAKS=${COMP_WORDBREAKS//=}"])
        self.assertEqual(screen.completed(f"{self.program} --run_mode=col"), ["--run_mode=collective"])


class FleetrunInBashTest(BashTest):
    program = "fleetrun"


if __name__ == "__main__":
    unittest.main()
