# SPDX-License-Identifier: Apache-2.0
"""Signals of schedulers and of users to jobs under srun and mpirun: trainers get each at least once, and the time to
save.

Slurm with proctrack/linuxproc, as here, sends a step's signals to the trainers as well as to their launchers: they may
get one twice. mpirun signals launchers alone, and kills them a second after SIGTERM."""

import signal
import unittest

from scheduled_case import DONE, MORTAL, ScheduledCase

from harness import wait_until

STOPPED = 128 + signal.SIGTERM
KILLED = 128 + signal.SIGKILL


class SlurmSignalsTest(ScheduledCase):
    def assert_stopped_and_saved(self, job):
        self.assert_ends(job, STOPPED)
        self.assert_saved(job)
        self.assert_told(job.run, "was stopped by SIGTERM")
        self.assertNotIn("ABORT", job.run.err)

    def test_a_warning_reaches_the_trainers_and_the_job_goes_on(self):
        # What srun --signal=USR2@60 does, without the minute.
        job = self.start_job("srun", 0.5, DONE)
        for name in ("USR2", "USR1"):
            self.scancel("--signal", name, job.step())
            job.wait_told(f"SIG{name}")
        self.assertTrue(job.run.running(), job.run.told())
        job.gate.open()
        self.assert_ends(job, 0)

    def test_a_cancelled_job_saves(self):
        job = self.start_job("srun", 2)
        self.scancel(self.slurm_job())
        self.assert_stopped_and_saved(job)

    def test_a_preempted_job_saves(self):
        job = self.start_job("srun", 2, per_host=1)
        step = job.step()
        for name in ("CONT", "TERM"):
            self.scancel("--signal", name, step)
        self.assert_stopped_and_saved(job)

    def test_a_second_sigterm_does_not_cut_the_grace(self):
        # At the time limit Slurm sends SIGTERM twice. It knows limits in minutes, which is too long for a test.
        job = self.start_job("srun", 2)
        step = job.step()
        for _ in range(2):
            self.scancel("--signal", "TERM", step)
        self.assert_stopped_and_saved(job)

    def test_a_cancelled_job_blames_no_trainer(self):
        for _ in range(3):
            job = self.start_job("srun", MORTAL)
            self.scancel(self.slurm_job())
            self.assert_ends(job, STOPPED)
            self.assert_told(job.run, "was stopped by SIGTERM")
            self.assertNotIn("ABORT", job.run.err, job.run.told())
            self.slurm.wait_idle()

    # Slurm 22.05 kills the whole step at once when srun gets SIGTERM or a second Ctrl-C: no launcher can give a grace.

    def test_ctrl_c_twice_at_srun_ends_all(self):
        job = self.start_job("srun", 1)
        job.run.send(signal.SIGINT)
        self.wait_told(job.run, "one more within 1 sec to abort")
        self.assertTrue(job.run.running(), job.run.told())

        def again():  # on a slow machine the second is over
            job.run.send(signal.SIGINT)
            return "sending Ctrl-C to" in job.run.err
        wait_until(again, job.run.told)
        self.assert_ends(job, KILLED)
        self.wait_none_left()

    def test_sigterm_at_srun_ends_all(self):
        job = self.start_job("srun", 1, per_host=1)
        job.run.send(signal.SIGTERM)
        self.assert_ends(job, KILLED)
        self.wait_none_left()


class MpirunSignalsTest(ScheduledCase):
    def test_a_stopped_mpirun_kills_launchers_and_their_guards_complete_the_grace(self):
        jobs = {number: self.start_job("openmpi", 4, per_host=per_host)
                for number, per_host in ((signal.SIGINT, 4), (signal.SIGTERM, 1))}
        for number, job in jobs.items():
            job.run.send(number)
        for number, job in jobs.items():
            self.assert_ends(job, 1)  # as mpirun always does then
            if self.mpi.version < 5:  # later ones may kill launchers before they can say a word
                self.assert_told(job.run, "was stopped by SIGTERM")
        for job in jobs.values():
            self.assert_saved(job)

    def test_user_signals_are_passed_on_and_the_job_goes_on(self):
        job = self.start_job("openmpi", 0.5, DONE)
        for number in (signal.SIGUSR1, signal.SIGUSR2):
            job.run.send(number)
            job.wait_told(number.name)
        self.assertTrue(job.run.running(), job.run.told())
        job.gate.open()
        self.assert_ends(job, 0)


if __name__ == "__main__":
    unittest.main()
