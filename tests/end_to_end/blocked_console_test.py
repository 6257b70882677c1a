# SPDX-License-Identifier: Apache-2.0
"""Consoles that nobody reads, that are slow, full or closed: they delay no failure and no interrupt, and end no job."""

import contextlib
import os
import shutil
import signal
import time
import unittest

from harness import FAIL_1, HOLD, MANY_SECONDS, SH, LauncherCase, wait_until


class BlockedConsoleTest(LauncherCase):
    FLOOD = "[ $PADDLE_TRAINER_ID = 0 ] && head -c 4000000 /dev/zero | tr '\\0' x; "

    def start_unread(self, *args):
        """Nobody reads its stdout."""
        read, write = os.pipe()
        self.addCleanup(os.close, read)
        run = self.start(*args, stdout=write)
        os.close(write)
        return run

    def test_a_blocked_console_does_not_hold_up_a_failure(self):
        gate = self.gate()
        run = self.start_unread("--nproc_per_node=3", "--grace=5", SH, "-c", self.FLOOD + FAIL_1)
        pids = self.wait_ready(3)
        gate.open()
        self.assert_gone(pids.values(), MANY_SECONDS)
        self.assertTrue(run.running(), run.told())  # the console is waited for until an interrupt
        run.send(signal.SIGINT)
        run.wait(MANY_SECONDS)
        self.assert_status(run, 7)
        self.assert_nothing_left()

    def test_a_blocked_console_does_not_hold_up_an_interrupt(self):
        self.gate()
        run = self.start_unread("--nproc_per_node=2", "--grace=5", SH, "-c", self.FLOOD + HOLD)
        pids = self.wait_ready(2)
        run.send(signal.SIGINT)
        self.assert_gone(pids.values(), MANY_SECONDS)
        if run.running():
            time.sleep(0.6)  # two interrupts within half a second are one
            with contextlib.suppress(ProcessLookupError):
                run.send(signal.SIGINT)
        run.wait(MANY_SECONDS)
        self.assert_status(run, 130)
        self.assert_nothing_left()

    def test_whoever_ends_a_job_waits_for_its_blocked_console_no_longer_than_a_moment(self):
        self.gate()
        run = self.start_unread("--nproc_per_node=2", "--grace=5", SH, "-c", self.FLOOD + HOLD)
        self.wait_ready(2)
        run.send(signal.SIGTERM)
        run.wait()
        self.assert_status(run, 143)
        self.assert_nothing_left()

    def test_a_slow_reader_gets_everything(self):
        read, write = os.pipe()
        run = self.start("--nproc_per_node=2", SH, "-c", self.FLOOD + "exit 0", stdout=write)
        os.close(write)
        wait_until(lambda: (self.dir / "log/workerlog.0").exists() and len(self.log(0)) >= 4000000, run.told)
        with open(read, "rb") as pipe:
            self.assertEqual(len(pipe.read()), 4000000)
        run.wait()
        self.assert_status(run, 0)

    def test_a_blocked_stderr_does_not_hold_up_a_failure(self):
        read, write = os.pipe()
        self.addCleanup(os.close, read)
        os.set_blocking(write, False)
        with contextlib.suppress(BlockingIOError):
            while True:
                os.write(write, b"x" * 4096)
        os.set_blocking(write, True)
        gate = self.gate()
        run = self.start("--nproc_per_node=3", SH, "-c", FAIL_1, stderr=write)
        os.close(write)
        pids = self.wait_ready(3)
        gate.open()
        self.assert_gone(pids.values(), MANY_SECONDS)
        if run.running():
            run.send(signal.SIGINT)
        run.wait(MANY_SECONDS)
        self.assert_status(run, 7)

    def test_a_closed_pipe_ends_the_console_not_the_job(self):
        for flood in (self.FLOOD, "echo one line; "):
            with self.subTest(flood=len(flood)):
                read, write = os.pipe()
                os.close(read)
                run = self.start("--nproc_per_node=2", SH, "-c",
                                 flood + "echo through >through.$PADDLE_TRAINER_ID; exit 0",
                                 stdout=write)
                os.close(write)
                run.wait()
                self.assert_status(run, 0)
                self.assertEqual(self.read("through.0"), "through\n")

    def test_a_pipe_that_is_closed_in_the_middle_leaves_the_failure_as_it_is(self):
        read, write = os.pipe()
        gate = self.gate()
        run = self.start("--nproc_per_node=1", SH, "-c", "echo first; " + HOLD + "head -c 1000000 /dev/zero; exit 7",
                         stdout=write)
        os.close(write)
        self.assertEqual(os.read(read, 100), b"first\n")
        os.close(read)
        self.wait_ready(1)
        gate.open()
        run.wait()
        self.assert_status(run, 7)
        self.assert_abort_line(run, 1, [0])

    def test_standard_descriptors_that_are_closed_from_the_start_are_not_missed(self):
        for closed in ([1], [2], [1, 2], [0, 1, 2]):
            with self.subTest(closed=closed):
                def close(closed=closed):
                    for fd in closed:
                        os.close(fd)
                run = self.run_launcher("--nproc_per_node=1", SH, "-c", "echo out; echo err >&2; exit 3",
                                        preexec_fn=close)
                self.assert_status(run, 3)
                self.assertEqual(self.trainer_bytes(0), b"out\nerr\n")
                shutil.rmtree(self.dir / "log")

    def test_a_console_on_a_full_device_changes_no_status(self):
        with open("/dev/full", "wb") as full:
            run = self.run_launcher("--nproc_per_node=2", SH, "-c", "echo out; exit 0", stdout=full)
            self.assert_status(run, 0)
            run = self.run_launcher("--nproc_per_node=2", SH, "-c", "echo out; exit 7", stdout=full, stderr=full)
            self.assert_status(run, 7)

    def test_a_failure_is_told_at_once_while_nobody_reads_stdout(self):
        gate = self.gate()
        run = self.start_unread("--quiet", "--nproc_per_node=2", SH, "-c", self.FLOOD + FAIL_1)
        pids = self.wait_ready(2)
        gate.open()
        wait_until(lambda: "rank 1 failed: exit code 7" in run.err, "the failure on stderr", MANY_SECONDS)
        self.assert_gone(pids.values(), MANY_SECONDS)
        self.assertTrue(run.running(), "the console is waited for")
        run.send(signal.SIGINT)
        run.wait(MANY_SECONDS)
        self.assert_status(run, 7)
        self.assert_abort_line(run, 2, [1])

    def test_a_terminal_that_is_held_with_ctrl_s_does_not_hold_up_a_failure(self):
        master, slave = os.openpty()
        self.addCleanup(os.close, master)
        gate = self.gate()
        run = self.start("--quiet", "--nproc_per_node=2", SH, "-c", self.FLOOD + FAIL_1, stdout=slave)
        os.close(slave)
        pids = self.wait_ready(2)  # nobody reads the master: its buffer is full
        gate.open()
        self.assert_gone(pids.values(), MANY_SECONDS)
        if run.running():
            run.send(signal.SIGINT)
        run.wait(MANY_SECONDS)
        self.assert_status(run, 7)


if __name__ == "__main__":
    unittest.main()
