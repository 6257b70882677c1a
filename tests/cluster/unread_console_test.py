# SPDX-License-Identifier: Apache-2.0
"""A console that nobody reads on one node of two: the other node ends, or starts again, as if somebody did."""

import contextlib
import os
import signal
import unittest

from cluster_case import ClusterCase

from harness import HOLD, SH, wait_until

# Nobody goes on before the host's rank has written so much.
FLOOD = ("[ $PADDLE_TRAINER_ID = {} ] && head -c 4000000 /dev/zero | tr '\\0' x && touch flooded; "
         "while [ ! -e flooded ]; do sleep 0.05; done; ")


class UnreadConsoleTest(ClusterCase):
    HOSTS = {"count": 2}

    def start_with_unread(self, host, *args):
        """Nobody reads the stdout of that host's launcher. Returns {host: Launch}."""
        read, write = os.pipe()
        self.addCleanup(os.close, read)
        runs = {name: self.start_on(name, f"--ips={self.ips}", "--nproc_per_node=1", "--console=all",
                                    f"--log_dir=log.{name}", *args, **({"stdout": write} if name == host else {}))
                for name in self.names}
        os.close(write)
        return runs

    def end(self, run):
        """Whoever waits for its console goes when it is interrupted."""
        with contextlib.suppress(ProcessLookupError):
            run.send(signal.SIGINT)
        run.wait()

    def assert_other_ends(self, host, other):
        runs = self.start_with_unread(host, SH, "-c", FLOOD.format(self.names.index(host)) + "exit 0")
        runs[other].wait()
        self.assert_status(runs[other], 0)
        self.assertTrue(runs[host].running(), self.all_told(runs))  # it waits for its own console
        self.end(runs[host])
        self.assert_status(runs[host], 0)

    def test_an_unread_console_of_the_hub_holds_no_other_node(self):
        self.assert_other_ends("n1", "n2")

    def test_an_unread_console_of_a_member_holds_no_other_node(self):
        self.assert_other_ends("n2", "n1")

    def assert_starts_again(self, host, other):
        fails_once = "[ $PADDLE_TRAINER_ID = 1 ] && [ $PADDLE_RESTART_COUNT = 0 ] && exit 7; exit 0"
        runs = self.start_with_unread(host, "--max_restart=3", "--restart_pause=0", SH, "-c",
                                      FLOOD.format(self.names.index(host)) + fails_once)
        runs[other].wait()
        self.assert_status(runs[other], 0)
        self.assert_all_told(runs, "starting again (restart 1 of 3)")
        self.assertEqual(runs[host].err.count("nobody has read the console for 5 s"), 1, self.all_told(runs))
        self.end(runs[host])
        self.assert_status(runs[host], 0)

    def test_a_job_starts_again_while_nobody_reads_the_hubs_console(self):
        self.assert_starts_again("n1", "n2")

    def test_a_job_starts_again_while_nobody_reads_a_members_console(self):
        self.assert_starts_again("n2", "n1")

    def test_a_node_that_waits_for_the_others_is_interrupted_while_nobody_reads_its_console(self):
        self.gate()
        last = "[ $PADDLE_TRAINER_ID = 1 ] && exit 0; " + HOLD
        runs = self.start_with_unread("n2", SH, "-c", FLOOD.format(1) + last)
        wait_until(lambda: "waiting for the other nodes to end" in runs["n2"].err, lambda: self.all_told(runs))
        runs["n2"].send(signal.SIGTERM)
        self.assert_all_end(runs, 143)


if __name__ == "__main__":
    unittest.main()
