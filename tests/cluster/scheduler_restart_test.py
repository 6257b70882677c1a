# SPDX-License-Identifier: Apache-2.0
"""Jobs under srun, mpirun and mpiexec.hydra that are started again inside their step: those who started the launchers
notice nothing, and one launcher speaks for all."""

import os
import signal
import unittest

from restart_case import ARRIVE, LONG_PAUSE, NO_PAUSE, Rounds, fails
from scheduled_case import PER_NODE, WORLD, ScheduledCase

from harness import SH, launcher_of
from rounds_table import only_table

FAILING = 9  # a rank of n3
CAUSE = f"rank {FAILING} on 10.77.0.3 failed: exit code 7"
NO_PLACE = "not started again: nobody could take the place of the lost node"
# Starter, its options, launchers on a host.
STARTERS = (("srun", (), 1), ("srun", (), PER_NODE), ("srun", ("--mpi=none",), PER_NODE), ("openmpi", (), PER_NODE),
            ("hydra", (), 1))


class Step(Rounds):
    """A job under one of them."""

    def __init__(self, case, folder, start):
        super().__init__(case, folder, WORLD)
        self.run = start()
        self.pids = {}

    def wait_for(self, number):
        self.pids = self.wait_round(number, self.run.running, self.run.told)

    def begin(self):
        self.wait_for(0)
        self.go()

    def launcher(self, rank):
        """The pid of the rank's launcher."""
        return launcher_of(self.pids[rank])

    def assert_ends(self, *status):
        self.run.wait()
        self.case.assertIn(self.run.status, status, self.run.told())

    def assert_once(self, *texts):
        for text in texts:
            self.case.assertEqual(self.run.err.count(text), 1, f"{text!r} in\n{self.run.told()}")

    def assert_table(self, *causes):
        self.case.assertEqual(only_table(self.case, self.run),
                              [(number, number, 4, WORLD, cause) for number, cause in enumerate(causes)])


