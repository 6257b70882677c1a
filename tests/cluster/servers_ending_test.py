# SPDX-License-Identifier: Apache-2.0
"""How a job with parameter servers on three hosts ends: servers when the last worker anywhere is done, and all at once,
with one verdict and nothing left, when a worker, a server, a node or a user ends it."""

import os
import re
import signal
import time
import unittest

from servers_case import ALL_SERVERS, ALL_WORKERS, ServersCase

from harness import alive
from roles_case import roles


class CompletionTest(ServersCase):
    def test_servers_stay_until_the_last_worker_anywhere_is_done(self):
        runs = self.start_job(*roles("worker.0=until:go"))
        pids = self.wait_roles(ALL_SERVERS + ALL_WORKERS)
        self.assert_gone(pids[name] for name in ALL_WORKERS if name != "worker.0")
        time.sleep(0.3)  # for a server that is stopped too early; the order of the moments below is the claim
        self.assertTrue(all(alive(pids[name]) for name in ALL_SERVERS), self.all_told(runs))
        self.let_go()
        self.assert_all_end(runs, 0)
        for name in ALL_SERVERS:
            self.assertGreater(self.moment("stopped", name), self.moment("ended", "worker.0"))
        for host, count in {"n1": 2, "n3": 1}.items():
            self.assert_told(runs[host], f"all workers have finished; stopping {count} here")

    def test_the_hubs_servers_end_by_themselves_while_workers_elsewhere_still_run(self):
        gate = self.gate()
        runs, pids = self.start_kept("server.0=done", "server.2=done")
        gate.open()
        self.assert_gone([pids["server.0"], pids["server.2"]])
        self.wait_told(runs["n1"], "the processes of this node have ended; waiting for the other nodes to end")
        self.assertFalse(self.was_stopped("server.1"))
        self.let_go()
        self.assert_all_end(runs, 0)
        self.assertTrue(self.was_stopped("server.1"))

    def test_a_mixed_nodes_processes_all_end_by_themselves_while_workers_elsewhere_still_run(self):
        gate = self.gate()
        runs = self.start_job(*roles("server.1=done", "worker.0=until:go"))
        self.wait_roles(ALL_SERVERS + ALL_WORKERS)
        gate.open()
        self.wait_told(runs["n3"], "the processes of this node have ended; waiting for the other nodes to end")
        self.let_go()
        self.assert_all_end(runs, 0)
        self.assertTrue(self.was_stopped("server.0"))

    def test_servers_that_die_badly_of_being_stopped_are_no_failure(self):
        runs = self.start_job("--grace=1", *roles("server.1=stubborn", "server.2=stubborn"))
        self.assert_all_end(runs, 0)
        for run in runs.values():
            self.assertNotIn("ABORT!!!", run.err)

    def test_a_node_that_is_lost_when_the_work_is_done_changes_nothing(self):
        for host in ("n1", "n2"):
            with self.subTest(host=host):
                runs = self.start_job("--grace=1", *roles("server.1=stubborn"))
                self.wait_stopped("server.1")
                self.kill_launcher(runs.pop(host))
                self.assert_all_end(runs, 0)
                self.wait_none_left()
                self.again()


class AbortTest(ServersCase):
    def assert_abort(self, runs, kind, index):
        for run in runs.values():
            self.assertIn(self.abort_line(4, kind, index), run.err.split("\n"), self.all_told(runs))
            self.assertEqual(run.err.count("ABORT!!!"), 1, run.told())

    def test_a_workers_exit_code_is_everyones(self):
        gate = self.gate()
        runs, pids = self.start_kept("worker.2=hold:7")
        gate.open()
        self.assert_all_end(runs, 7)
        self.assert_abort(runs, "worker", 2)
        self.assert_all_told(runs, "rank 2 on 10.77.0.2 failed: exit code 7; stopping")
        for host in ("n1", "n2"):  # the hub's, and where it happened
            self.assert_told(runs[host], str(pids["worker.2"]), "log.n2/workerlog.2")
        for name in [*ALL_SERVERS, "worker.0", "worker.1", "worker.3"]:
            self.assertTrue(self.was_stopped(name), name)

    def test_a_dead_server_ends_all(self):
        for index, host in ((2, "n1"), (1, "n3")):
            with self.subTest(host=host):
                runs, pids = self.start_kept()
                os.kill(pids[f"server.{index}"], signal.SIGKILL)
                self.assert_all_end(runs, 137)
                self.assert_abort(runs, "server", index)
                self.assert_all_told(runs, f"server {index} on {self.hosts.address(host)} failed: killed by SIGKILL")
                self.assertTrue(all(map(self.was_stopped, ALL_WORKERS)))
                self.again()

    def test_a_server_that_fails_before_the_workers_start_elsewhere_ends_all(self):
        runs = self.start_job("--server_wait=600", *roles("server.0=deaf", "server.1=exit:3"))
        self.assert_all_end(runs, 3)
        self.assert_abort(runs, "server", 1)
        self.assert_none_started()

    def test_a_killed_launcher_is_a_lost_node(self):
        lost = {"n1": ("server", "0,2"), "n2": ("worker", "0,2"), "n3": ("worker", "1,3")}
        for host, (kind, places) in lost.items():
            with self.subTest(host=host):
                runs, _ = self.start_kept()
                self.kill_launcher(runs.pop(host))
                self.assert_all_end(runs, 75)
                self.assert_all_told(runs, re.compile(rf"node {re.escape(self.hosts.address(host))}.* was lost"))
                self.assert_abort(runs, kind, places)
                self.wait_none_left()
                self.again()

    def test_a_node_whose_link_is_cut_is_lost_and_ends_too(self):
        runs, _ = self.start_kept(options=["--heartbeat=3"])
        self.hosts.cut("n3")
        self.addCleanup(self.hosts.restore, "n3")
        self.assert_all_end(runs, 75)
        for host in ("n1", "n2"):
            self.assert_told(runs[host], "node 10.77.0.3 was lost: no answer")
        self.assert_told(runs["n3"], "node 10.77.0.1, which holds the job together, was lost: no answer")
        self.assert_told(runs["n2"], "rank 1,3; server 1 (they were running there; they did not fail by themselves)")
        self.assertEqual(self.hosts.leftovers(), [])

    def test_a_signal_at_one_launcher_stops_all(self):
        for host in ("n1", "n2"):
            with self.subTest(host=host):
                runs, _ = self.start_kept()
                runs[host].send(signal.SIGTERM)
                self.assert_all_end(runs, 143)
                self.assert_all_told(runs, f"the launcher on {self.hosts.address(host)} was stopped by SIGTERM")
                for run in runs.values():
                    self.assertNotIn("ABORT", run.err)
                self.assertTrue(all(map(self.was_stopped, ALL_SERVERS + ALL_WORKERS)))
                self.again()

    def test_a_signal_while_servers_are_waited_for_ends_all(self):
        runs = self.start_job("--server_wait=600", *roles("server.1=deaf"))
        self.wait_roles(ALL_SERVERS)
        runs["n2"].send(signal.SIGTERM)
        self.assert_all_end(runs, 143)
        self.assert_none_started()


if __name__ == "__main__":
    unittest.main()
