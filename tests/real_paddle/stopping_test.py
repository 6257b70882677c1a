# SPDX-License-Identifier: Apache-2.0
"""A SIGTERM to the launcher while data-loading processes run: the ranks save, nothing is left, and another run goes on
from there."""

import re
import signal
import unittest

from paddle_case import SECONDS, PaddleMixin

from harness import LauncherCase

JOB = ("--nproc_per_node=2", "--grace=60")
SAVED = re.compile(rb"(?m)^saved after step (\d+)(, told to stop)?$")
GOES_ON = re.compile(rb"(?m)^rank \d goes on after step (\d+)$")


class StoppingTest(PaddleMixin, LauncherCase):
    def checkpoint(self, *args):
        return (*JOB, *self.script("checkpoint", "--save", "model.ckpt", *args))

    def test_a_stopped_run_saves_and_another_goes_on(self):
        run = self.start(*self.checkpoint())
        self.wait_line(0, "step  21")
        run.send(signal.SIGTERM)
        run.wait(SECONDS)
        self.assert_status(run, 128 + signal.SIGTERM)
        self.assert_nothing_left()  # neither ranks nor their loaders
        saved = SAVED.search(self.log(0))
        self.assertTrue(saved and saved[2], run.told())
        self.assertNotIn("ABORT", run.err)
        for rank in (0, 1):
            self.assertIn(b"was stopped because the launcher was stopped by SIGTERM", self.log(rank))

        stopped_after, wanted = int(saved[1]), int(saved[1]) + 40
        run = self.train(*self.checkpoint("--steps", wanted, "--out", "out"))
        self.assert_status(run, 0)
        for rank in (0, 1):
            self.assertEqual([int(step) for step in GOES_ON.findall(self.trainer_bytes(rank))], [stopped_after])
        self.assertEqual(int(SAVED.findall(self.log(0))[-1][0]), wanted)
        results = self.results("out", 2)
        self.assertEqual([len(result["losses"]) for result in results], [40, 40])
        self.assertEqual(len({result["digest"] for result in results}), 1)
        self.assertLess(results[0]["losses"][-1], 3)  # an untrained model begins with 5


if __name__ == "__main__":
    unittest.main()