class SchedulerRestartTest(ScheduledCase):
    def start_step(self, starter, then, *options, words=(), per_host=PER_NODE):
        """In a folder of its own; --max_restart is 1."""
        program, *rest = self.starter_words(starter, per_host)
        command = [f"--nproc_per_node={PER_NODE}", "--max_restart=1", *options, SH, "-c", ARRIVE + then]
        folder = self.base / f"job{len(self.launches)}"
        return Step(self, folder, lambda: self.start_under([program, *words, *rest], *command, cwd=folder))

    def start_everywhere(self, then, *options):
        """Under all starters at once, past the first gate; {what started it: Step}."""
        steps = {}
        for starter, words, per_host in STARTERS:
            name = " ".join((starter, *words, str(per_host)))
            steps[name] = self.start_step(starter, then, *options, words=words, per_host=per_host)
        for step in steps.values():
            step.begin()
        return steps

    def test_a_trainer_that_fails_once_starts_all_again(self):
        for name, step in self.start_everywhere(fails(FAILING), "--restart_pause=0.5").items():
            with self.subTest(starter=name):
                step.wait_for(1)
                step.assert_ends(0)
                step.assert_once(f"round 0 failed: {CAUSE}; starting again in 0.5 s (restart 1 of 1)",
                                 "round 1 begins: ", "Local processes completed.", "ABORT!!!")
                step.assert_table(CAUSE, "completed")
                self.assertEqual(step.assert_world(0) & step.assert_world(1), set())

    def test_used_up_restarts_end_with_the_trainers_code(self):
        for name, step in self.start_everywhere(fails(FAILING, before=9), NO_PAUSE).items():
            with self.subTest(starter=name):
                step.assert_ends(7)
                self.assertEqual(step.rounds(), [0, 1])
                step.assert_once("not started again: no restart is left (--max_restart=1)")
                step.assert_table(CAUSE, CAUSE)
        self.wait_none_left()

    def test_a_launcher_that_is_killed_ends_the_job(self):
        # In either round: nobody starts it again. What srun and mpirun say of it holds without restarts as well.
        text = fails(FAILING) + "exec sleep 1000"
        steps = {(starter, rank): self.start_step(starter, text, NO_PAUSE) for starter in ("srun", "openmpi")
                 for rank in (0, 5)}
        for step in steps.values():
            step.begin()
        for (starter, rank), step in steps.items():
            with self.subTest(starter=starter, rank=rank):
                step.wait_for(1)
                os.kill(step.launcher(rank), signal.SIGKILL)
                # mpirun may hear first of a launcher on another host that noticed, and ended with 75.
                step.assert_ends(128 + signal.SIGKILL, *([75] if starter == "openmpi" else []))
                self.assertEqual(step.rounds(), [0, 1])
                if starter == "srun" and rank != 0:  # mpirun kills the others too, at a moment of its own
                    step.assert_once("its launcher ended without a word; stopping", "Rounds of this job")
        self.wait_none_left()

    def test_a_launcher_that_is_killed_in_the_first_round_leaves_restarts_unused(self):
        step = self.start_step("srun", "exec sleep 1000", NO_PAUSE)
        step.begin()
        os.kill(step.launcher(5), signal.SIGKILL)
        step.assert_ends(128 + signal.SIGKILL)
        step.assert_once(NO_PLACE)
        self.assertEqual(step.rounds(), [0])
        self.wait_none_left()

    def start_pausing(self, *starters):
        steps = [self.start_step(starter, fails(FAILING), LONG_PAUSE) for starter in starters]
        for step in steps:
            step.wait_for(0)
        launchers = [{rank: step.launcher(rank) for rank in range(WORLD)} for step in steps]
        for step in steps:
            step.go()
            self.wait_told(step.run, "starting again in 10 min 0 s (restart 1 of 1)")
        return list(zip(steps, launchers))

    def test_a_launcher_that_is_killed_between_two_rounds_ends_the_job(self):
        cases = (("srun", 0), ("srun", 5), ("openmpi", 0), ("openmpi", 5))
        steps = self.start_pausing(*(starter for starter, _ in cases))
        for (_, rank), (_, launchers) in zip(cases, steps):
            os.kill(launchers[rank], signal.SIGKILL)
        for (starter, rank), (step, _) in zip(cases, steps):
            with self.subTest(starter=starter, rank=rank):
                step.run.wait(20)
                # mpirun's is the status of whoever it hears of first: the killed one, or those who lost it.
                expected = (128 + signal.SIGKILL, *([75] if starter == "openmpi" else []))
                self.assertIn(step.run.status, expected, step.run.told())
                self.assertEqual(step.rounds(), [0])
        self.wait_none_left()

    def test_a_job_that_is_cancelled_between_two_rounds_ends(self):
        (step, _), = self.start_pausing("srun")
        self.scancel(self.slurm_job())
        step.run.wait(20)
        self.assertEqual(step.run.status, 128 + signal.SIGTERM, step.run.told())
        self.assertEqual(step.rounds(), [0])
        self.wait_none_left()

    def test_a_stopped_mpirun_ends_between_two_rounds(self):
        (step, _), = self.start_pausing("openmpi")
        step.run.send(signal.SIGTERM)
        step.run.wait(20)
        self.assertNotEqual(step.run.status, 0)
        self.assertEqual(step.rounds(), [0])
        self.wait_none_left()

    def test_a_cancelled_job_is_not_started_again(self):
        # Slurm sends SIGTERM to the trainers as well, which die of it; that is no failure.
        for per_host in (1, PER_NODE, PER_NODE):
            step = self.start_step("srun", "exec sleep 1000", NO_PAUSE, per_host=per_host)
            step.begin()
            self.scancel(self.slurm_job())
            step.assert_ends(128 + signal.SIGTERM)
            self.assertEqual(step.rounds(), [0])
            self.assertNotIn("starting again", step.run.err)
            self.slurm.wait_idle()
        self.wait_none_left()


if __name__ == "__main__":
    unittest.main()
