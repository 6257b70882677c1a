# SPDX-License-Identifier: Apache-2.0
"""A node that is cut off is lost and ends by itself; a launcher that only stands still is not lost."""

import os
import signal
import time
import unittest

from cluster_case import PER_NODE, ClusterCase

from harness import HOLD, SH, state, wait_until

WORLD = 4 * PER_NODE
HEARTBEAT = 10  # the default
SLACK = 5


class LostNodeTest(ClusterCase):
    def start_job(self, *options):
        gate = self.gate()
        runs = self.start_nodes(*options, SH, "-c", HOLD)
        for rank in range(WORLD):
            self.wait_file(f"ready.{rank}")
        return runs, gate

    def cut_off(self, host):
        runs, _ = self.start_job()
        self.hosts.cut(host)
        self.addCleanup(self.hosts.restore, host)
        began = time.monotonic()
        alone = {host: runs.pop(host)}
        self.assert_all_end(runs, 75, HEARTBEAT + SLACK)
        self.assert_all_end(alone, 75, HEARTBEAT + SLACK)
        self.assertLess(time.monotonic() - began, HEARTBEAT + SLACK)
        address = self.hosts.address(host)
        for run in runs.values():
            self.assert_abort_line(run, WORLD, self.ranks_of(host))
            self.assert_told(run, f"node {address}", "was lost: no answer")
        self.hosts.restore(host)
        self.assertEqual(self.hosts.leftovers(), [])
        return runs, alone[host]

    def test_a_node_whose_link_is_cut_is_lost_and_ends_too(self):
        _, alone = self.cut_off("n2")
        self.assert_abort_line(alone, WORLD, self.ranks_of("n1"))
        self.assert_told(alone, "node 10.77.0.1, which holds the job together, was lost: no answer")

    def test_a_hub_whose_link_is_cut_is_lost_and_ends_too(self):
        _, alone = self.cut_off("n1")
        self.assert_abort_line(alone, WORLD, range(PER_NODE, WORLD))

    def test_two_nodes_whose_links_are_cut_are_both_named(self):
        runs, _ = self.start_job("--heartbeat=3")
        for host in ("n2", "n3"):
            self.hosts.cut(host)
            self.addCleanup(self.hosts.restore, host)
        self.assert_all_end(runs, 75)
        for host in ("n1", "n4"):
            self.assert_abort_line(runs[host], WORLD, range(PER_NODE, 3 * PER_NODE))
            self.assert_told(runs[host], "10.77.0.2 was lost: no answer", "10.77.0.3 was lost: no answer")  # BUG

    def stand_still(self, host, seconds):
        runs, gate = self.start_job("--heartbeat=2")
        runs[host].send(signal.SIGSTOP)
        wait_until(lambda: state(runs[host].pid) == "T", "the launcher to stand still")
        time.sleep(seconds)  # much longer than the heartbeat
        for run in runs.values():
            self.assertTrue(run.running(), self.all_told(runs))
            self.assertNotIn("lost", run.err)
        runs[host].send(signal.SIGCONT)
        gate.open()
        self.assert_all_end(runs, 0)

    def test_a_launcher_that_stands_still_is_not_lost(self):
        self.stand_still("n3", 6)

    def test_a_hub_that_stands_still_is_not_lost(self):
        self.stand_still("n1", 6)

    def test_a_short_break_of_the_network_is_survived(self):
        runs, gate = self.start_job()
        self.hosts.cut("n3")
        self.addCleanup(self.hosts.restore, "n3")
        time.sleep(3)  # well below the heartbeat
        self.hosts.restore("n3")
        gate.open()
        self.assert_all_end(runs, 0)

    def test_a_failure_while_a_node_stands_still_ends_the_others(self):
        runs, _ = self.start_job("--grace=1")
        runs["n4"].send(signal.SIGSTOP)
        wait_until(lambda: state(runs["n4"].pid) == "T", "the launcher to stand still")
        os.kill(int(self.read("ready.2")), signal.SIGKILL)
        for run in runs.values():
            if run is not runs["n4"]:
                self.wait_told(run, "rank 2 on 10.77.0.2 failed: killed by SIGKILL")
        runs["n4"].send(signal.SIGCONT)
        self.assert_all_end(runs, 137)


if __name__ == "__main__":
    unittest.main()
