# SPDX-License-Identifier: Apache-2.0
"""The commands of the READMEs that need several nodes, a scheduler or etcd, and what is shown of such runs.
tests/readme/commands_test has the others, and knows whether all are run."""

import re
import unittest

from etcd_server import EtcdServer, require_etcd
from page_case import CARDS, PageCase

from readme_page import FOUND, MOMENT, runs, shown_in

TWO = ("n1", "n2")
PREFIX = re.compile(rf"(?m)^INFO {MOMENT} paddle-launch\] ")  # a terminal has one line for this, without a time


class SeveralNodesTest(PageCase):
    def setUp(self):
        super().setUp()
        self.have_cards(2)

    @runs("paddle-launch --ips=192.168.0.1,192.168.0.2 train.py")
    def test_two_nodes(self, command):
        runs = self.complete(command, *TWO)
        self.assertIn(f"rank 0 {FOUND}".encode(), runs["n1"].out)
        self.assertIn(b"rank 2 found", runs["n2"].out)
        self.assert_logs(workers=4)

    @runs("paddle-launch --check --ips=192.168.0.1,192.168.0.2 train.py")
    def test_the_network_between_them(self, command):
        for run in self.complete(command, *TWO).values():
            self.assertIn(b"all 2 links work", run.out)
        self.assertFalse((self.dir / "log").exists())

    @runs('paddle-launch --servers="192.168.0.1:6170,192.168.0.2:6170" '
          '--workers="192.168.0.1:6171,192.168.0.2:6171" train.py')
    def test_parameter_servers(self, command):
        self.train_with("parameter_server.py")
        runs = self.complete(command, *TWO)
        self.assertIn(b"worker 0 found [+3.0, -2.0, +0.5, +1.0]", runs["n1"].out)
        self.assert_logs(workers=2, servers=2)

    def test_nodes_that_are_missing_and_one_that_is_lost(self):
        self.write("train.py", "import time\ntime.sleep(1000)\n")  # and nobody notices but the launchers
        command = "paddle-launch --ips=192.168.0.1,192.168.0.2,192.168.0.3,192.168.0.4 --nproc_per_node=2 train.py"
        runs = self.type(command, *TWO)
        self.wait_told(runs["n2"], "waiting for 2 of 4 nodes")
        self.assertRegex(PREFIX.sub("", runs["n2"].err), shown_in("Several nodes"))
        runs.update(self.type(command, "n3", "n4"))
        self.wait_all_told(runs, "Local start 2 processes")
        self.hosts.cut("n3")
        self.addCleanup(self.hosts.restore, "n3")
        self.assert_all_end(runs, 75)
        self.assertRegex(runs["n1"].err, shown_in("A node that is lost"))


class SchedulersTest(PageCase):
    def assert_whole_world(self, run):
        self.assertIn(f"rank 0 of {2 * CARDS} at ".encode(), run.out, run.told())
        self.assertEqual(run.err.count("Local processes completed."), 1, run.told())  # one launcher speaks for all
        self.assert_logs(workers=2 * CARDS)

    @runs("srun -N2 --gpus-per-node=8 paddle-launch train.py")
    def test_srun(self, command):
        self.assert_whole_world(self.complete(command, "n1")["n1"])

    @runs("mpirun -np 16 -H n1:8,n2:8 --bind-to none paddle-launch train.py")
    def test_mpirun(self, command):
        self.assert_whole_world(self.complete(command, "n1")["n1"])


class ElasticTest(PageCase):
    @classmethod
    def setUpClass(cls):
        require_etcd()
        super().setUpClass()

    def leftovers(self):
        return [row for row in super().leftovers() if row[1] not in EtcdServer.pids]

    @runs("paddle-launch --elastic_server=etcd:2379 --job_id=job1 --np=2:4 train.py")
    def test_nodes_that_come_and_go(self, command):
        server = EtcdServer(self.hosts, "n4").start()
        self.addCleanup(server.stop)
        self.have_cards(2)
        runs = self.complete(command, *TWO)
        self.assertIn(f"rank 0 {FOUND}".encode(), b"".join(run.out for run in runs.values()))
        self.assert_logs(workers=4)
        self.assertEqual(server.keys(), [])


if __name__ == "__main__":
    unittest.main()
