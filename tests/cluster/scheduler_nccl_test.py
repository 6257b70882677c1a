# SPDX-License-Identifier: Apache-2.0
"""The NCCL id of a job on four hosts: the real libnccl makes it on n1, 16 stand-ins of trainers check in with it."""

import ipaddress
import os
import pathlib
import re
import sys
import unittest

from libnccl import find_libnccl
from scheduler_case import MESH, PER_NODE, WORLD, SchedulerCase

from harness import SH, binary

CHECK_IN = pathlib.Path(__file__).resolve().parent.parent / "fakes" / "nccl_check_in.py"
WRITTEN_FOR = "22809"  # as CHECK_IN says
ADDRESS = slice(12, 16)  # in an id: eight random bytes, family, port, address

# sh -c TRAINER sh PYTHON CHECK_IN
TRAINER = 'env >"env.$PADDLE_TRAINER_ID"; exec "$1" -IS "$2"'


class NcclTest(SchedulerCase):
    @classmethod
    def setUpClass(cls):
        cls.library = find_libnccl()
        cls.SHARED = (os.path.dirname(cls.library),)
        super().setUpClass()

    def words(self):
        return ["--gpus=0,1,2,3", "--assume_gpus", f"--nccl_lib={self.library}", "--log_dir=log", SH, "-c", TRAINER,
                "sh", sys.executable, str(CHECK_IN)]

    def ids(self):
        """Of the job, the same for all trainers; skips where the stand-in does not speak that version."""
        told = [self.environment_of(rank) for rank in range(WORLD) if (self.dir / f"env.{rank}").exists()]
        self.assertNotEqual(told, [])
        versions = {env.get("PADDLE_LAUNCH_NCCL_VERSION") for env in told}
        if len(versions) == 1 and versions != {WRITTEN_FOR} and versions != {None}:
            self.skipTest(f"nccl_check_in.py speaks {WRITTEN_FOR}, {self.library} is {versions}")
        self.assertEqual(versions, {WRITTEN_FOR})
        lists = {env.get("PADDLE_LAUNCH_NCCL_ID") for env in told}
        self.assertEqual(len(lists), 1, lists)
        return [bytes.fromhex(text) for text in lists.pop().split(",")]

    def assert_all_checked_in(self):
        for number in self.ids():
            self.assertEqual(str(ipaddress.IPv4Address(number[ADDRESS])), self.addresses[0])
        for rank in range(WORLD):
            lines = re.findall(r"(?m)^rank (\d+) of (\d+) checked in; next peer ([\d.]+):",
                               self.trainer_bytes(rank).decode())
            following = self.addresses[(rank + 1) % WORLD // PER_NODE]
            self.assertEqual(lines, [(str(rank), str(WORLD), following)])

    def test_all_check_in_under_srun_with_four_launchers_a_node(self):
        done = self.srun(*MESH, binary(), *self.words())
        self.ids()
        self.assert_ended(done)
        self.assert_all_checked_in()

    def test_all_check_in_under_mpirun_with_one_launcher_a_node(self):
        done = self.openmpi(binary(), *self.words())
        self.ids()
        self.assert_ended(done)
        self.assert_all_checked_in()

    def test_all_check_in_in_a_step_over_tcp(self):
        done = self.srun("--mpi=none", *MESH, binary(), *self.words())
        self.ids()
        self.assert_ended(done)
        self.assert_all_checked_in()

    def test_all_check_in_where_launchers_were_started_by_hand(self):
        runs = {host: self.start_on(host, f"--ips={self.ips}", *self.words()) for host in self.names}
        self.wait_all(runs)
        self.ids()
        self.assert_all_end(runs, 0)
        self.assert_all_checked_in()


if __name__ == "__main__":
    unittest.main()
