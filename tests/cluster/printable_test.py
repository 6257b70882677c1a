# SPDX-License-Identifier: Apache-2.0
"""Text that comes from other nodes, from strangers and out of etcd is shown without its control bytes, whatever way it
takes to the terminal."""

import json
import unittest

from cluster_case import ClusterCase
from elastic_case import ElasticCase

from harness import SH

TITLE = "\x1b]0;owned\x07"
CLEAR = "\x1b[2J"
C1 = "\u009b31m"
FOREIGN = f"训练{TITLE}{CLEAR}{C1}\r"
SHOWN = "训练\\x1b]0;owned\\x07\\x1b[2J\\xc2\\x9b31m\\x0d"


class PrintableCase(ClusterCase):
    def assert_printable(self, *runs):
        for run in runs:
            for shown in (run.out, run.err_path.read_bytes()):
                text = shown.decode("utf-8")
                odd = {char for char in text if (ord(char) < 0x20 and char not in "\n\t") or 0x7f <= ord(char) < 0xa0}
                self.assertEqual(odd, set(), run.told())


class OtherNodesTest(PrintableCase):
    def test_another_argument_under_one_job_id(self):
        """UTF-8 stays as it is."""
        runs = {host: self.start_node(host, "--job_id=one", SH, "-c", ":", "sh", argument, ips="10.77.0.1,10.77.0.2")
                for host, argument in (("n1", "plain"), ("n2", FOREIGN))}
        self.assert_all_end(runs, 0)
        self.assert_told(runs["n1"], "the nodes run different commands", SHOWN)
        self.assert_printable(*runs.values())

    def test_a_script_that_is_not_there(self):
        runs = {host: self.start_node(host, "--job_id=one", script, ips="10.77.0.1,10.77.0.2")
                for host, script in (("n1", SH), ("n2", f"{FOREIGN}.py"))}
        for run in runs.values():
            run.wait()
            self.assert_told(run, f"{SHOWN}.py")
        self.assert_printable(*runs.values())

    def test_the_name_of_another_job(self):
        runs = {host: self.start_node(host, f"--job_id={name}", "--bootstrap_timeout=4", SH, "-c", ":",
                                      ips="10.77.0.1,10.77.0.2")
                for host, name in (("n1", "one"), ("n2", FOREIGN))}
        self.assert_all_end(runs, 75)
        self.assert_told(runs["n1"], SHOWN)
        self.assert_printable(*runs.values())


class EtcdTest(ElasticCase, PrintableCase):
    def put(self, name, **value):
        self.etcd.ctl("put", f"/paddle/{self.job_id}/{name}", json.dumps(value))

    def test_who_stopped_the_job(self):
        running = self.start_elastic(["n1", "n2"])
        self.wait_round_or_later(0, 2, running)
        self.put("orders/stop", **{"from": FOREIGN})
        self.assert_all_end(running, 143)
        self.assert_all_told(running, f"the job was stopped by --stop from {SHOWN}")
        self.assert_printable(*running.values())

    def test_who_stopped_a_job_that_waits(self):
        waiting = self.start_elastic(["n1"], np="2")
        self.wait_told(waiting["n1"], "waiting for 1 of 2 nodes")
        self.put("orders/stop", **{"from": FOREIGN})
        self.assert_all_end(waiting, 143)
        self.assert_told(waiting["n1"], f"stopped by --stop from {SHOWN}")
        self.assert_printable(*waiting.values())

    def test_nodes_that_status_shows(self):
        runs = self.start_elastic(["n1", "n2"])
        self.wait_round_or_later(0, 2, runs)
        self.put("pods/x", host=FOREIGN, port=1, machine=FOREIGN, pid=1, since=2**60)
        shown = self.order("--status")
        self.assert_status(shown, 0)
        self.assertIn(SHOWN, shown.out.decode())
        self.assert_printable(shown)
        self.etcd.ctl("del", f"/paddle/{self.job_id}/pods/x")
        self.assert_completes(runs)
        self.assert_printable(*runs.values())


if __name__ == "__main__":
    unittest.main()
