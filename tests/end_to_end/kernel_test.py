# SPDX-License-Identifier: Apache-2.0
"""Kernels and users that allow less than usual, and a wall clock that jumps: the job runs, and ends, all the same."""

import os
import re
import shutil
import signal
import struct
import subprocess
import sys
import time
import unittest

from harness import FAIL_1, HOLD, MANY_SECONDS, SH, TRAINERS, sanitizer_options, wait_until
from namespace_case import NamespaceCase


class KernelTest(NamespaceCase):
    def test_output_comes_without_an_inotify_instance_too(self):
        prefix = self.namespace(["-U", "-r"], "echo 0 >/proc/sys/user/max_inotify_instances")
        gate = self.gate()
        run = self.start("--nproc_per_node=2", SH, "-c", "echo early; " + HOLD + "echo late", prefix=prefix)
        self.wait_ready(2)
        wait_until(lambda: run.out == b"early\n", run.told)
        gate.open()
        run.wait()
        self.assert_status(run, 0)
        self.assertEqual(run.out, b"early\nlate\n")

    def test_an_ephemeral_range_that_covers_all_ports_is_a_warning(self):
        self.need_root("to make a network namespace")
        loopback_up = ("import fcntl,socket,struct;s=socket.socket(socket.AF_INET,socket.SOCK_DGRAM);"
                       "fcntl.ioctl(s,0x8914,struct.pack('16sh14x',b'lo',1))")
        prefix = self.namespace(["-n"], f"'{sys.executable}' -IS -c \"{loopback_up}\" && "
                                "echo '1024 65535' >/proc/sys/net/ipv4/ip_local_port_range")
        run = self.run_launcher("--nproc_per_node=4", SH, "-c", "echo $PADDLE_TRAINER_ENDPOINTS,$PADDLE_MASTER",
                                prefix=prefix)
        self.check_setup(run)
        self.assert_status(run, 0)
        self.assertEqual(len(set(re.findall(r":(\d+)", run.out.decode()))), 5)
        self.assert_told(run, re.compile(r"(?m)^WARNING .*(ephemeral|ip_local_port_range)"))

    def test_fewer_cpus_than_trainers_is_a_warning_with_the_remedy(self):
        one = {min(os.sched_getaffinity(0))}
        run = self.run_launcher("--nproc_per_node=4", "/bin/true", preexec_fn=lambda: os.sched_setaffinity(0, one))
        self.assert_status(run, 0)
        warnings = [line for line in run.err.splitlines() if line.startswith("WARNING ") and "CPU" in line]
        self.assertEqual(len(warnings), 1, run.told())
        run = self.run_launcher("--nproc_per_node=1", "/bin/true")
        self.assertNotRegex(run.err, r"(?m)^WARNING .*CPU")

    def test_hidepid_changes_nothing_for_an_ordinary_user(self):
        self.need_root("to mount /proc")
        self.as_other_user()
        prefix = self.namespace(["-m"], f"mount -t proc -o hidepid=2 proc /proc && exec {self.to_other_user()} \"$@\"")
        for text, status in ((HOLD, 0), (FAIL_1, 7)):
            with self.subTest(status=status):
                gate = self.gate()
                run = self.start("--nproc_per_node=3", SH, "-c", text, prefix=prefix,
                                 program=str(self.base / "paddle-launch"))
                self.wait_ready(3)
                gate.open()
                run.wait()
                self.assert_status(run, status)
                self.assert_nothing_left()
                for rank in range(3):
                    (self.dir / f"ready.{rank}").unlink()

    def test_an_ordinary_user_leaves_nothing_when_killed(self):
        other = self.as_other_user()
        self.gate()
        run = self.start("--nproc_per_node=3", "--grace=1", SH, "-c", "setsid sleep 1000 & " + HOLD, **other)
        pids = self.wait_ready(3)
        run.send(signal.SIGKILL)
        run.wait()
        self.assert_gone(pids.values())
        self.assert_nothing_left()

    def jump(self, seconds):
        with open(self.base / "offset", "r+b") as file:
            file.write(struct.pack("q", seconds))

    def test_a_wall_clock_that_jumps_changes_neither_grace_nor_report(self):
        compiler = shutil.which("cc") or shutil.which("gcc")
        if compiler is None:
            self.skipTest("no C compiler for trainers/clock.c")
        library = self.base / "clock.so"
        subprocess.run([compiler, "-shared", "-fPIC", "-o", str(library), str(TRAINERS / "clock.c")], check=True)
        env = {"LD_PRELOAD": str(library), "CLOCK_OFFSET_FILE": str(self.base / "offset"),
               **sanitizer_options("verify_asan_link_order=0")}
        (self.base / "offset").write_bytes(struct.pack("q", 0))
        gate = self.gate()
        run = self.start("--nproc_per_node=2", "--grace=1.5", SH, "-c", "trap '' TERM; " + FAIL_1,
                         env=env)
        pids = self.wait_ready(2)
        self.jump(-10 * 86400)
        began = time.monotonic()
        gate.open()
        wait_until(lambda: "rank 1 failed" in run.err, run.told)
        self.jump(10 * 86400)
        run.wait(MANY_SECONDS)
        self.assertGreaterEqual(time.monotonic() - began, 1.4)
        self.assert_status(run, 7)
        self.assert_gone(pids.values())
        report = run.err[run.err.index("ABORT!!!"):]
        self.assertNotRegex(report, r"-\d+(\.\d+)? ?(s|min|h|d|days)\b")
        self.assertNotRegex(report, r"\b(10|9|20|19) ?d(ays?)?\b")


if __name__ == "__main__":
    unittest.main()
