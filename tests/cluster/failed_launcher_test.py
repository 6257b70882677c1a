# SPDX-License-Identifier: Apache-2.0
"""A bug in the launcher of one node of two: its trainers are stopped and waited for, and the other node learns of it."""

import signal
import unittest

from cluster_case import PER_NODE, ClusterCase

from harness import READY, SH, alive

WORLD = 2 * PER_NODE
SAVES = "trap '' USR1; trap 'while [ ! -e saved ]; do sleep 0.05; done; exit 0' TERM; "
TRAINER = SAVES + READY + "sleep 1000 & while :; do wait; done"


class FailedLauncherTest(ClusterCase):
    HOSTS = {"count": 2}

    def fail_on(self, host, *options, once):
        """All trainers run, and then the launcher of that host fails. Returns (runs, pids by rank)."""
        self.gate()
        trouble = {"LD_PRELOAD": self.to_preload("FAKE_TROUBLE_LIBRARY"), "FAKE_TROUBLE": str(self.dir / "trouble"),
                   **({"FAKE_TROUBLE_ONCE": "1"} if once else {})}
        runs = {name: self.start_node(name, "--grace=60", *options, SH, "-c", TRAINER,
                                      env=trouble if name == host else {}) for name in self.names}
        pids = self.wait_all_ready(runs, WORLD)
        self.write("trouble", "")
        runs[host].send(signal.SIGUSR1)
        self.wait_all_told(runs, f"the launcher on {self.hosts.address(host)} failed: epoll_wait: ")
        return runs, pids

    def assert_end(self, host, once):
        runs, pids = self.fail_on(host, once=once)
        self.assertTrue(all(map(alive, pids.values())), self.all_told(runs))
        self.write("saved", "")
        self.assert_all_end(runs, 1)
        self.assertFalse(any(map(alive, pids.values())))
        for run in runs.values():
            self.assert_abort_line(run, WORLD, self.ranks_of(host))
            self.assertNotIn("could not start", run.err)
            self.assertNotIn("was lost", run.err)

    def test_a_member_fails_and_its_loop_works_again(self):
        self.assert_end("n2", once=True)

    def test_the_hub_fails_and_its_loop_works_again(self):
        self.assert_end("n1", once=True)

    def test_a_member_fails_for_good(self):
        self.assert_end("n2", once=False)

    def test_the_hub_fails_for_good(self):
        self.assert_end("n1", once=False)

    def test_no_node_starts_again(self):
        runs, _ = self.fail_on("n2", "--max_restart=3", once=True)
        self.write("saved", "")
        self.assert_all_end(runs, 1)
        for run in runs.values():
            self.assertNotIn("starting again", run.err)


if __name__ == "__main__":
    unittest.main()
