# SPDX-License-Identifier: Apache-2.0
"""The launcher as the first process of a container: exit codes, signals, and what others leave to it."""

import os
import shutil
import signal
import subprocess
import unittest

from harness import HOLD, SH, LauncherCase, all_pids, children, comm, free_port_run, stat_fields, wait_until


class FirstProcessTest(LauncherCase):
    OPTIONS = ["-f", "-p", "--mount-proc"]

    def inside(self, *args, **how):
        self.need_root("to make a PID namespace")
        tool = self.need_namespace(*self.OPTIONS)
        return self.start(*args, prefix=[tool, *self.OPTIONS], **how)

    def first(self, run):
        return wait_until(lambda: next(iter(children(run.pid)), None), "the first process of the namespace")

    def test_its_exit_code_is_the_trainers(self):
        for text, status in (("exit 0", 0), ("exit 7", 7), ("kill -SEGV $$", 139)):
            run = self.inside("--nproc_per_node=2", SH, "-c", text)
            run.wait()
            self.assert_status(run, status)

    def test_sigterm_stops_it(self):
        self.gate()
        run = self.inside("--nproc_per_node=2", SH, "-c", HOLD)
        self.wait_file("ready.0")
        self.wait_file("ready.1")
        os.kill(self.first(run), signal.SIGTERM)
        run.wait()
        self.assert_status(run, 143)
        self.assert_nothing_left()

    def test_sigterm_ends_it_while_it_waits_for_other_nodes(self):
        run = self.inside("--ips=127.0.0.2,127.0.0.3", "--host=127.0.0.2", f"--bootstrap_port={free_port_run(10)}", SH,
                          "-c", ":")
        wait_until(lambda: "waiting for 1 of 2 nodes: 127.0.0.3" in run.err, run.told)
        os.kill(self.first(run), signal.SIGTERM)
        run.wait()
        self.assert_status(run, 143)
        self.assertIn("stopped by SIGTERM while waiting for the other nodes", run.err)
        self.assert_nothing_left()

    def test_a_signal_ends_it_while_a_dead_driver_holds_up_the_preparation(self):
        hangs = {"PADDLE_LAUNCH_NVML_LIBRARY": os.environ["FAKE_NVML_LIBRARY"], "FAKE_NVML_HANG": "1"}
        for number in (signal.SIGTERM, signal.SIGINT):
            with self.subTest(number=number):
                run = self.inside("--gpus=0", SH, "-c", ":", env=hangs)
                first = self.first(run)
                wait_until(lambda first=first: children(first), "the child that asks the driver")
                os.kill(first, number)
                run.wait()
                self.assert_status(run, 128 + number)
                self.assert_nothing_left()

    def test_orphans_of_others_are_reaped_and_change_nothing(self):
        gate = self.gate()
        run = self.inside("--nproc_per_node=1", SH, "-c", HOLD)
        self.wait_file("ready.0")
        first = self.first(run)
        tool = shutil.which("nsenter")
        if tool is None:
            self.skipTest("nsenter is not installed")
        subprocess.run([tool, "-t", str(first), "-p", "-m", SH, "-c", "(exit 9) & (sleep 0.1; exit 9) & exit 0"],
                       check=True,
                       cwd="/")

        def reaped():
            below = [pid for pid in all_pids() if int((stat_fields(pid) or [b"X", b"0"])[1]) == first]
            return not any(comm(pid) in ("sh", "sleep") for pid in below)

        wait_until(reaped, "somebody else's orphans to be reaped by the first process", 20)
        self.assertTrue(run.running())
        gate.open()
        run.wait()
        self.assert_status(run, 0)

    def test_it_leaves_nothing_when_killed(self):
        self.gate()
        run = self.inside("--nproc_per_node=2", SH, "-c", HOLD)
        self.wait_file("ready.0")
        self.wait_file("ready.1")
        os.kill(self.first(run), signal.SIGKILL)
        run.wait()
        self.assert_nothing_left()


if __name__ == "__main__":
    unittest.main()
