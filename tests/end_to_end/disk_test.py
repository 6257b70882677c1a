# SPDX-License-Identifier: Apache-2.0
"""Disks that are full, hang or go away: the job goes on where it can, and a failure or an interrupt is not held up."""

import contextlib
import os
import shutil
import signal
import subprocess
import unittest

from harness import FAIL_1, HOLD, MANY_SECONDS, SH, Gate, binary, wait_until
from namespace_case import NamespaceCase


class DiskTest(NamespaceCase):
    def on_small_disk(self, script, *options, before="true"):
        self.need_root("to mount a small tmpfs")
        (self.dir / "disk").mkdir(exist_ok=True)
        prefix = self.namespace(["-m"], f"mount -t tmpfs -o size=1m tmpfs disk && cd . && {before}")
        run = self.run_launcher("--log_dir=disk/log", "--grace=2", *options, SH, "-c", script, prefix=prefix)
        self.check_setup(run)
        return run

    def test_a_disk_that_fills_up_does_not_stop_the_job(self):
        text = "head -c 3000000 /dev/zero 2>/dev/null; echo through >through.$PADDLE_TRAINER_ID; exit 0"
        run = self.on_small_disk(text, "--nproc_per_node=2")
        self.assert_status(run, 0)
        self.assertEqual(self.read("through.0"), "through\n")
        self.assertEqual(run.out.strip(b"\0"), b"")

    def test_a_failure_on_a_full_disk_has_its_code(self):
        gate = self.gate()
        self.need_root("to mount a small tmpfs")
        (self.dir / "disk").mkdir()
        prefix = self.namespace(["-m"], "mount -t tmpfs -o size=1m tmpfs disk")
        run = self.start("--log_dir=disk/log", "--nproc_per_node=3", SH, "-c",
                         "head -c 3000000 /dev/zero 2>/dev/null; " + FAIL_1, prefix=prefix)
        self.wait_ready(3)
        gate.open()
        run.wait()
        self.assert_status(run, 7)
        self.assert_abort_line(run, 3, [1])

    def test_a_disk_that_is_full_from_the_start_is_one_warning(self):
        run = self.on_small_disk("echo hello; exit 0", "--nproc_per_node=2",
                                 before="mkdir disk/log && { head -c 3000000 /dev/zero >disk/fill; true; } 2>/dev/null")
        self.assert_status(run, 0)
        warnings = [line for line in run.err.splitlines() if line.startswith("WARNING ") and "disk/log" in line]
        self.assertEqual(len(warnings), 1, run.told())

    def frozen_disk(self):
        self.need_root("to mount and freeze a file system")
        for tool in ("mkfs.ext4", "fsfreeze", "mount"):
            if shutil.which(tool, path=self.environment()["PATH"]) is None:
                self.skipTest(f"{tool} is not installed")
        image, disk = self.base / "image", self.dir / "disk"
        with open(image, "wb") as file:
            file.truncate(16 << 20)
        subprocess.run(["mkfs.ext4", "-q", str(image)], check=True, env=self.environment())
        disk.mkdir()
        tried = subprocess.run(["mount", "-o", "loop,noatime", str(image), str(disk)], capture_output=True, text=True,
                               env=self.environment())
        if tried.returncode != 0:
            self.skipTest(f"no loop device: {tried.stderr.strip()}")
        self.addCleanup(subprocess.run, ["umount", "-l", str(disk)], stderr=subprocess.DEVNULL)
        # Should this test itself be killed, nothing hangs for ever.
        rescue = subprocess.Popen([SH, "-c", 'sleep 58; exec fsfreeze -u "$1"', "sh", str(disk)], cwd="/",
                                  env={"PATH": self.environment()["PATH"]},
                                  start_new_session=True)

        def thaw():
            subprocess.run(["fsfreeze", "-u", str(disk)], stderr=subprocess.DEVNULL, env=self.environment())
            with contextlib.suppress(ProcessLookupError):
                os.killpg(rescue.pid, signal.SIGKILL)
            rescue.wait()

        self.addCleanup(thaw)
        return disk, thaw

    def freeze(self, disk):
        tried = subprocess.run(["fsfreeze", "-f", str(disk)], capture_output=True, text=True, env=self.environment())
        if tried.returncode != 0:
            self.skipTest(f"fsfreeze: {tried.stderr.strip()}")

    def test_a_disk_that_hangs_holds_up_neither_a_failure_nor_an_interrupt(self):
        disk, thaw = self.frozen_disk()
        gate, other = self.gate(), self.dir / "other"
        failing = self.start("--log_dir=disk/log", "--nproc_per_node=3", "--grace=2", SH, "-c", FAIL_1)
        pids = list(self.wait_ready(3).values())
        other.mkdir()
        self.addCleanup(Gate(other).open)
        interrupted = self.start(f"--log_dir={disk}/other", "--nproc_per_node=2", "--grace=2", SH, "-c", HOLD, cwd=other)
        pids += [int(self.wait_file(f"other/ready.{rank}")) for rank in range(2)]
        self.freeze(disk)
        gate.open()
        interrupted.send(signal.SIGTERM)
        try:
            self.assert_gone(pids, MANY_SECONDS)
            failing.wait(MANY_SECONDS)
            interrupted.wait(MANY_SECONDS)
        finally:
            thaw()
        self.assert_status(failing, 7)
        self.assert_abort_line(failing, 3, [1])
        self.assert_status(interrupted, 143)
        self.assert_nothing_left()

    def test_a_disk_that_hangs_before_the_start_is_told_and_an_interrupt_is_obeyed(self):
        for number in (signal.SIGTERM, signal.SIGINT):
            with self.subTest(signal=number):
                disk, thaw = self.frozen_disk()
                self.freeze(disk)
                try:
                    run = self.start(f"--log_dir={disk}/log", "--nproc_per_node=2", SH, "-c", ": >started")
                    self.wait_told(run, "nothing is started", MANY_SECONDS)
                    run.send(number)
                    run.wait(MANY_SECONDS)
                finally:
                    thaw()
                self.assert_status(run, 128 + number)
                self.assert_told(run, "pl-guard")
                self.assertFalse((self.dir / "started").exists())
                self.assert_nothing_left()
                subprocess.run(["umount", "-l", str(disk)], env=self.environment(), check=True)
                disk.rmdir()

    def test_a_disk_that_hangs_between_two_rounds_holds_up_no_interrupt(self):
        disk, thaw = self.frozen_disk()
        gate = self.gate()
        run = self.start(f"--log_dir={disk}/log", "--nproc_per_node=2", "--grace=1", "--max_restart=3", SH, "-c", FAIL_1)
        self.wait_ready(2)
        self.freeze(disk)
        gate.open()
        try:
            self.wait_told(run, "nothing is started", MANY_SECONDS)
            run.send(signal.SIGINT)
            run.wait(MANY_SECONDS)
        finally:
            thaw()
        self.assert_status(run, 130)
        self.assert_nothing_left()

    def test_a_log_directory_that_disappears_changes_neither_console_nor_status(self):
        then_fail = ("[ $PADDLE_TRAINER_ID = 0 ] && exec sleep 1000; "
                     "while [ ! -e after.0 ]; do sleep 0.02; done; exit 7")
        for fail in (False, True):
            with self.subTest(fail=fail):
                gate = self.gate()
                run = self.start("--nproc_per_node=2", SH, "-c", "echo before; " + HOLD + "echo after; "
                                 ": >after.$PADDLE_TRAINER_ID; " + (then_fail if fail else "exit 0"))
                self.wait_ready(2)
                wait_until(lambda: run.out == b"before\n", run.told)
                shutil.rmtree(self.dir / "log")
                gate.open()
                run.wait()
                self.assert_status(run, 7 if fail else 0)
                self.assertEqual(run.out, b"before\nafter\n")
                if fail:
                    self.assert_abort_line(run, 2, [1])
                for rank in range(2):
                    (self.dir / f"ready.{rank}").unlink()
                    (self.dir / f"after.{rank}").unlink()

    def test_a_tmpdir_that_is_not_there_is_not_missed(self):
        run = self.run_launcher("--nproc_per_node=2", SH, "-c", "echo hello", env={"TMPDIR": "/no/such/directory"})
        self.assert_status(run, 0)
        self.assertEqual(run.out, b"hello\n")

    def test_no_writable_temporary_directory_at_all_is_needed(self):
        self.need_root("to mount read-only directories")
        places = [place for place in ("/tmp", "/var/tmp", "/dev/shm") if os.path.isdir(place)]
        covers = " && ".join(f"mount -t tmpfs -o ro,size=4k tmpfs {place}" for place in places)
        setup = (f"mount -t tmpfs tmpfs /mnt && cp '{binary()}' /mnt/paddle-launch && mkdir /mnt/work && "
                 f"cd /mnt/work && {covers}")
        prefix = self.namespace(["-m"], setup)
        run = self.run_launcher("--nproc_per_node=2", SH, "-c", "echo hello", prefix=prefix,
                                program="/mnt/paddle-launch")
        self.check_setup(run)
        self.assert_status(run, 0)
        self.assertEqual(run.out, b"hello\n")


if __name__ == "__main__":
    unittest.main()
