# SPDX-License-Identifier: Apache-2.0
"""Data-parallel training on two test hosts with two ranks each, however the launchers were started: one world, and
always the same result."""

import unittest

from cluster_case import ClusterCase
from host_set import INTERFACE
from paddle_case import PROBABLY, SECONDS, VERDICT, PaddleMixin
from surroundings_case import SurroundingsCase

from harness import binary

WORLD = 4
_first = []  # result of these tests


class TwoHosts(PaddleMixin):
    HOSTS = {"count": 2}

    def job(self):
        """What comes after the launcher's name."""
        return ["--nproc_per_node=2", "--log_dir=log", *self.script("data_parallel", "--out", "out")]

    def start_everywhere(self, *args, env=None):
        """The job, typed on both hosts."""
        return {host: self.start_on(host, f"--ips={self.ips}", *self.job(), *args, env=env) for host in self.names}

    def assert_job_trained(self):
        results = self.assert_trained("out", WORLD)
        if not _first:
            _first.append(results)
        self.assert_same_result(results, _first[0])


class HostsTest(TwoHosts, SurroundingsCase):
    def assert_ended(self, done):
        self.assertEqual(done.returncode, 0, f"{done.args}\n{done.stdout}\n{done.stderr}")
        self.assert_job_trained()

    def test_launchers_with_a_list_of_nodes_train_as_one_job(self):
        self.assert_all_end(self.start_everywhere(), 0, SECONDS)
        self.assert_job_trained()

    def test_mpirun_trains_one_job(self):
        self.assert_ended(self.openmpi(binary(), *self.job(), timeout=SECONDS))

    def test_srun_with_one_launcher_a_node_trains_one_job(self):
        self.assert_ended(self.srun("-N2", "--ntasks-per-node=1", binary(), *self.job(), timeout=SECONDS))

    def test_srun_with_one_launcher_a_rank_trains_one_job(self):
        self.assert_ended(self.srun("-N2", "--ntasks-per-node=2", binary(), *self.job(), timeout=SECONDS))

    def test_a_failure_on_the_other_host_is_told_on_the_node_of_rank_0(self):
        """… whoever is dead first: gloo aborts the neighbours while Python still ends."""
        runs = self.start_everywhere("--fail_rank", 3)
        statuses = self.wait_all(runs, SECONDS)
        told = self.all_told(runs)
        self.assertEqual(set(statuses.values()), {1}, told)
        report = runs["n1"].err[runs["n1"].err.index("ABORT!!! "):]
        self.assertEqual((VERDICT.findall(report), PROBABLY.findall(report)), (["3"], []), told)
        self.assertIn("ValueError: sample 10 of rank 3 is broken", report, told)


class DebianNamesTest(TwoHosts, ClusterCase):
    """Hosts whose own name is 127.0.1.1 to themselves, as Debian's installer leaves them: gloo would listen there, and
    must be told the interface."""

    HOSTS = {"count": 2, "debian_names": True}

    def test_launchers_with_a_list_of_nodes_train_as_one_job(self):
        self.assert_all_end(self.start_everywhere(env={"GLOO_SOCKET_IFNAME": INTERFACE}), 0, SECONDS)
        self.assert_job_trained()


if __name__ == "__main__":
    unittest.main()
