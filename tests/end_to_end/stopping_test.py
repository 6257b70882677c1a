# SPDX-License-Identifier: Apache-2.0
"""Signals to the launcher: one SIGTERM for each trainer, the grace, SIGKILL, and the status of an interrupted job."""

import os
import signal
import time
import unittest

from harness import (HOLD, MANY_SECONDS, SH, LauncherCase, alive, pending, python_trainer, state, status_field,
                     wait_until)

DEAF = "trap '' TERM; " + HOLD
RECORDER = python_trainer("recorder.py")
LATER = 0.7  # seconds, between two interrupts that count as two: at least 0.5


class StoppingTest(LauncherCase):
    def signals_of(self, who):
        path = self.dir / f"signals.{who}"
        return path.read_text().split() if path.exists() else []

    def wait_taken(self, run, number):
        wait_until(lambda: not pending(run.pid, number), f"the launcher to take signal {number}")

    def wait_told_to_stop(self, ranks):
        wait_until(lambda: all("TERM" in self.signals_of(rank) for rank in ranks), "SIGTERM at every trainer")

    def test_each_stopping_signal_ends_the_job_with_128_and_its_number(self):
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT):
            with self.subTest(signal=number.name):
                self.gate()
                run = self.start("--nproc_per_node=3", SH, "-c", HOLD)
                pids = self.wait_ready(3)
                run.send(number)
                run.wait()
                self.assert_status(run, 128 + number)
                self.assert_told(run, f"stopped by {number.name}")
                self.assertNotIn("ABORT", run.err)
                self.assert_gone(pids.values())
                for rank in range(3):
                    (self.dir / f"ready.{rank}").unlink()
                    last = self.log(rank).decode().splitlines()[-1]
                    self.assertTrue(last.startswith("==== paddle-launch"), last)
                    self.assertIn(number.name, last)

    def test_trainers_get_sigterm_once_and_time_to_save(self):
        self.gate()
        run = self.start("--nproc_per_node=3", "--grace=600", *RECORDER, "--save", "0.4")
        self.wait_ready(3)
        run.send(signal.SIGTERM)
        run.wait()
        self.assert_status(run, 143)
        for rank in range(3):
            self.assertEqual(self.signals_of(rank), ["TERM"])
            self.assertEqual(self.read(f"saved.{rank}"), "checkpoint")

    def test_sigint_reaches_trainers_as_sigterm(self):
        self.gate()
        run = self.start("--nproc_per_node=2", "--grace=600", *RECORDER, "--save", "0")
        self.wait_ready(2)
        run.send(signal.SIGINT)
        run.wait()
        self.assert_status(run, 130)
        self.assertEqual([self.signals_of(rank) for rank in range(2)], [["TERM"], ["TERM"]])

    def test_victims_of_a_failure_get_sigterm_once(self):
        self.gate()
        run = self.start("--nproc_per_node=4", "--grace=600", *RECORDER, "--save", "0.2")
        pids = self.wait_ready(4)
        os.kill(pids[1], signal.SIGKILL)
        run.wait()
        self.assert_status(run, 137)
        for rank in (0, 2, 3):
            self.assertEqual(self.signals_of(rank), ["TERM"])
            self.assertEqual(self.read(f"saved.{rank}"), "checkpoint")

    def test_a_trainer_that_ignores_sigterm_is_killed_after_the_grace(self):
        self.gate()
        run = self.start("--nproc_per_node=2", "--grace=1.5", SH, "-c", DEAF)
        pids = self.wait_ready(2)
        began = time.monotonic()
        run.send(signal.SIGTERM)
        run.wait(MANY_SECONDS)
        self.assertGreaterEqual(time.monotonic() - began, 1.4)
        self.assert_status(run, 143)
        self.assert_gone(pids.values())

    def test_after_a_failure_the_grace_is_honoured_as_well(self):
        self.gate()
        run = self.start("--nproc_per_node=3", "--grace=1", SH, "-c", DEAF)
        pids = self.wait_ready(3)
        began = time.monotonic()
        os.kill(pids[2], signal.SIGKILL)
        run.wait(MANY_SECONDS)
        self.assertGreaterEqual(time.monotonic() - began, 0.9)
        self.assert_status(run, 137)
        self.assert_gone(pids.values())

    def test_no_grace_is_waited_for_trainers_that_obey(self):
        self.gate()
        run = self.start("--nproc_per_node=3", "--grace=600", SH, "-c", HOLD)
        self.wait_ready(3)
        run.send(signal.SIGTERM)
        run.wait(MANY_SECONDS)
        self.assert_status(run, 143)

    def test_no_grace_at_all_kills_at_once(self):
        self.gate()
        run = self.start("--nproc_per_node=2", "--grace=0", SH, "-c", DEAF)
        pids = self.wait_ready(2)
        run.send(signal.SIGTERM)
        run.wait(MANY_SECONDS)
        self.assert_status(run, 143)
        self.assert_gone(pids.values())

    def test_a_second_interrupt_half_a_second_later_kills_at_once(self):
        for number in (signal.SIGINT, signal.SIGQUIT):
            with self.subTest(signal=number.name):
                self.gate()
                run = self.start("--nproc_per_node=2", "--grace=600", *RECORDER)
                pids = self.wait_ready(2)
                run.send(number)
                self.wait_told_to_stop(range(2))
                time.sleep(LATER)
                run.send(number)
                run.wait(MANY_SECONDS)
                self.assert_status(run, 128 + number)
                self.assert_gone(pids.values())
                for rank in range(2):
                    self.assertEqual(self.signals_of(rank), ["TERM"])
                    (self.dir / f"ready.{rank}").unlink()
                    (self.dir / f"signals.{rank}").unlink()

    def test_a_second_interrupt_after_a_failure_kills_at_once(self):
        self.gate()
        run = self.start("--nproc_per_node=3", "--grace=600", SH, "-c", DEAF)
        pids = self.wait_ready(3)
        os.kill(pids[1], signal.SIGKILL)
        wait_until(lambda: "rank 1 failed" in run.err, run.told)
        run.send(signal.SIGINT)
        self.wait_taken(run, signal.SIGINT)
        time.sleep(LATER)
        run.send(signal.SIGINT)
        run.wait(MANY_SECONDS)
        self.assert_status(run, 137)  # the first cause stays the verdict
        self.assert_gone(pids.values())

    def test_a_second_interrupt_within_half_a_second_changes_nothing(self):
        gate = self.gate()
        run = self.start("--nproc_per_node=2", "--grace=600", *RECORDER, "--code", "0")
        pids = self.wait_ready(2)
        # Both arrive at the same moment, whatever the machine's load.
        os.kill(run.pid, signal.SIGSTOP)
        wait_until(lambda: state(run.pid) == "T", "the launcher to stand still")
        run.send(signal.SIGINT)
        run.send(signal.SIGQUIT)
        os.kill(run.pid, signal.SIGCONT)
        self.wait_told_to_stop(range(2))
        self.wait_taken(run, signal.SIGINT)
        self.wait_taken(run, signal.SIGQUIT)
        self.assertTrue(all(map(alive, pids.values())))
        gate.open()
        run.wait()
        self.assertIn(run.status, (130, 131), run.told())
        self.assertEqual([self.signals_of(rank) for rank in range(2)], [["TERM"], ["TERM"]])

    def test_repeated_sigterm_and_sighup_change_nothing(self):
        gate = self.gate()
        run = self.start("--nproc_per_node=2", "--grace=600", *RECORDER)
        pids = self.wait_ready(2)
        run.send(signal.SIGTERM)
        self.wait_told_to_stop(range(2))
        time.sleep(LATER)
        for number in (signal.SIGTERM, signal.SIGHUP, signal.SIGTERM):
            run.send(number)
            self.wait_taken(run, number)
        self.assertTrue(run.running())
        self.assertTrue(all(map(alive, pids.values())))
        gate.open()
        run.wait()
        self.assert_status(run, 143)
        self.assertEqual([self.signals_of(rank) for rank in range(2)], [["TERM"], ["TERM"]])

    def test_one_interrupt_after_sigterm_does_not_kill(self):
        gate = self.gate()
        run = self.start("--nproc_per_node=2", "--grace=600", *RECORDER)
        pids = self.wait_ready(2)
        run.send(signal.SIGTERM)
        self.wait_told_to_stop(range(2))
        run.send(signal.SIGINT)
        self.wait_taken(run, signal.SIGINT)
        self.assertTrue(all(map(alive, pids.values())))
        gate.open()
        run.wait()
        self.assert_status(run, 143)

    def test_user_signals_go_to_the_trainers_and_to_them_only(self):
        gate = self.gate()
        run = self.start("--nproc_per_node=2", "--grace=30", *RECORDER, "--loader")
        self.wait_ready(2)
        for number, name in ((signal.SIGUSR1, "USR1"), (signal.SIGUSR2, "USR2")):
            run.send(number)
            wait_until(lambda: all(name in self.signals_of(rank) for rank in range(2)), f"{name} at both trainers")
        gate.open()
        run.wait()
        self.assert_status(run, 0)
        for rank in range(2):
            self.assertEqual(self.signals_of(rank), ["USR1", "USR2"])
            self.assertNotIn("USR1", self.signals_of(f"{rank}.loader"))
            self.assertNotIn("USR2", self.signals_of(f"{rank}.loader"))

    def test_a_data_loader_outlives_the_sigterm_to_its_trainer(self):
        self.gate()
        run = self.start("--nproc_per_node=2", "--grace=30", *RECORDER, "--loader")
        self.wait_ready(2)
        run.send(signal.SIGTERM)
        run.wait()
        self.assert_status(run, 143)
        for rank in range(2):
            self.assertEqual(self.read(f"loader.{rank}"), "alive")
            self.assertEqual(self.signals_of(rank), ["TERM"])

    def test_nohup_protects_launcher_and_trainers(self):
        gate = self.gate()
        run = self.start("--nproc_per_node=2", SH, "-c", HOLD + "echo survived",
                         preexec_fn=lambda: signal.signal(signal.SIGHUP, signal.SIG_IGN))
        pids = self.wait_ready(2)
        for pid in (run.pid, *pids.values()):
            ignored = int(status_field(pid, "SigIgn"), 16)
            self.assertTrue(ignored >> (signal.SIGHUP - 1) & 1, f"{pid} does not ignore SIGHUP")
            os.kill(pid, signal.SIGHUP)
        gate.open()
        run.wait()
        self.assert_status(run, 0)
        self.assertEqual(run.out, b"survived\n")

    def test_the_nohup_program_itself_protects_them(self):
        run = self.run_launcher("--nproc_per_node=1", SH, "-c", "kill -HUP $$; kill -HUP $PPID; echo survived",
                                prefix=["nohup"])
        self.assert_status(run, 0)
        self.assertEqual(run.out, b"survived\n")

    def test_ignored_sigint_stays_ignored(self):
        gate = self.gate()
        run = self.start("--nproc_per_node=1", SH, "-c", HOLD,
                         preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_IGN))
        self.wait_ready(1)
        run.send(signal.SIGINT)
        gate.open()
        run.wait()
        self.assert_status(run, 0)

    def test_a_stopped_trainer_does_not_outlive_the_grace(self):
        self.gate()
        run = self.start("--nproc_per_node=2", "--grace=0.5", SH, "-c", HOLD)
        pids = self.wait_ready(2)
        os.kill(pids[1], signal.SIGSTOP)
        run.send(signal.SIGTERM)
        run.wait(MANY_SECONDS)
        self.assert_status(run, 143)
        self.assert_gone(pids.values())

    def test_a_guard_that_stands_still_while_it_stops_the_others_does_not_hold_up_sigterm(self):
        self.gate()
        run = self.start("--nproc_per_node=2", "--grace=6", *RECORDER)
        pids = self.wait_ready(2)
        guard = run.guard()
        run.send(signal.SIGTERM)
        self.wait_told_to_stop(range(2))
        os.kill(guard, signal.SIGSTOP)
        wait_until(lambda: state(guard) == "T", "the guard to stand still")
        run.send(signal.SIGTERM)
        run.wait(MANY_SECONDS)
        self.assert_status(run, 143)
        self.assert_gone([guard, *pids.values()])

    def test_signals_blocked_at_the_start_do_not_make_the_launcher_deaf(self):
        self.gate()
        blocked = {signal.SIGTERM, signal.SIGINT, signal.SIGCHLD}
        run = self.start("--nproc_per_node=1", "--grace=0.5", SH, "-c", HOLD,
                         preexec_fn=lambda: signal.pthread_sigmask(signal.SIG_BLOCK, blocked))
        self.wait_ready(1)
        run.send(signal.SIGTERM)
        run.wait(MANY_SECONDS)
        self.assert_status(run, 143)

    def test_sigterm_before_the_trainers_are_up_ends_the_launcher(self):
        for delay in (0.0, 0.002, 0.004, 0.008, 0.016, 0.032):
            with self.subTest(delay=delay):
                run = self.start("--nproc_per_node=16", f"--log_dir=log.{delay}", "/bin/sleep", "1000")
                time.sleep(delay)
                run.send(signal.SIGTERM)
                run.wait()
                # Before main() has its handlers, SIGTERM ends the launcher like any other program.
                self.assertIn(run.status, (143, -signal.SIGTERM), run.told())


if __name__ == "__main__":
    unittest.main()
