# SPDX-License-Identifier: Apache-2.0
"""Jobs on nodes where Slurm keeps tasks in cgroups (version 2): proctrack/cgroup, task/cgroup, ConstrainDevices.

Slurm then signals launchers alone, and kills what is left in a step's cgroup as soon as its task is gone."""

import os
import signal
import unittest

from scheduled_case import ALL, DONE, PER_NODE, ScheduledCase
from slurm_cluster import DEVICES, ONLY_V2

from harness import SH, wait_until

STOPPED = 128 + signal.SIGTERM
KILLED = 128 + signal.SIGKILL
# Which cards can be opened: those that Slurm took away are refused, and behind the others is no driver.
OPEN = f"""for card in 0 1 2 3; do
  (exec 3<{DEVICES}/nvidia$card) 2>&1 | grep -q "No such device" && echo $card
done >open.$PADDLE_TRAINER_ID; true"""


def setUpModule():
    if not ONLY_V2:
        raise unittest.SkipTest("Slurm has no cgroups here (tests/sites/run trixie-cgroup)")


class CgroupTest(ScheduledCase):
    def saved(self, job):
        return [rank for rank in ALL if "saved" in job.told(rank)]

    def test_launchers_alone_get_signals_and_pass_them_on_once(self):
        job = self.start_job("srun", 0.5, DONE)
        self.scancel("--signal", "USR2", job.step())
        job.wait_told("SIGUSR2")
        job.gate.open()
        self.assert_ends(job, 0)
        for rank in ALL:
            self.assertEqual(job.told(rank), ["SIGUSR2"])

    def test_a_cancelled_job_saves_within_kill_wait(self):
        for per_host in (1, PER_NODE):
            with self.subTest(per_host=per_host):
                job = self.start_job("srun", 3, per_host=per_host)
                self.scancel(self.slurm_job())
                self.assert_ends(job, STOPPED)
                self.assert_saved(job)

    def test_kill_wait_ends_a_longer_grace(self):
        job = self.start_job("srun", 30, per_host=1)
        self.scancel(self.slurm_job())
        self.assert_ends(job, KILLED)
        self.wait_none_left()
        self.assertEqual(self.saved(job), [])

    def test_a_signal_to_the_step_gives_the_whole_grace(self):
        job = self.start_job("srun", 8, per_host=1)  # KillWait is 5, --grace 10
        self.scancel("--signal", "TERM", job.step())
        self.assert_ends(job, STOPPED)
        self.assert_saved(job)

    def test_the_trainers_of_a_killed_launcher_are_killed_and_those_of_others_save(self):
        job = self.start_job("srun", 2, per_host=1)
        os.kill(job.launcher(5), signal.SIGKILL)
        self.assert_ends(job, KILLED)
        self.wait_none_left()
        self.assertEqual(self.saved(job), [rank for rank in ALL if rank // PER_NODE != 1])

    def test_nothing_outlives_a_trainer_that_fails(self):
        job = self.start_job("srun", 1, {9: 7})
        job.gate.open()
        self.assert_ends(job, 7)
        self.assert_saved(job, [rank for rank in ALL if rank != 9])

    def test_ctrl_c_twice_kills_at_once(self):
        job = self.start_job("srun", 2, per_host=1)
        job.run.send(signal.SIGINT)
        self.wait_told(job.run, "one more within 1 sec to abort")

        def again():  # on a slow machine the second is over
            job.run.send(signal.SIGINT)
            return "sending Ctrl-C to" in job.run.err
        wait_until(again, job.run.told)
        self.assert_ends(job, KILLED)
        self.wait_none_left()
        self.assertEqual(self.saved(job), [])

    def cards(self, *options):
        """That trainers could open, by rank."""
        run = self.start_under(["srun", "-N4", "--ntasks-per-node=4", *options], "--assume_gpus", SH, "-c", OPEN)
        run.wait()
        self.assertEqual(run.status, 0, run.told())
        return [self.read(f"open.{rank}").split() for rank in ALL]

    def test_a_task_with_cards_of_its_own_opens_no_other(self):
        self.assertEqual(self.cards("--gpus-per-task=1"), [["0"], ["1"], ["2"], ["3"]] * 4)

    def test_tasks_of_a_node_share_its_cards(self):
        self.assertEqual(self.cards("--gpus-per-node=4"), [["0", "1", "2", "3"]] * 16)


if __name__ == "__main__":
    unittest.main()
