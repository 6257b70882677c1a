# SPDX-License-Identifier: Apache-2.0
"""However srun, mpirun or mpiexec.hydra start the launchers, the same 16 trainers begin on four hosts, and one of the
launchers speaks."""

import re
import subprocess
import unittest

from scheduler_case import MESH, MUNGE, NODES, NOT_PROTECTED, PER_NODE, SINGLE, WORLD, SchedulerCase

ALIKE = ("--nproc_per_node=4", "--start_port=6170")


class SameWorldTest(SchedulerCase):
    """One launcher a node under srun is what all other shapes are compared with."""

    _reference = None

    def reference(self):
        if SameWorldTest._reference is None:
            done = self.srun(*SINGLE, *self.command("reference", *ALIKE))
            SameWorldTest._reference = self.assert_ran(done, "reference")
        return SameWorldTest._reference

    def assert_same_world(self, done, job="job"):
        self.assertEqual(self.assert_ran(done, job), self.reference(), done.stderr)

    def test_one_launcher_a_node_numbers_the_ranks_node_by_node(self):
        told, logs, endpoints = self.reference()
        whole = [f"{address}:{6170 + place}" for address in self.addresses for place in range(PER_NODE)]
        self.assertEqual(endpoints.splitlines(), ["PADDLE_TRAINER_ENDPOINTS:", *whole])
        self.assertEqual(logs, sorted(["endpoints.log", *(f"workerlog.{rank}" for rank in range(WORLD))]))
        for rank, env in told.items():
            expected = {"TEST_HOST": self.names[rank // PER_NODE], "PADDLE_TRAINER_ID": str(rank),
                        "PADDLE_RANK_IN_NODE": str(rank % PER_NODE), "PADDLE_LOCAL_SIZE": str(PER_NODE),
                        "PADDLE_NNODES": str(NODES), "PADDLE_TRAINERS_NUM": str(WORLD),
                        "PADDLE_CURRENT_ENDPOINT": whole[rank], "PADDLE_TRAINER_ENDPOINTS": ",".join(whole)}
            self.assertEqual({name: env[name] for name in expected}, expected)

    def test_srun_with_four_launchers_a_node(self):
        self.assert_same_world(self.srun(*MESH, *self.command("job", *ALIKE)))

    def test_srun_with_tasks_dealt_round_the_nodes(self):
        self.assert_same_world(self.srun(*MESH, "--distribution=cyclic", *self.command("job", *ALIKE)))

    def test_mpirun_with_one_launcher_a_node(self):
        self.assert_same_world(self.openmpi(*self.command("job", *ALIKE)))

    def test_mpirun_with_four_launchers_a_node(self):
        self.assert_same_world(self.openmpi(*self.command("job", *ALIKE), per_host=4))

    def test_mpirun_with_ranks_dealt_round_the_nodes(self):
        self.assert_same_world(self.openmpi(*self.command("job", *ALIKE), per_host=4, options=("--map-by", "node")))

    def test_hydra_with_one_launcher_a_node(self):
        self.assert_same_world(self.hydra(*self.command("job", *ALIKE)))

    def test_hydra_with_four_launchers_a_node(self):
        self.assert_same_world(self.hydra(*self.command("job", *ALIKE), per_host=4))

    def test_srun_without_pmix_is_protected_by_munge(self):
        for job, shape in (("single", SINGLE), ("mesh", MESH), ("cyclic", (*MESH, "--distribution=cyclic"))):
            with self.subTest(job):
                done = self.srun("--mpi=none", *shape, *self.command(job, *ALIKE), env=MUNGE)
                self.assert_same_world(done, job)
                self.assertNotIn(NOT_PROTECTED, done.stderr)

    def test_srun_without_pmix_and_munge_says_that_the_channel_is_not_protected(self):
        done = self.srun("--mpi=none", *MESH, *self.command("job", *ALIKE))
        self.assert_same_world(done)
        self.assert_once(done, NOT_PROTECTED)

    def test_two_launchers_a_node_have_two_trainers_each(self):
        self.assert_same_world(self.srun("-N4", "--ntasks-per-node=2", *self.command("job", *ALIKE)))


class ConsoleTest(SchedulerCase):
    ONCE = ("Configuration Arguments", "Distributed Envs", "Local start ", "Local processes completed",
            "rank 0 of 16 on n1")

    def assert_one_voice(self, done):
        self.assert_ended(done)
        self.assert_once(done, *self.ONCE)
        self.assertEqual(re.findall(r"rank (\d+) of", done.stdout), ["0"])

    def test_the_first_launcher_alone_speaks_under_srun(self):
        done = self.srun("--label", *MESH, *self.command("job", "--nproc_per_node=4"), stderr=subprocess.STDOUT)
        self.assert_one_voice(done)
        silent = [line for line in done.stdout.splitlines() if not re.match(r" ?0: ", line)]
        self.assertEqual(silent, [])

    def test_the_first_launcher_alone_speaks_on_each_way(self):
        run = {"step": lambda words: self.srun("--mpi=none", *MESH, *words, stderr=subprocess.STDOUT),
               "mpirun": lambda words: self.openmpi(*words, per_host=4, stderr=subprocess.STDOUT),
               "hydra": lambda words: self.hydra(*words, per_host=4, stderr=subprocess.STDOUT)}
        for way, start in run.items():
            with self.subTest(way):
                self.assert_one_voice(start(self.command(way, "--nproc_per_node=4")))

    def test_ips_that_contradict_the_scheduler_are_a_warning_with_both(self):
        options = ("--nproc_per_node=4", "--ips=10.77.0.1,10.77.0.9")
        truth = f"n1,n2,n3,n4 ({self.ips})"
        for way, start in (("srun", lambda words: self.srun(*MESH, *words)),
                           ("srun", lambda words: self.srun("--mpi=none", *SINGLE, *words)),
                           ("mpirun", lambda words: self.openmpi(*words))):
            job = f"{way}{len(list(self.dir.iterdir()))}"
            with self.subTest(job):
                done = start(self.command(job, *options))
                self.assert_ran(done, job)
                self.assert_once(done, f"--ips=10.77.0.1,10.77.0.9 is not what counts: {way} started this job on "
                                 f"{truth}")

    def test_ips_that_fit_are_no_warning(self):
        for job, ips in (("addresses", self.ips), ("names", "n1,n2,n3,n4")):
            done = self.srun(*MESH, *self.command(job, "--nproc_per_node=4", f"--ips={ips}"))
            self.assert_ran(done, job)
            self.assertNotIn("is not what counts", done.stderr)


if __name__ == "__main__":
    unittest.main()
