# SPDX-License-Identifier: Apache-2.0
"""The Tab key in fish, which tells what it would offer."""

import shlex
import subprocess
import unittest

from shell_case import COMPLETIONS, SOURCE, Directory, ShellTests, needed

FILES = f"source '{COMPLETIONS}/paddle-launch.fish'; source '{SOURCE}/fleetrun.fish'"


class FishTest(ShellTests, unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.fish, cls.directory = needed("fish"), Directory(cls)

    def lines(self, line):
        run = subprocess.run([self.fish, "--no-config", "-c", f"{FILES}; complete -C {shlex.quote(line)}"],
                             cwd=self.directory.path, env=self.directory.env, capture_output=True, text=True)
        self.assertEqual((run.returncode, run.stderr), (0, ""), line)
        return run.stdout.splitlines()

    def offered(self, line, _):
        return {entry.partition("\t")[0] for entry in self.lines(line)}

    def completed(self, line):
        words = self.offered(line, None)
        self.assertLessEqual(len(words), 1, line)
        *before, last = line.split()[1:]
        return [*before, *(words or {last})]

    def test_options_have_a_word_of_help(self):
        self.assertIn("--gpus\tGPUs of this node with commas: one trainer each",
                      self.lines(f"{self.program} --gp"))


class FleetrunInFishTest(FishTest):
    program = "fleetrun"


if __name__ == "__main__":
    unittest.main()
