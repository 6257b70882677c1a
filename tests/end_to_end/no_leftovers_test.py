# SPDX-License-Identifier: Apache-2.0
"""Nothing is ever left running, whoever dies and however a child tries to get away."""

import contextlib
import os
import signal
import time
import unittest

from harness import (DEADLINE, HOLD, SH, LauncherCase, alive, belonging_to, compile_trainer, describe, python_trainer,
                     state, wait_until)

RECORDER = python_trainer("recorder.py")
ESCAPE = python_trainer("escape.py")


class NoLeftoversTest(LauncherCase):
    def wait_escaped(self, ranks):
        pids = []
        for rank in range(ranks):
            pids += map(int, self.wait_file(f"escaped.{rank}").split())
        return pids

    def test_a_killed_launcher_leaves_the_grace_to_its_trainers(self):
        self.gate()
        run = self.start("--nproc_per_node=3", "--grace=600", *RECORDER, "--save", "0.5")
        pids = self.wait_ready(3)
        run.send(signal.SIGKILL)
        run.wait()
        self.assert_gone(pids.values())
        for rank in range(3):
            self.assertEqual(self.read(f"signals.{rank}").split(), ["TERM"])
            self.assertEqual(self.read(f"saved.{rank}"), "checkpoint")
        self.assert_nothing_left()

    def test_a_killed_launchers_deaf_trainers_are_killed_after_the_grace(self):
        self.gate()
        run = self.start("--nproc_per_node=3", "--grace=1", SH, "-c", "trap '' TERM; " + HOLD)
        pids = self.wait_ready(3)
        began = time.monotonic()
        run.send(signal.SIGKILL)
        run.wait()
        self.assert_gone(pids.values())
        self.assertGreaterEqual(time.monotonic() - began, 0.9)
        self.assert_nothing_left()

    def test_a_launcher_killed_while_it_stops_its_trainers_leaves_nothing(self):
        self.gate()
        run = self.start("--nproc_per_node=3", "--grace=1", *RECORDER)
        pids = self.wait_ready(3)
        run.send(signal.SIGTERM)
        wait_until(lambda: all((self.dir / f"signals.{rank}").read_text() for rank in range(3)), "SIGTERM at all")
        run.send(signal.SIGKILL)
        run.wait()
        self.assert_gone(pids.values())
        for rank in range(3):
            self.assertEqual(self.read(f"signals.{rank}").split(), ["TERM"])
        self.assert_nothing_left()

    def test_a_killed_guard_ends_everything_with_1(self):
        self.gate()
        run = self.start("--nproc_per_node=3", "--grace=1", SH, "-c", HOLD)
        pids = self.wait_ready(3)
        os.kill(run.guard(), signal.SIGKILL)
        run.wait()
        self.assert_status(run, 1)
        self.assert_told(run, "guard")
        self.assert_gone(pids.values())
        self.assert_nothing_left()

    def test_a_killed_guards_escaped_children_are_found(self):
        run = self.start("--nproc_per_node=2", "--grace=1", *ESCAPE, "stay")
        pids = self.wait_escaped(2)
        os.kill(run.guard(), signal.SIGKILL)
        run.wait()
        self.assert_status(run, 1)
        self.assert_gone(pids)
        self.assert_nothing_left()

    def test_launcher_and_guard_killed_at_once_leave_no_trainer(self):
        self.gate()
        run = self.start("--nproc_per_node=3", SH, "-c", HOLD)
        pids = self.wait_ready(3)
        guard = run.guard()
        for pid in (run.pid, guard):
            os.kill(pid, signal.SIGSTOP)
            wait_until(lambda: state(pid) == "T", "both to stand still")
        os.kill(run.pid, signal.SIGKILL)
        os.kill(guard, signal.SIGKILL)
        run.wait()
        self.assert_gone(pids.values())
        self.assert_nothing_left()

    def test_a_killed_console_does_not_stop_the_job(self):
        gate = self.gate()
        run = self.start("--nproc_per_node=2", SH, "-c", HOLD + "exit 0")
        self.wait_ready(2)
        os.kill(run.part("pl-console"), signal.SIGKILL)
        gate.open()
        run.wait()
        self.assert_status(run, 0)

    def test_children_that_try_to_get_away_are_gone_when_the_job_is_stopped(self):
        run = self.start("--nproc_per_node=2", "--grace=0.5", *ESCAPE, "stay")
        pids = self.wait_escaped(2)
        self.assertTrue(all(map(alive, pids)), describe(pids))
        run.send(signal.SIGTERM)
        run.wait()
        self.assert_status(run, 143)
        self.assert_gone(pids, 10)
        self.assert_nothing_left()

    def test_children_that_try_to_get_away_are_gone_when_the_launcher_is_killed(self):
        run = self.start("--nproc_per_node=2", "--grace=0.5", *ESCAPE, "stay")
        pids = self.wait_escaped(2)
        run.send(signal.SIGKILL)
        run.wait()
        self.assert_gone(pids)
        self.assert_nothing_left()

    def test_children_that_try_to_get_away_are_gone_when_a_trainer_fails(self):
        run = self.start("--nproc_per_node=2", "--grace=0.5", *ESCAPE, "exit", "7")
        run.wait()
        pids = [int(pid) for rank in range(2) if (self.dir / f"escaped.{rank}").exists()
                for pid in self.read(f"escaped.{rank}").split()]
        self.assertTrue(pids)
        self.assert_status(run, 7)
        self.assert_gone(pids, 10)
        self.assert_nothing_left()

    def test_background_children_of_trainers_that_ended_with_0_are_stopped(self):
        text = ("sleep 1000 & echo $! >>kids; setsid sleep 1000 & echo $! >>kids; "
                "(setsid sleep 1000 & echo $! >>kids); exit 0")
        run = self.run_launcher("--nproc_per_node=2", "--grace=1", SH, "-c", text)
        self.assert_status(run, 0)
        kids = [int(pid) for pid in self.read("kids").split()]
        self.assertEqual(len(kids), 6)
        self.assert_gone(kids, 10)
        self.assert_nothing_left()

    def test_escaped_children_of_trainers_that_ended_with_0_are_stopped(self):
        run = self.run_launcher("--nproc_per_node=2", "--grace=0.5", *ESCAPE, "exit", "0")
        self.assert_status(run, 0)
        self.assert_gone(self.wait_escaped(2), 10)
        self.assert_nothing_left()

    def calm(self):
        """After a storm: nobody left, and nobody still counting."""
        self.assert_nothing_left(30)
        beat = self.dir / "beat"
        size = beat.stat().st_size
        time.sleep(0.3)  # a chain that lives on writes many times in this while
        self.assertEqual(beat.stat().st_size, size)
        self.assertEqual(belonging_to(self.base), [])

    def storming(self, *args):
        return self.start("--nproc_per_node=2", "--grace=1", compile_trainer(self, "storm.c"), "2", "40", *args)

    def wait_for_storm(self, run):
        beat = self.dir / "beat"
        wait_until(lambda: beat.exists() and beat.stat().st_size > 20, run.told)

    def test_a_fork_storm_is_over_when_the_job_is_stopped(self):
        run = self.storming()
        self.wait_for_storm(run)
        run.send(signal.SIGTERM)
        run.wait()
        self.assert_status(run, 143)
        self.calm()

    def test_a_fork_storm_is_over_when_the_launcher_is_killed(self):
        run = self.storming()
        self.wait_for_storm(run)
        run.send(signal.SIGKILL)
        run.wait()
        self.calm()

    def test_a_fork_storm_left_by_trainers_that_ended_with_0_is_over(self):
        run = self.storming("0")
        run.wait()
        self.assert_status(run, 0)
        self.calm()

    def start_64_until(self, logs):
        """Starts 64 trainers and returns in the middle of it, when so many worker logs are there."""
        log_dir = self.dir / f"log.{logs}"
        run = self.start("--nproc_per_node=64", "--grace=1", f"--log_dir={log_dir}", "/bin/sleep", "1000")
        end = time.monotonic() + DEADLINE
        while logs > 0 and time.monotonic() < end:
            with contextlib.suppress(FileNotFoundError):
                if sum(name.startswith("workerlog") for name in os.listdir(log_dir)) >= logs:
                    break
        return run

    def assert_nothing_left_here(self):
        try:
            self.assert_nothing_left()
        finally:
            self.clear_up()

    def test_a_launcher_killed_while_it_starts_64_trainers_leaves_nothing(self):
        for logs in (0, 1, 4, 16, 32, 48, 60, 64):
            with self.subTest(logs=logs):
                run = self.start_64_until(logs)
                run.send(signal.SIGKILL)
                run.wait()
                self.assert_nothing_left_here()

    def test_a_guard_killed_while_it_starts_64_trainers_leaves_nothing(self):
        for logs in (1, 32, 64):
            with self.subTest(logs=logs):
                run = self.start_64_until(logs)
                os.kill(run.guard(), signal.SIGKILL)
                run.wait()
                self.assert_status(run, 1)
                self.assert_nothing_left_here()

    def test_a_launcher_told_to_stop_while_it_starts_64_trainers_leaves_nothing(self):
        for logs in (1, 32, 64):
            with self.subTest(logs=logs):
                run = self.start_64_until(logs)
                run.send(signal.SIGTERM)
                run.wait()
                self.assert_status(run, 143)
                self.assert_nothing_left_here()


if __name__ == "__main__":
    unittest.main()
