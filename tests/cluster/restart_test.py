# SPDX-License-Identifier: Apache-2.0
"""A job on four hosts that failed is started again on all of them, with one count of restarts. Most tests hold several
jobs at once."""

import signal
import unittest

from libnccl import find_libnccl
from restart_case import LONG_PAUSE, NO_PAUSE, WORLD, RestartCase, fails, saves

from harness import pending, wait_until


class FailureTest(RestartCase):
    def test_a_trainer_that_fails_on_any_node_starts_all_again(self):
        jobs = {rank: self.start_job(f"rank{rank}", fails(rank), "--restart_pause=0.5") for rank in (0, 4, 7)}
        for job in jobs.values():
            job.begin()
        for rank, job in jobs.items():
            with self.subTest(rank=rank):
                job.wait_for(1)
                job.assert_ends(0)
                job.assert_tables(self.text_of(rank))
                job.assert_told(f"round 0 failed: {self.text_of(rank)}; starting again in 0.5 s (restart 1 of 3)",
                                "round 1 begins: 2 processes here, 8 trainers on 4 nodes in all")
                self.assertEqual(job.assert_world(0) & job.assert_world(1), set())
                for run in job.runs.values():
                    self.assertEqual(run.err.count("ABORT!!!"), 1, run.told())

    def test_several_rounds_and_then_no_restart_is_left(self):
        job = self.start_job("many", fails(3, code="$((10 + PADDLE_LAUNCH_ROUND))", before=9), NO_PAUSE)
        job.begin()
        job.assert_ends(13)
        self.assertEqual(job.rounds(), [0, 1, 2, 3])
        job.assert_told("not started again: no restart is left (--max_restart=3)")
        for host in job.runs:
            self.assertEqual([row[-1] for row in job.table(host)],
                             [self.text_of(3, f"exit code {code}") for code in range(10, 14)])
            self.assertEqual([row[:2] for row in job.table(host)], [(number, number) for number in range(4)])

    def test_two_failures_at_once_are_one_restart(self):
        job = self.start_job("two", fails(3, 6, code="$((4 + PADDLE_TRAINER_ID))"), NO_PAUSE)
        job.begin()
        job.wait_for(1)
        job.assert_ends(0)
        job.assert_world(1)
        tables = {tuple(job.table(host)) for host in job.runs}
        self.assertEqual(len(tables), 1, job.told())
        first, second = tables.pop()
        self.assertIn(first[-1], (self.text_of(3), self.text_of(6, "exit code 10")))
        self.assertEqual(second, (1, 1, 4, WORLD, "completed"))

    def test_exit_code_102_of_any_node_uses_up_no_restart(self):
        job = self.start_job("wish", fails(5, code=102, before=2), NO_PAUSE)
        job.begin()
        job.assert_ends(0)
        for host in job.runs:
            self.assertEqual([row[:2] for row in job.table(host)], [(0, 0), (1, 0), (2, 0)])

    def test_a_signal_anywhere_while_trainers_are_stopped_is_the_end(self):
        # This rank fails when those of n3 are ready to take their time; then the launcher of that host is stopped.
        cases = ((2, "n1"), (2, "n2"), (2, "n3"), (2, "n4"), (0, "n1"))
        text = saves(4, 5) + "until [ -e trapped.4 -a -e trapped.5 ]; do sleep 0.05; done; "
        jobs = {(rank, host): self.start_job(f"rank{rank}-{host}", text + fails(rank), NO_PAUSE, "--grace=600")
                for rank, host in cases}
        for job in jobs.values():
            job.begin()
        for (_, host), job in jobs.items():
            job.wait_files("stopping", (4, 5), job.told)
            if host != "n3":  # its own processes are gone, and it waits for those of n3
                self.wait_told(job.runs[host], "the processes of this node have ended")
            job.runs[host].send(signal.SIGTERM)
            wait_until(lambda: not pending(job.runs[host].pid, signal.SIGTERM), "the launcher to take the signal")
        for job in jobs.values():
            (job.folder / "saved").touch()
        for (rank, host), job in jobs.items():
            with self.subTest(rank=rank, host=host):
                job.assert_ends(7)
                self.assertEqual(job.rounds(), [0])
                for run in job.runs.values():
                    self.assertNotIn("starting again", run.err)

    def test_a_signal_in_a_later_round_is_the_end(self):
        job = self.start_job("later", fails(6) + "exec sleep 1000", NO_PAUSE)
        job.begin()
        job.wait_for(1)
        job.runs["n2"].send(signal.SIGTERM)
        job.assert_ends(143)
        for host in job.runs:
            self.assertEqual(job.table(host)[1][-1], "the launcher on 10.77.0.2 was stopped by SIGTERM")


class BetweenRoundsTest(RestartCase):
    def start_pausing(self, *names):
        """Jobs that have ten minutes until their next round."""
        jobs = [self.start_job(name, fails(2), LONG_PAUSE) for name in names]
        for job in jobs:
            job.begin()
        for job in jobs:
            self.wait_all_told(job.runs, "starting again in 10 min 0 s (restart 1 of 3)")
        return jobs

    def test_a_signal_in_the_pause_ends_all_nodes_at_once(self):
        signals = {"n1": signal.SIGTERM, "n3": signal.SIGINT}
        jobs = dict(zip(signals, self.start_pausing(*signals)))
        for host, job in jobs.items():
            job.runs[host].send(signals[host])
        for host, job in jobs.items():
            with self.subTest(host=host):
                job.assert_ends(128 + signals[host])
                job.assert_told(f"stopped by {signals[host].name} between two rounds")

    def test_the_hub_that_is_lost_in_the_pause_ends_all_nodes_at_once(self):
        job, = self.start_pausing("hub")
        self.kill(job, "n1")
        job.assert_ends(75)
        job.assert_told("10.77.0.1, which holds the job together, was lost")

    def test_a_node_that_is_lost_in_the_pause_is_waited_for(self):
        job = self.start_job("short", fails(2), "--restart_pause=2")
        job.begin()
        self.wait_all_told(job.runs, "starting again in 2 s (restart 1 of 3)")
        self.kill(job, "n3")
        self.wait_all_told(job.runs, "waiting for 1 of 4 nodes: 10.77.0.3")
        job.start("n3")
        job.wait_for(1)
        job.assert_ends(0)


class NcclTest(RestartCase):
    @classmethod
    def setUpClass(cls):
        cls.library = find_libnccl()
        super().setUpClass()

    def usual(self, host, ips=None):
        return [f"--ips={ips or self.ips}", "--assume_gpus", "--gpus=0,1", f"--nccl_lib={self.library}",
                f"--log_dir=log.{host}"]

    def test_every_round_has_an_id_of_its_own(self):
        jobs = [self.start_job("nccl", fails(5), NO_PAUSE), self.start_job("nccl-hub", fails(0), NO_PAUSE)]
        for job in jobs:
            job.begin()
        for job in jobs:
            job.wait_for(1)
        for job in jobs:
            job.assert_ends(0)
            found = []
            for number in range(2):
                ids = {job.environment(number, rank).get("PADDLE_LAUNCH_NCCL_ID") for rank in range(WORLD)}
                self.assertEqual(len(ids), 1, ids)
                self.assertRegex(next(iter(ids)) or "", "^[0-9a-f]{256}")
                found += ids
            self.assertEqual(len(set(found)), 2, found)


if __name__ == "__main__":
    unittest.main()