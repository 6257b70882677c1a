# SPDX-License-Identifier: Apache-2.0
"""Data-parallel training on two test hosts with two ranks each, however the launchers were started: one world, and
always the same result."""

import unittest

from paddle_case import SECONDS, PaddleMixin
from surroundings_case import SurroundingsCase

from harness import binary

WORLD = 4


class HostsTest(PaddleMixin, SurroundingsCase):
    HOSTS = {"count": 2}
    _results = {}

    def job(self):
        return [binary(), "--nproc_per_node=2", "--log_dir=log", *self.script("data_parallel", "--out", "out")]

    def assert_job_trained(self):
        """… and as the first of these tests did."""
        results = self.assert_trained("out", WORLD)
        self.assert_same_result(results, HostsTest._results.setdefault("first", results))

    def assert_ended(self, done):
        self.assertEqual(done.returncode, 0, f"{done.args}\n{done.stdout}\n{done.stderr}")

    def test_ips(self):
        program, *args = self.job()
        runs = {host: self.start_on(host, f"--ips={self.ips}", *args, program=program) for host in self.names}
        self.assert_all_end(runs, 0, SECONDS)
        self.assert_job_trained()

    def test_mpirun(self):
        self.assert_ended(self.openmpi(*self.job(), timeout=SECONDS))
        self.assert_job_trained()

    def test_srun_with_one_launcher_a_node(self):
        self.assert_ended(self.srun("-N2", "--ntasks-per-node=1", *self.job(), timeout=SECONDS))
        self.assert_job_trained()

    def test_srun_with_one_launcher_a_rank(self):
        self.assert_ended(self.srun("-N2", "--ntasks-per-node=2", *self.job(), timeout=SECONDS))
        self.assert_job_trained()


if __name__ == "__main__":
    unittest.main()
