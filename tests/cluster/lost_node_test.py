# SPDX-License-Identifier: Apache-2.0
"""A node that is cut off is lost and ends by itself; a launcher that only stands still is not lost. Most tests hold two
jobs at once, with the same node as a member of one and the hub of the other."""

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
    def start_job(self, *options, hub="n1"):
        """A job that waits at the gate of its folder. Returns (runs, gate, pids by rank)."""
        order = [hub, *(name for name in self.names if name != hub)]
        ips = ",".join(map(self.hosts.address, order))
        gate = self.gate()
        runs = self.start_nodes(*options, SH, "-c", HOLD, ips=ips, hosts=order)
        return runs, gate, self.wait_all_ready(runs, WORLD)

    def start_two_jobs(self, host, *options):
        """The host is a member of the first, and the hub of the second."""
        base = self.dir
        jobs = []
        for name, hub in (("member", "n1"), ("hub", host)):
            self.dir = base / name
            self.dir.mkdir()
            jobs.append(self.start_job(f"--job_id={name}", *options, hub=hub))
        self.dir = base
        return jobs

    def gate(self):
        """Unlike the usual one it leaves earlier gates shut."""
        earlier, self._gates = self._gates, []
        gate = super().gate()
        self._gates += earlier
        return gate

    def cut(self, *hosts):
        for host in hosts:
            self.hosts.cut(host)
            self.addCleanup(self.hosts.restore, host)

    def stop(self, run):
        run.send(signal.SIGSTOP)
        wait_until(lambda: state(run.pid) == "T", "the launcher to stand still")

    def test_a_node_whose_link_is_cut_is_lost_and_ends_too(self):
        (as_member, _, _), (as_hub, _, _) = self.start_two_jobs("n2")
        self.cut("n2")
        began = time.monotonic()
        alone = as_hub.pop("n2")
        for runs in (as_member, as_hub):
            self.assert_all_end(runs, 75, HEARTBEAT + SLACK)
            self.assertLess(time.monotonic() - began, HEARTBEAT + SLACK, self.all_told(runs))
        # It loses three nodes. What it sends to the others when it has lost the first puts off the kernel's probes,
        # and has three seconds to be acknowledged.
        alone.wait(began + HEARTBEAT + 3 + SLACK - time.monotonic())
        self.assert_status(alone, 75)
        self.hosts.restore("n2")
        self.assertEqual(self.hosts.leftovers(), [])
        # What the cut node thinks: the others are lost, all that it had to do with.
        self.assert_abort_line(as_member["n2"], WORLD, self.ranks_of("n1"))
        self.assert_told(as_member.pop("n2"), "node 10.77.0.1, which holds the job together, was lost: no answer")
        self.assert_abort_line(alone, WORLD, range(PER_NODE, WORLD))
        for run in as_member.values():
            self.assert_abort_line(run, WORLD, self.ranks_of("n2"))
            self.assert_told(run, "node 10.77.0.2 was lost: no answer")
        for run in as_hub.values():
            self.assert_abort_line(run, WORLD, range(PER_NODE))
            self.assert_told(run, "node 10.77.0.2, which holds the job together, was lost: no answer")

    def test_two_nodes_whose_links_are_cut_are_both_named(self):
        runs, _, _ = self.start_job("--heartbeat=3")
        self.cut("n2", "n3")
        self.assert_all_end(runs, 75, 3 + SLACK)
        for host in ("n1", "n4"):
            self.assert_abort_line(runs[host], WORLD, range(PER_NODE, 3 * PER_NODE))
            self.assert_told(runs[host], "10.77.0.2 was lost: no answer", "10.77.0.3 was lost: no answer")

    def test_a_launcher_that_stands_still_is_not_lost(self):
        jobs = self.start_two_jobs("n3", "--heartbeat=2")
        for runs, _, _ in jobs:
            self.stop(runs["n3"])
        time.sleep(4)  # two heartbeats; a node that is cut would be lost after one, as the test above shows
        for runs, gate, _ in jobs:
            for run in runs.values():
                self.assertTrue(run.running(), self.all_told(runs))
                self.assertNotIn("lost", run.err)
            runs["n3"].send(signal.SIGCONT)
            gate.open()
        for runs, _, _ in jobs:
            self.assert_all_end(runs, 0)

    def test_a_short_break_of_the_network_is_survived(self):
        jobs = self.start_two_jobs("n3")
        self.cut("n3")
        time.sleep(3)  # well below the heartbeat
        self.hosts.restore("n3")
        for _, gate, _ in jobs:
            gate.open()
        for runs, _, _ in jobs:
            self.assert_all_end(runs, 0)

    def test_a_failure_while_a_node_stands_still_ends_the_others(self):
        runs, _, pids = self.start_job("--grace=1")
        self.stop(runs["n4"])
        os.kill(pids[2], signal.SIGKILL)
        standing = runs.pop("n4")
        self.wait_all_told(runs, "rank 2 on 10.77.0.2 failed: killed by SIGKILL")
        self.assert_gone(pids[rank] for rank in range(3 * PER_NODE))
        standing.send(signal.SIGCONT)
        self.assert_all_end({**runs, "n4": standing}, 137)


if __name__ == "__main__":
    unittest.main()
