# SPDX-License-Identifier: Apache-2.0
"""Machines that refuse, fill up, hang or close: the job goes on where it can, and says why where it cannot."""

import contextlib
import os
import re
import resource
import shutil
import signal
import struct
import subprocess
import sys
import time
import unittest

from harness import (HOLD, OTHER_UID, SH, TRAINERS, LauncherCase, all_pids, binary, children, comm,
                     sanitizer_options, stat_fields, wait_until)

SETUP_FAILED = 97
MANY_SECONDS = 45.0
FAIL_1 = HOLD + "[ $PADDLE_TRAINER_ID = 1 ] && exit 7; exec sleep 1000"


class SurroundingsCase(LauncherCase):
    def namespace(self, options, setup):
        """A prefix for start(): new namespaces, the shell text `setup` in them, then the launcher."""
        tool = self.need_namespace(*options)
        return [tool, *options, SH, "-c", f'{{ {setup} ; }} && exec "$@"; exit {SETUP_FAILED}', "sh"]

    def check_setup(self, run):
        if run.status == SETUP_FAILED:
            self.skipTest(f"the namespace could not be set up: {run.err.strip()}")

    def to_other_user(self):
        """A command that becomes an ordinary user, for use inside a namespace."""
        tool = shutil.which("setpriv")
        if tool is None:
            self.skipTest("setpriv is not installed")
        return f"{tool} --reuid={OTHER_UID} --regid={OTHER_UID} --clear-groups"


class NoMoreProcessesTest(SurroundingsCase):
    def tasks_of(self, uid):
        count = 0
        for pid in all_pids():
            with contextlib.suppress(OSError):
                if os.stat(f"/proc/{pid}").st_uid == uid:
                    count += len(os.listdir(f"/proc/{pid}/task"))
        return count

    def test_fork_fails_at_the_users_process_limit(self):
        other = self.as_other_user()
        limit = self.tasks_of(other.get("user", os.getuid())) + 14
        run = self.start("--nproc_per_node=32", "/bin/sleep", "1000",
                         preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_NPROC, (limit, limit)), **other)
        run.wait()
        self.assert_status(run, 1)
        self.assert_told(run, re.compile(r"rank \d+"), "RLIMIT_NPROC")
        self.assert_nothing_left()

    def test_too_few_open_files_are_told_with_the_limit(self):
        few = 6
        run = self.start("/bin/true", preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_NOFILE, (few, few)))
        run.wait()
        self.assert_status(run, 1)
        self.assert_told(run, "Too many open files", "raise the limit", "ulimit -n")
        self.assert_nothing_left()

    def pids_controller(self):
        with open("/proc/self/mountinfo") as file:
            mounts = [(line.split()[4], line.split(" - ")[1].split()) for line in file]
        for path, (kind, _, options) in mounts:
            if kind == "cgroup" and "pids" in options.split(","):
                return path
        for path, (kind, _, _) in mounts:
            if kind == "cgroup2":
                with contextlib.suppress(OSError), open(f"{path}/cgroup.subtree_control") as file:
                    if "pids" in file.read().split():
                        return path
        return None

    def test_fork_fails_at_the_cgroups_pids_max(self):
        root = self.pids_controller()
        if root is None:
            self.skipTest("no cgroup mount with the pids controller")
        group = os.path.join(root, self.base.name)
        try:
            os.mkdir(group)
        except OSError as error:
            self.skipTest(f"no cgroup can be made: {error}")
        self.addCleanup(lambda: wait_until(lambda: not os.path.isdir(group) or not self.remove(group),
                                           "the cgroup to empty", 20))
        with open(f"{group}/pids.max", "w") as file:
            file.write("14")

        def join():
            with open(f"{group}/cgroup.procs", "w") as file:
                file.write("0")

        run = self.start("--nproc_per_node=32", "/bin/sleep", "1000", preexec_fn=join)
        run.wait()
        self.assert_status(run, 1)
        self.assert_told(run, re.compile(r"rank \d+"), "pids.max")
        self.assert_nothing_left()

    @staticmethod
    def remove(group):
        with contextlib.suppress(OSError):
            os.rmdir(group)
        return os.path.isdir(group)


