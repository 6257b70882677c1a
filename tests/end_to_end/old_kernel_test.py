# SPDX-License-Identifier: Apache-2.0
"""A kernel as old as RHEL 8's, which has no pidfds, no close_range, clone3 or openat2: a job runs and ends all the same."""

import os
import pathlib
import signal
import subprocess
import sys
import unittest

from harness import FAIL_1, HERE, HOLD, SH, LauncherCase
from old_kernel import LATER_CALLS

ROOT = pathlib.Path(HERE).parent.parent
PREFIX = [sys.executable, os.path.join(HERE, "old_kernel.py")]
ASK = """\
import ctypes, errno, sys
syscall = ctypes.CDLL(None, use_errno=True).syscall
for number in map(int, sys.argv[1:]):
    assert syscall(ctypes.c_long(number), *[ctypes.c_long(-1)] * 4) == -1, number
    print(errno.errorcode[ctypes.get_errno()])
"""


class OldKernelTest(LauncherCase):
    def setUp(self):
        super().setUp()
        tried = subprocess.run([*PREFIX, sys.executable, "-c", ASK, *map(str, LATER_CALLS.values())],
                               capture_output=True, text=True, check=False)
        if tried.returncode != 0:
            self.skipTest(f"this kernel lets nobody forbid system calls: {tried.stderr.strip()}")
        self.assertEqual(tried.stdout.split(), ["ENOSYS"] * len(LATER_CALLS))

    def test_the_demo_job_of_two_trainers(self):
        run = self.run_launcher("--nproc_per_node=2", ROOT / "examples" / "linear_regression.py", prefix=PREFIX)
        self.assert_status(run, 0)
        self.assertIn(b"rank 0 found [+3.000, ", run.out)

    def test_a_trainer_that_fails(self):
        gate = self.gate()
        run = self.start("--nproc_per_node=3", "--grace=1", SH, "-c", FAIL_1, prefix=PREFIX)
        pids = self.wait_ready(3)
        gate.open()
        run.wait()
        self.assert_status(run, 7)
        self.assert_gone(pids.values())

    def test_sigterm(self):
        self.gate()
        run = self.start("--nproc_per_node=2", SH, "-c", "trap 'echo saved; exit 0' TERM; " + HOLD, prefix=PREFIX)
        pids = self.wait_ready(2)
        run.send(signal.SIGTERM)
        run.wait()
        self.assert_status(run, 128 + signal.SIGTERM)
        self.assertEqual(run.out, b"saved\n")
        self.assert_gone(pids.values())

    def test_a_killed_launcher_leaves_nothing(self):
        self.gate()
        run = self.start("--nproc_per_node=2", "--grace=1", SH, "-c", "setsid sleep 1000 & " + HOLD, prefix=PREFIX)
        pids = self.wait_ready(2)
        run.send(signal.SIGKILL)
        run.wait()
        self.assert_gone(pids.values())
        self.assert_nothing_left()

    def test_a_restart_after_a_failure(self):
        run = self.run_launcher("--nproc_per_node=2", "--max_restart=1", SH, "-c",
                                "[ $PADDLE_RESTART_COUNT = 0 ] && exit 3; echo again", prefix=PREFIX)
        self.assert_status(run, 0)
        self.assertIn(b"again\n", run.out)

    def test_no_descriptor_of_the_launcher_reaches_a_trainer(self):
        run = self.run_launcher("--nproc_per_node=1", SH, "-c", "exec ls /proc/self/fd", prefix=PREFIX)
        self.assert_status(run, 0)
        self.assertEqual(run.out.split(), [b"0", b"1", b"2", b"3"])  # 3 is of ls


if __name__ == "__main__":
    unittest.main()
