# SPDX-License-Identifier: Apache-2.0
"""The Tab key in zsh."""

import unittest

from shell_case import COMPLETIONS, Directory, PROGRAMS, Screen, ShellTests, needed

RC = [
    "PS1= RPS1= PROMPT_EOL_MARK= LISTMAX=1000",
    "unsetopt beep list_ambiguous auto_menu prompt_cr prompt_sp; unset zle_bracketed_paste",
    *PROGRAMS,
    f"fpath=('{COMPLETIONS}' $fpath); autoload -U compinit; compinit -u -D",
    "zstyle ':completion:*' verbose no",
]


class ZshTest(ShellTests, unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        directory = Directory(cls)
        directory.file_of(".zshrc", RC)  # in the home directory
        screen = Screen(cls, [needed("zsh"), "-d", "-i"], directory)
        cls.offered, cls.completed = screen.offered, screen.completed


class FleetrunInZshTest(ZshTest):
    program = "fleetrun"


if __name__ == "__main__":
    unittest.main()
