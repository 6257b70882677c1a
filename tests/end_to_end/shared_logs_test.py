# SPDX-License-Identifier: Apache-2.0
"""Two jobs in one log directory: the second is refused, or waits for one that only stops."""

import os
import re
import shutil
import signal
import subprocess
import unittest

from harness import HOLD, MANY_SECONDS, READY, SH, TRAINERS, LauncherCase, alive, comm, kill_quietly, wait_until

# Takes its time when it is told to stop: until somebody makes this file.
SLOW_STOP = ("trap 'while [ ! -e enough ]; do sleep 0.02; done; exit 0' TERM; " + READY +
             "while :; do sleep 0.02; done")


class SharedLogsTest(LauncherCase):
    def second(self, *options):
        return self.start(*options, SH, "-c", "echo second; : >second.$PADDLE_TRAINER_ID")

    def slow_job(self, *options):
        """A running job that is slow to stop, and its guard."""
        self.gate()
        run = self.start("--nproc_per_node=2", *options, SH, "-c", SLOW_STOP)
        self.wait_ready(2)
        return run, run.guard()

    def test_the_second_is_refused_and_told_who_is_there(self):
        gate = self.gate()
        first = self.start("--nproc_per_node=2", SH, "-c", "echo first; " + HOLD + "echo done")
        self.wait_ready(2)
        before = self.log(0), self.log(1)
        for options in (["--nproc_per_node=1"], ["--nproc_per_node=1", "--log_overwrite=1"], ["--nproc_per_node=3"]):
            with self.subTest(options=options):
                run = self.second(*options)
                run.wait(MANY_SECONDS)
                self.assert_status(run, 2)
                self.assertTrue(run.err.startswith("paddle-launch: error: "), run.told())
                self.assert_told(run, str(self.dir / "log/workerlog.0"), f"pid {first.pid} ", "--nproc_per_node=2",
                                 re.compile(r"since \d{4}-\d\d-\d\d \d\d:\d\d:\d\d"), "--log_dir=")
                self.assertEqual((self.log(0), self.log(1)), before)
        self.assertFalse((self.dir / "second.0").exists())
        gate.open()
        first.wait()
        self.assert_status(first, 0)
        self.assertEqual(first.out, b"first\ndone\n")

    def test_one_log_in_common_is_enough_and_another_directory_helps(self):
        gate = self.gate()
        self.start("--nproc_per_node=1", SH, "-c", HOLD)
        self.wait_ready(1)
        run = self.second("--nproc_per_node=2")
        run.wait(MANY_SECONDS)
        self.assert_status(run, 2)
        run = self.second("--nproc_per_node=2", "--log_dir=other")
        run.wait(MANY_SECONDS)
        self.assert_status(run, 0)
        gate.open()
        self.launches[0].wait()

    def test_the_guard_of_a_killed_launcher_is_waited_for(self):
        first, guard = self.slow_job("--grace=40")
        first.send(signal.SIGKILL)
        first.wait()
        run = self.second("--nproc_per_node=2")
        self.wait_told(run, "workerlog.0")
        self.assert_told(run, f"pid {guard} ")
        self.assertFalse((self.dir / "second.0").exists())
        self.assertTrue(alive(guard))
        self.write("enough", "")
        run.wait(MANY_SECONDS)
        self.assert_status(run, 0)
        self.assertEqual(run.out, b"second\n")

    def test_a_job_that_stops_is_waited_for(self):
        first, guard = self.slow_job("--grace=40")
        first.send(signal.SIGTERM)
        wait_until(lambda: comm(guard) == "pl-guard-stops", "the guard stops its trainers")
        run = self.second("--nproc_per_node=2")
        self.wait_told(run, f"pid {first.pid} ")
        self.write("enough", "")
        run.wait(MANY_SECONDS)
        self.assert_status(run, 0)
        first.wait()

    def test_a_job_whose_guard_does_not_know_yet_that_it_stops_is_waited_for(self):
        first, guard = self.slow_job("--grace=40")
        os.kill(guard, signal.SIGSTOP)
        first.send(signal.SIGTERM)
        self.wait_told(first, "SIGTERM")
        run = self.second("--nproc_per_node=2")
        run.guard()
        os.kill(guard, signal.SIGCONT)
        self.wait_told(run, f"pid {first.pid} ")
        self.write("enough", "")
        run.wait(MANY_SECONDS)
        self.assert_status(run, 0)
        first.wait()

    def test_who_waits_obeys_an_interrupt(self):
        first, guard = self.slow_job("--grace=1000")
        first.send(signal.SIGKILL)
        first.wait()
        run = self.second("--nproc_per_node=2")
        self.wait_told(run, f"pid {guard} ")
        run.send(signal.SIGINT)
        run.wait(MANY_SECONDS)
        self.assert_status(run, 130)
        self.assertFalse((self.dir / "second.0").exists())
        kill_quietly(guard)

    def test_who_does_not_let_go_in_time_is_named(self):
        first, guard = self.slow_job("--grace=1")
        os.kill(guard, signal.SIGSTOP)
        first.send(signal.SIGKILL)
        first.wait()
        run = self.second("--nproc_per_node=2")
        run.wait(MANY_SECONDS)
        self.assert_status(run, 2)
        self.assert_told(run, f"pid {guard} ", "--log_dir=")
        kill_quietly(guard)

    def test_the_rounds_of_a_job_do_not_wait_for_each_other(self):
        run = self.run_launcher("--nproc_per_node=2", "--max_restart=2", SH, "-c",
                                "[ $PADDLE_RESTART_COUNT = 2 ] || exit 3; echo at last")
        self.assert_status(run, 0)
        self.assertNotIn("waiting for", run.err)

    def test_a_disk_without_locks_is_told_once(self):
        compiler = shutil.which("cc") or self.skipTest("no C compiler for trainers/no_locks.c")
        library = self.base / "no_locks.so"
        subprocess.run([compiler, "-shared", "-fPIC", "-o", str(library), str(TRAINERS / "no_locks.c")], check=True)
        run = self.run_launcher("--nproc_per_node=2", SH, "-c", "echo hello",
                                env={"LD_PRELOAD": str(library), "ASAN_OPTIONS": "verify_asan_link_order=0"})
        self.assert_status(run, 0)
        self.assertEqual(run.err.count("has no locks"), 1, run.told())

    def test_what_a_trainer_leaves_behind_holds_no_log(self):
        self.gate()
        first = self.start("--nproc_per_node=1", SH, "-c", HOLD)
        trainer = self.wait_ready(1)[0]
        os.kill(first.guard(), signal.SIGKILL)
        first.wait()
        wait_until(lambda: not alive(trainer), "the trainer is gone")
        run = self.second("--nproc_per_node=1")
        run.wait(MANY_SECONDS)
        self.assert_status(run, 0)


if __name__ == "__main__":
    unittest.main()