class DiskTest(SurroundingsCase):
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

    def test_a_disk_that_is_full_from_the_start(self):
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
        self.addCleanup(subprocess.run, ["umount", "-l", str(disk)])
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

    def test_a_disk_that_hangs_does_not_hold_up_a_failure(self):
        disk, thaw = self.frozen_disk()
        gate = self.gate()
        run = self.start("--log_dir=disk/log", "--nproc_per_node=3", "--grace=2", SH, "-c", FAIL_1)
        pids = self.wait_ready(3)
        self.freeze(disk)
        gate.open()
        try:
            self.assert_gone(pids.values(), MANY_SECONDS)
            run.wait(MANY_SECONDS)
        finally:
            thaw()
        self.assert_status(run, 7)
        self.assert_abort_line(run, 3, [1])
        self.assert_nothing_left()

    def test_a_disk_that_hangs_does_not_hold_up_an_interrupt(self):
        disk, thaw = self.frozen_disk()
        self.gate()
        run = self.start("--log_dir=disk/log", "--nproc_per_node=2", "--grace=2", SH, "-c", HOLD)
        pids = self.wait_ready(2)
        self.freeze(disk)
        run.send(signal.SIGTERM)
        try:
            self.assert_gone(pids.values(), MANY_SECONDS)
            run.wait(MANY_SECONDS)
        finally:
            thaw()
        self.assert_status(run, 143)
        self.assert_nothing_left()

    def test_the_log_directory_disappears(self):
        then_fail = ("[ $PADDLE_TRAINER_ID = 0 ] && exec sleep 1000; "
                     "while [ ! -e after.0 ]; do sleep 0.02; done; exit 7")
        for fail in (False, True):
            with self.subTest(fail=fail):
                gate = self.gate()
                run = self.start("--nproc_per_node=2", SH, "-c", "echo before; " + HOLD + "echo after; : >after.$PADDLE_TRAINER_ID; "
                                 + (then_fail if fail else "exit 0"))
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

    def test_no_tmpdir(self):
        run = self.run_launcher("--nproc_per_node=2", SH, "-c", "echo hello", env={"TMPDIR": "/no/such/directory"})
        self.assert_status(run, 0)
        self.assertEqual(run.out, b"hello\n")

    def test_no_writable_temporary_directory_at_all(self):
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


class KernelTest(SurroundingsCase):
    def test_no_inotify_instance_left(self):
        prefix = self.namespace(["-U", "-r"], "echo 0 >/proc/sys/user/max_inotify_instances")
        gate = self.gate()
        run = self.start("--nproc_per_node=2", SH, "-c", "echo early; " + HOLD + "echo late", prefix=prefix)
        try:
            self.wait_ready(2)
        except AssertionError:
            run.process.poll()
            self.check_setup(run)
            raise
        wait_until(lambda: run.out == b"early\n", run.told)
        gate.open()
        run.wait()
        self.assert_status(run, 0)
        self.assertEqual(run.out, b"early\nlate\n")

    def test_an_ephemeral_range_that_covers_all_ports(self):
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

    def test_hidepid_and_an_ordinary_user(self):
        self.need_root("to mount /proc")
        self.as_other_user()
        prefix = self.namespace(["-m"], f"mount -t proc -o hidepid=2 proc /proc && exec {self.to_other_user()} \"$@\"")
        for text, status in ((HOLD, 0), (FAIL_1, 7)):
            with self.subTest(status=status):
                gate = self.gate()
                run = self.start("--nproc_per_node=3", SH, "-c", text, prefix=prefix,
                                 program=str(self.base / "paddle-launch"))
                try:
                    self.wait_ready(3)
                except AssertionError:
                    run.process.poll()
                    self.check_setup(run)
                    raise
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

    def test_the_wall_clock_jumps(self):
        compiler = shutil.which("cc") or shutil.which("gcc")
        if compiler is None:
            self.skipTest("no C compiler for trainers/clock.c")
        library = self.base / "clock.so"
        subprocess.run([compiler, "-shared", "-fPIC", "-o", str(library), str(TRAINERS / "clock.c")], check=True)
        env = {"LD_PRELOAD": str(library), "CLOCK_OFFSET_FILE": str(self.base / "offset"),
               **sanitizer_options("verify_asan_link_order=0")}
        (self.base / "offset").write_bytes(struct.pack("q", 0))
        gate = self.gate()
        run = self.start("--nproc_per_node=2", "--grace=1.5", SH, "-c", "trap '' TERM; " + HOLD
                         + "[ $PADDLE_TRAINER_ID = 1 ] && exit 7; exec sleep 1000", env=env)
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


