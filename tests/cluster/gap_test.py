# SPDX-License-Identifier: Apache-2.0
"""Gaps of the network while a job on two hosts is being stopped and its trainers save: where a round may follow they cost
no node, also when the connection between the launchers is lost at both ends."""

import contextlib
import time
import unittest

from cluster_case import PER_NODE, ClusterCase

from harness import SH, wait_until

WORLD = 2 * PER_NODE
GRACE = 90
SOON = "--heartbeat=2"  # both ends notice a cut link within seconds
OUT_OF_REACH = "is out of reach"
# Rank 1 fails when there is a file "fail". Those that are stopped save until there is a file "saved", on the second node
# only where there is a file "slow". The rounds after the first succeed unless there is a file "fails_always".
TRAINER = """round=$PADDLE_LAUNCH_ROUND rank=$PADDLE_TRAINER_ID
[ $round = 0 ] || [ -e fails_always ] || exit 0
save() {
  : >stopping.$round.$rank
  [ $rank -lt 2 ] || [ -e slow ] || exit 0
  until [ -e saved.$round ]; do sleep 0.05; done
  exit 0
}
trap save TERM
: >trapped.$round.$rank
if [ $rank = 1 ]; then until [ -e fail.$round ]; do sleep 0.05; done; exit 7; fi
while :; do sleep 0.05; done"""


class GapTest(ClusterCase):
    def start_two(self, *options, grace=GRACE):
        ips = ",".join(self.addresses[:2])
        return self.start_nodes(f"--grace={grace}", "--restart_pause=0", *options, SH, "-c", TRAINER,
                                hosts=["n1", "n2"], ips=ips)

    def wait_files(self, runs, *names):
        wait_until(lambda: all((self.dir / name).exists() for name in names), lambda: self.all_told(runs))

    def stopping(self, *options, slow=True, restarts=2, grace=GRACE):
        """A job of which rank 1 has failed, and whose other ranks save."""
        if slow:
            self.write("slow", "")
        runs = self.start_two(f"--max_restart={restarts}", *options, grace=grace)
        self.fail_in(0, runs)
        return runs

    def fail_in(self, number, runs):
        self.wait_files(runs, *(f"trapped.{number}.{rank}" for rank in range(WORLD)))
        self.write(f"fail.{number}", "")
        self.wait_files(runs, *(f"stopping.{number}.{rank}" for rank in range(WORLD) if rank != 1))

    @contextlib.contextmanager
    def cut(self, host="n2"):
        self.hosts.cut(host)
        try:
            yield
        finally:
            self.hosts.restore(host)

    def assert_goes_on(self, runs):
        self.write("saved.0", "")
        self.assert_all_end(runs, 0)
        self.assert_all_told(runs, "(restart 1 of 2)")

    def test_short_gaps(self):
        runs = self.stopping()
        for _ in range(5):
            with self.cut():
                time.sleep(1.7)
            time.sleep(1)
        self.assert_goes_on(runs)

    def test_a_gap_of_six_seconds(self):
        runs = self.stopping()
        time.sleep(2)
        with self.cut():
            time.sleep(6)
        self.assert_goes_on(runs)

    def test_a_connection_that_is_lost_at_both_ends(self):
        runs = self.stopping(SOON)
        with self.cut():
            self.wait_all_told(runs, OUT_OF_REACH)
        self.wait_told(runs["n1"], "node 10.77.0.2 is back")
        self.assert_goes_on(runs)

    def test_the_round_ends_while_a_node_is_out_of_reach(self):
        runs = self.stopping(SOON, slow=False)
        self.wait_told(runs["n2"], "waiting for the other nodes to end")
        with self.cut():
            self.wait_all_told(runs, OUT_OF_REACH)
            self.write("saved.0", "")
            self.wait_told(runs["n1"], "(restart 1 of 2)")
        self.assert_goes_on(runs)

    def test_both_nodes_end_alike_where_no_round_follows(self):
        self.write("fails_always", "")
        self.write("saved.0", "")
        runs = self.stopping(SOON, restarts=1)
        self.fail_in(1, runs)
        with self.cut():
            self.wait_all_told(runs, OUT_OF_REACH)
        self.wait_told(runs["n1"], "node 10.77.0.2 is back")
        self.write("saved.1", "")
        self.assert_all_end(runs, 7)
        for run in runs.values():
            self.assert_abort_line(run, WORLD, [1])

    def test_a_node_that_does_not_come_back_is_lost(self):
        runs = self.stopping(SOON, "--bootstrap_timeout=3", grace=15)
        with self.cut():
            self.wait_all_told(runs, OUT_OF_REACH)
            self.assertEqual(self.wait_all(runs)["n1"], 75, self.all_told(runs))
        for run in runs.values():
            self.assertNotEqual(run.status, 0)
            self.assertNotIn("is back", run.err)


if __name__ == "__main__":
    unittest.main()
