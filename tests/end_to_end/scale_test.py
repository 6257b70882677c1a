# SPDX-License-Identifier: Apache-2.0
"""256 trainers on one node."""

import re
import unittest

from harness import HOLD, SH, LauncherCase

WORLD = 256


class ScaleTest(LauncherCase):
    def test_all_start_write_and_end(self):
        run = self.run_launcher(f"--nproc_per_node={WORLD}", SH, "-c",
                                "echo rank $PADDLE_TRAINER_ID of $PADDLE_TRAINERS_NUM", seconds=120)
        self.assert_status(run, 0)
        for rank in range(WORLD):
            self.assertEqual(self.trainer_bytes(rank), f"rank {rank} of {WORLD}\n".encode())
        endpoints = self.read("log/endpoints.log").splitlines()[1:]
        self.assertEqual(len(set(endpoints)), WORLD)

    def test_all_on_one_console(self):
        run = self.run_launcher(f"--nproc_per_node={WORLD}", "--console=all", SH, "-c", "echo hello", seconds=120)
        self.assert_status(run, 0)
        ranks = re.findall(r"(?m)^\[ *(\d+)\] +hello$", run.out.decode())
        self.assertEqual(sorted(map(int, ranks)), list(range(WORLD)))

    def test_one_failure_stops_all(self):
        gate = self.gate()
        run = self.start(f"--nproc_per_node={WORLD}", SH, "-c",
                         HOLD + "[ $PADDLE_TRAINER_ID = 200 ] && exit 7; exec sleep 1000")
        pids = self.wait_ready(WORLD, 120)
        gate.open()
        run.wait(120)
        self.assert_status(run, 7)
        self.assert_told(run, f"rank 200 failed: exit code 7; stopping {WORLD - 1} others")
        self.assert_abort_line(run, WORLD, [200])
        self.assert_gone(pids.values(), 10)
        for rank in (0, 255):
            self.assertIn(b"stopped because rank 200 failed: exit code 7", self.log(rank).splitlines()[-1])

    def test_a_failure_while_others_are_being_started(self):
        run = self.run_launcher(f"--nproc_per_node={WORLD}", "--grace=2", SH, "-c",
                                "[ $PADDLE_TRAINER_ID = 0 ] && exit 7; exec sleep 1000", seconds=120)
        self.assert_status(run, 7)
        self.assert_abort_line(run, WORLD, [0])
        self.assert_nothing_left()


if __name__ == "__main__":
    unittest.main()