class FirstProcessTest(SurroundingsCase):
    """The launcher as PID 1 of a container."""

    OPTIONS = ["-f", "-p", "--mount-proc"]

    def inside(self, *args, **how):
        self.need_root("to make a PID namespace")
        tool = self.need_namespace(*self.OPTIONS)
        return self.start(*args, prefix=[tool, *self.OPTIONS], **how)

    def first(self, run):
        return wait_until(lambda: next(iter(children(run.pid)), None), "the first process of the namespace")

    def test_exit_codes(self):
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
        run = self.inside("--ips=127.0.0.2,127.0.0.3", "--host=127.0.0.2", "--bootstrap_port=16260", SH, "-c", ":")
        wait_until(lambda: "waiting for 1 of 2 nodes: 127.0.0.3" in run.err, run.told)
        os.kill(self.first(run), signal.SIGTERM)
        run.wait()
        self.assert_status(run, 143)
        self.assertIn("stopped by SIGTERM while waiting for the other nodes", run.err)
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


class ConsoleTest(SurroundingsCase):
    FLOOD = "[ $PADDLE_TRAINER_ID = 0 ] && head -c 4000000 /dev/zero | tr '\\0' x; "

    def test_a_blocked_console_does_not_hold_up_a_failure(self):
        read, write = os.pipe()
        self.addCleanup(os.close, read)
        gate = self.gate()
        run = self.start("--nproc_per_node=3", "--grace=5", SH, "-c", self.FLOOD + FAIL_1, stdout=write)
        os.close(write)
        pids = self.wait_ready(3)
        gate.open()
        self.assert_gone(pids.values(), MANY_SECONDS)
        self.assertTrue(run.running(), run.told())  # the console is waited for until an interrupt
        run.send(signal.SIGINT)
        run.wait(MANY_SECONDS)
        self.assert_status(run, 7)
        self.assert_nothing_left()

    def test_a_blocked_console_does_not_hold_up_an_interrupt(self):
        read, write = os.pipe()
        self.addCleanup(os.close, read)
        self.gate()
        run = self.start("--nproc_per_node=2", "--grace=5", SH, "-c", self.FLOOD + HOLD, stdout=write)
        os.close(write)
        pids = self.wait_ready(2)
        run.send(signal.SIGINT)
        self.assert_gone(pids.values(), MANY_SECONDS)
        if run.running():
            time.sleep(0.6)
            with contextlib.suppress(ProcessLookupError):
                run.send(signal.SIGINT)
        run.wait(MANY_SECONDS)
        self.assert_status(run, 130)
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

    def test_a_pipe_that_is_closed_in_the_middle(self):
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

    def test_standard_descriptors_that_are_closed_from_the_start(self):
        for closed in ([1], [2], [1, 2], [0, 1, 2]):
            with self.subTest(closed=closed):
                def close(closed=closed):
                    for fd in closed:
                        os.close(fd)
                run = self.run_launcher("--nproc_per_node=1", SH, "-c", "echo out; echo err >&2; exit 3",
                                        preexec_fn=close,
                                        stdin=subprocess.DEVNULL)
                self.assert_status(run, 3)
                self.assertEqual(self.trainer_bytes(0), b"out\nerr\n")
                shutil.rmtree(self.dir / "log")

    def test_a_console_on_a_full_device(self):
        with open("/dev/full", "wb") as full:
            run = self.run_launcher("--nproc_per_node=2", SH, "-c", "echo out; exit 0", stdout=full)
            self.assert_status(run, 0)
            run = self.run_launcher("--nproc_per_node=2", SH, "-c", "echo out; exit 7", stdout=full, stderr=full)
            self.assert_status(run, 7)

    def test_a_failure_is_told_at_once_while_nobody_reads_stdout(self):
        reader, writer = os.pipe()
        self.addCleanup(os.close, reader)
        gate = self.gate()
        run = self.start("--quiet", "--nproc_per_node=2", SH, "-c", self.FLOOD + FAIL_1, stdout=writer, stdin=subprocess.DEVNULL)
        os.close(writer)
        pids = self.wait_ready(2)
        gate.open()
        wait_until(lambda: "rank 1 failed: exit code 7" in run.err, "the failure on stderr", MANY_SECONDS)
        self.assert_gone(pids.values(), MANY_SECONDS)
        self.assertTrue(run.running(), "the console is waited for")
        run.send(signal.SIGINT)
        run.wait(MANY_SECONDS)
        self.assert_status(run, 7)
        self.assert_abort_line(run, 2, [1])

    def test_a_terminal_that_is_held_with_ctrl_s(self):
        master, slave = os.openpty()
        self.addCleanup(os.close, master)
        gate = self.gate()
        run = self.start("--quiet", "--nproc_per_node=2", SH, "-c", self.FLOOD + FAIL_1, stdout=slave,
                         stdin=subprocess.DEVNULL)
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
