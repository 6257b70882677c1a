# SPDX-License-Identifier: Apache-2.0
"""How a job under srun, mpirun and mpiexec.hydra ends by itself, or when a trainer or a launcher ends it: everywhere,
with one verdict and its exit code, and with the grace that mpirun by itself does not give."""

import json
import os
import re
import signal
import unittest

from scheduled_case import ALL, DONE, PER_NODE, TRAINER, WORLD, ScheduledCase

from harness import ABORT, binary, wait_until

STARTERS = (("srun", PER_NODE), ("openmpi", PER_NODE), ("hydra", 1))
FAILING = 9  # a rank of n3
OTHERS = [rank for rank in ALL if rank != FAILING]


def restarts(count):
    """The row of the environment table."""
    return re.compile(rf"(?m)^SLURM_RESTART_COUNT +{count}$")


class SchedulerEndingTest(ScheduledCase):
    def abort_lines(self, job):
        return re.findall(r".*ABORT!!!.*", job.run.err)

    def test_a_trainers_exit_code_is_the_jobs(self):
        for starter, per_host in STARTERS:
            with self.subTest(starter=starter):
                job = self.start_job(starter, 0.5, {FAILING: 7}, per_host=per_host)
                job.gate.open()
                self.assert_ends(job, 7)
                self.assertEqual(self.abort_lines(job), [ABORT.format(WORLD, FAILING)], job.run.told())
                rows = (rf"rank +{FAILING} .*", r"node +n3 \(10\.77\.0\.3\)", rf"pid +{job.pids[FAILING]}",
                        "what +exit code 7", "stopped +because of it: rank 0-8,10-15")
                self.assert_told(job.run, *(re.compile(f"(?m)^  {row}$") for row in rows),
                                 re.compile("(?m)^the last words$"))
                self.assert_saved(job, OTHERS)

    def test_a_trainers_signal_is_the_jobs(self):
        for starter, number in (("srun", signal.SIGKILL), ("openmpi", signal.SIGSEGV), ("hydra", signal.SIGKILL)):
            with self.subTest(starter=starter):
                job = self.start_job(starter, per_host=1)
                os.kill(job.pids[FAILING], number)
                self.assert_ends(job, 128 + number)
                self.assertEqual(self.abort_lines(job), [ABORT.format(WORLD, FAILING)], job.run.told())
                self.assert_told(job.run, f"rank {FAILING} on 10.77.0.3 failed: killed by {number.name}")
                self.assert_saved(job, OTHERS)

    def test_a_killed_launcher_ends_the_job_everywhere(self):
        # Without --kill-on-bad-exit srun lets the others run. Its own trainers are stopped by their guard.
        for starter, rank in (("srun", 5), ("srun", 0), ("openmpi", 5), ("openmpi", 0)):
            with self.subTest(starter=starter, rank=rank):
                job = self.start_job(starter, 1)
                os.kill(job.launcher(rank), signal.SIGKILL)
                self.assert_ends(job, 128 + signal.SIGKILL)
                self.assert_saved(job)
                if starter == "srun":  # mpirun kills the others too, at a moment of its own
                    self.assert_lost_launcher_told(job, rank)

    def assert_lost_launcher_told(self, job, rank):
        """Once; but where the first is lost, who speaks for all, one of each node speaks."""
        lines = self.abort_lines(job)
        self.assertEqual(lines, [ABORT.format(WORLD, rank)] * (1 if rank else 4), job.run.told())
        who = rf"node 10\.77\.0\.{1 + rank // PER_NODE} \(launcher of rank {rank}\)"
        self.assert_told(job.run, re.compile(f"{who}.* was lost: its launcher ended without a word"))

    def test_ranks_that_finish_early_do_no_harm(self):
        early = range(2 * PER_NODE)
        orders = {rank: 0 if rank in early else "late" for rank in ALL}
        jobs = {starter: self.start_job(starter, 0.5, orders, per_host=per_host, env={"SLURM_RESTART_COUNT": "3"})
                for starter, per_host in STARTERS}
        for job in jobs.values():
            job.gate.open()
        for starter, job in jobs.items():
            with self.subTest(starter=starter):
                self.assert_gone(job.pids[rank] for rank in early)
                self.wait_told(job.run, "the processes of this node have ended; waiting for the other nodes to end")
                (job.folder / "late").touch()
                self.assert_ends(job, 0)
                self.assert_told(job.run, "Local processes completed.")
                self.assertEqual(self.abort_lines(job), [])
        self.assert_told(jobs["srun"].run, restarts(3))

    def test_a_requeued_job_saves_and_runs_again(self):
        self.write("train.py", TRAINER)
        gate = self.gate()
        words = " ".join(f"'{word}'" for word in ("srun", binary(), *self.launcher_words(1, DONE)))
        self.write("job.sh", f"#!/bin/sh\nexec {words}\n", 0o755)
        self.run_slurm(["sbatch", "-N4", "--ntasks-per-node=1", "--requeue", "--open-mode=append", "-o", "out",
                        "job.sh"], check=True)
        ready = [self.dir / f"ready.{rank}" for rank in ALL]

        def told():
            return self.read("out") if (self.dir / "out").exists() else "nothing"

        def waits_for_its_time():
            return self.slurm.run(["squeue", "-h", "-o", "%T %r"], check=True).stdout == "PENDING BeginTime\n"
        wait_until(lambda: all(path.exists() for path in ready), told)
        for path in ready:
            path.unlink()
        number = self.slurm_job()
        self.slurm.run(["scontrol", "requeue", number], check=True)
        wait_until(waits_for_its_time, told)  # for two minutes
        self.assertNotRegex(told(), restarts(1))
        self.slurm.run(["scontrol", "update", f"JobId={number}", "StartTime=now"], check=True)
        wait_until(lambda: all(path.exists() for path in ready), told)
        gate.open()
        self.slurm.wait_idle()
        for rank in ALL:
            self.assertIn("saved", self.read(f"told.{rank}").split())
        self.assertRegex(told(), restarts(1))
        self.assertEqual(told().count("Local processes completed."), 1)


class SchedulerReportTest(ScheduledCase):
    """--report, of which all launchers of a job are given the same name."""

    def launcher_words(self, seconds, orders):
        return [f"--report={self.report}", *super().launcher_words(seconds, orders)]

    def test_the_launcher_that_speaks_writes_the_report_alone(self):
        self.report = "/tmp/end.json"  # of each host's own
        for starter in ("openmpi", "srun"):
            with self.subTest(starter=starter):
                files = {host: self.hosts.path(host, self.report) for host in self.names}
                self.addCleanup(lambda files=files: [file.unlink(missing_ok=True) for file in files.values()])
                job = self.start_job(starter, 0, {FAILING: 7})
                job.gate.open()
                self.assert_ends(job, 7)
                self.assert_saved(job, OTHERS)
                self.assertEqual([host for host, file in files.items() if file.exists()], ["n1"])
                files["n1"].unlink()

    def test_a_shared_report_is_whole(self):
        self.report = "end.json"
        job = self.start_job("openmpi", 0, {FAILING: 7})
        job.gate.open()
        self.assert_ends(job, 7)
        self.assert_saved(job, OTHERS)
        report = json.loads((job.folder / self.report).read_text())
        self.assertEqual((report["status"], report["kind"], report["first"]["rank"]), (7, "worker_failed", FAILING))
        self.assertEqual(sorted(one["rank"] for one in report["stopped"]), OTHERS)


if __name__ == "__main__":
    unittest.main()
