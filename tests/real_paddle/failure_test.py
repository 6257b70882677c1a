# SPDX-License-Identifier: Apache-2.0
"""A real trainer fails: the report names it and shows its last words. The others lose their peer, or are stopped, and
say so in many words of their own; none of them is ever shown as the cause."""

import signal
import unittest

from paddle_case import PROBABLY, VERDICT, PaddleMixin

from harness import LauncherCase

TRACEBACK = ("Traceback (most recent call last):", "in fail_if_asked")
CRASH = "[SignalInfo: *** SIGSEGV (@0x0) received by PID"
STOPPED = "[SignalInfo: *** SIGTERM (@"

# Rank 1 fails before it meets the others, who wait for it inside Paddle.
NO_DATA = """
import os, time
import paddle.distributed as dist

rank = os.environ["PADDLE_TRAINER_ID"]
if rank == "1":
    while not all(os.path.exists("waits." + other) for other in "023"):
        time.sleep(0.05)
    raise FileNotFoundError("rank 1 has no data")
open("waits." + rank, "w").close()
dist.init_parallel_env()
"""


class FailureTest(PaddleMixin, LauncherCase):
    def fail(self, ranks, bad, how, *more):
        """A run in which that rank fails in that way; its logs are in log.N."""
        self.log_dir = f"log.{len(self.launches)}"
        script = self.script("data_parallel", "--fail_rank", bad, "--fail_how", how, *more)
        return self.train(f"--nproc_per_node={ranks}", f"--log_dir={self.log_dir}", *script)

    def log_text(self, rank):
        return self.log(rank, self.log_dir).decode(errors="replace")

    def assert_cause(self, run, bad, *last_words):
        """A neighbour that lost its connection may be dead first: it takes Python a tenth of a second to end after an
        exception, and gloo as long to abort. It is not the cause all the same."""
        self.assertIn(f"rank=[{bad}] was aborted", run.err, run.told())
        report = run.err[run.err.index("ABORT!!! "):]
        self.assertEqual((VERDICT.findall(report), PROBABLY.findall(report)), ([str(bad)], []), run.told())
        shown = report[report.rindex(", its end:"):]
        for text in last_words:
            self.assertIn(text, shown, run.told())

    def assert_victims_name_it(self, ranks, bad, what):
        for rank in set(range(ranks)) - {bad}:
            last = self.log_text(rank).splitlines()[-1]
            self.assertIn(f"rank {rank} was stopped because rank {bad} failed: {what}", last, self.log_text(rank))

    def test_an_exception_is_the_cause_and_shown(self):
        for ranks, bad in ((2, 1), (2, 0), (4, 2)):
            with self.subTest(ranks=ranks, bad=bad):
                run = self.fail(ranks, bad, "exception")
                last_words = (*TRACEBACK, f"ValueError: sample 10 of rank {bad} is broken")
                self.assert_cause(run, bad, *last_words)
                self.assert_status(run, 1)
                self.assert_victims_name_it(ranks, bad, "exit code 1")

    def test_those_who_wait_for_it_tell_of_the_signal_that_stopped_them(self):
        self.log_dir = "log"
        run = self.train("--nproc_per_node=4", self.python, self.write("train.py", NO_DATA))
        self.assert_status(run, 1)
        self.assert_cause(run, 1, "Traceback (most recent call last):", "FileNotFoundError: rank 1 has no data")
        self.assert_victims_name_it(4, 1, "exit code 1")
        for victim in (0, 2, 3):
            *paddles, _ = self.log_text(victim).rstrip().splitlines()
            self.assertIn(STOPPED, "\n".join(paddles[-3:]))

    def test_a_kill_is_the_cause(self):
        for ranks in (2, 4):
            with self.subTest(ranks=ranks):
                run = self.fail(ranks, 1, "kill")
                self.assert_cause(run, 1)
                self.assert_status(run, 128 + signal.SIGKILL)
                self.assert_victims_name_it(ranks, 1, "killed by SIGKILL")

    def test_a_crash_is_the_cause_and_shown(self):
        for ranks in (2, 4):
            with self.subTest(ranks=ranks):
                run = self.fail(ranks, 1, "segfault")
                self.assert_cause(run, 1, CRASH)
                self.assert_status(run, 128 + signal.SIGSEGV)
                self.assert_victims_name_it(ranks, 1, "killed by SIGSEGV")


if __name__ == "__main__":
    unittest.main()
