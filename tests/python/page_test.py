# SPDX-License-Identifier: Apache-2.0
"""docs/spawn.md, the part on Python, word by word: every block is run, and what the page shows comes of it. A block
that is not in BLOCKS fails the test; the first is run by wheel_test."""

import sys
import unittest

from harness import Launch
from page import Page
from program_case import ROOT, ProgramCase

PAGE = (ROOT / "docs" / "spawn.md").read_text(encoding="utf-8").partition("\n## C++")[0]
# By a word of their own; the order is the page's.
BLOCKS = {"install": "pip install", "train": "def train", "ways": 'gpus="4,5"', "results": "return_queues",
          "failure": "except paddle_launch.SpawnError", "meanwhile": "join=False", "module": "python -m"}
page = Page(PAGE, ["sh", "python"], BLOCKS)
block, recording_after = page.block, page.recording_after
MAIN = 'if __name__ == "__main__":\n'


class PageTest(ProgramCase):
    def run_page(self, text, status=0, **variables):
        self.write("train.py", text)
        run = Launch(self, ["train.py"], program=sys.executable, env=variables)
        run.wait()
        self.assert_status(run, status)
        return run

    def instead_of_main(self, text):
        """The page's train.py, with these lines in the place of what it does."""
        top = block("train").partition(MAIN)[0].replace("import os\n", "import os\nimport time\n")
        return top + MAIN + "".join(f"    {line}\n" for line in text.splitlines())

    def test_every_block_of_the_page_is_tried(self):
        page.assert_every_block_is_known(self)

    def test_the_first_program_prints_what_the_page_shows(self):
        run = self.run_page(block("train"))
        self.assertEqual(sorted(run.out.decode().splitlines()), recording_after("train").splitlines())

    def test_the_four_ways_start_what_the_page_says(self):
        calls = block("ways").splitlines()
        variables = {"PADDLE_LAUNCH_ASSUME_GPUS": "1", "CUDA_VISIBLE_DEVICES": "4,5,6,7"}
        for call, size, word in zip(calls, (4, 4, 2, 2), (False, True, True, False)):
            run = self.run_page(self.instead_of_main(call), **variables)
            self.assertEqual(sorted(run.out.decode().splitlines()),
                             [f"rank {rank} of {size}, card {rank}, print_result={word}" for rank in range(size)], call)
        run = self.run_page(self.instead_of_main(calls[3]), PADDLE_LAUNCH_ASSUME_GPUS="1")
        self.assertEqual(sorted(run.out.decode().splitlines()),
                         [f"rank {rank} of 2, card {rank + 4}, print_result=False" for rank in range(2)])

    def test_results_come_back_as_the_page_says(self):
        run = self.run_page(self.instead_of_main(block("results")))
        self.assertEqual(run.out.decode().splitlines()[-1], "[1, 2]")
        self.assertIn("prints `[1, 2]`", PAGE)

    def test_a_failure_looks_as_on_the_page(self):
        run = self.run_page("import os, time\nimport paddle_launch\n\n\n" + block("failure"))
        self.assertEqual(run.out.decode().replace(f"{self.dir}/", "").rstrip(), recording_after("failure").rstrip())

    def test_the_program_goes_on_meanwhile(self):
        run = self.run_page(self.instead_of_main(block("meanwhile")))
        self.assertEqual(run.out, b"False\n[True, True]\n")

    def test_the_module_runs_the_script(self):
        self.write("train.py", "import os\nprint('rank', os.environ['PADDLE_TRAINER_ID'])\n")
        run = Launch(self, ["-c", block("module")], program="/bin/sh", env={"PATH": self.python_on_path()})
        run.wait()
        self.assert_status(run, 0)
        self.assertEqual(run.out, b"rank 0\n")


if __name__ == "__main__":
    unittest.main()
