# SPDX-License-Identifier: Apache-2.0
"""Runs the real launcher in a directory of its own and looks at it from outside.

PADDLE_LAUNCH_BINARY names the binary. Run a file from this folder with `python3 -m unittest
exit_status_test`, or as a program. Every test ends with a search for what the launcher left behind.

Tests take all of it from here; the parts have files of their own: launch, processes, programs, terminal, waiting.
"""

import contextlib
import itertools
import os
import pathlib
import random
import re
import resource
import shutil
import socket
import subprocess
import sys
import tempfile
import time
import unittest

from launch import Launch
from processes import (MARK, alive, all_pids, belonging_to, children, comm, describe, kill_quietly,  # noqa: F401
                       launcher_of, pending, stat_fields, state, status_field)
from programs import (HERE, SH, TRAINERS, binary, compile_trainer, program_named_by, python_trainer,  # noqa: F401
                      sanitizer_options)
from terminal import Terminal  # noqa: F401
from waiting import DEADLINE, MANY_SECONDS, wait_until  # noqa: F401

OTHER_UID = 54321  # has no other processes, so that its limits count ours alone
ABORT = "ABORT!!! Out of all {} trainers, the trainer process with rank=[{}] was aborted. Please check its log."

# A shell trainer that says "I am ready"; one that then waits until the test opens the gate; and one of which rank 1
# then fails.
READY = ("exec 3<gate; echo $$ >.tmp.$PADDLE_TRAINER_ID; "
         "mv .tmp.$PADDLE_TRAINER_ID ready.$PADDLE_TRAINER_ID; ")
HOLD = READY + "read _ <&3 || :; "
FAIL_1 = HOLD + "[ $PADDLE_TRAINER_ID = 1 ] && exit 7; exec sleep 1000"

# Tests make trainers die by every signal; none of them is to leave a core file.
resource.setrlimit(resource.RLIMIT_CORE, (0, resource.getrlimit(resource.RLIMIT_CORE)[1]))


def free_port_run(count):
    """The first of so many consecutive ports that nobody uses right now. Somewhere, so that tests that run at the same
    time do not choose the same."""
    for start in random.sample(range(11000, 19000), 100):
        sockets = []
        try:
            for port in range(start, start + count):
                sockets.append(socket.create_server(("", port)))
            return start
        except OSError:
            continue
        finally:
            for one in sockets:
                one.close()
    raise AssertionError("no free ports")


def variables_in(text):
    """{name: value} of what env(1) wrote."""
    return dict(line.split("=", 1) for line in text.splitlines() if "=" in line)


def strip_own_lines(data):
    """A worker log without the lines that the launcher wrote into it."""
    return re.sub(rb"(?m)^==== paddle-launch.*\n", b"", data)


class Gate:
    """A named pipe "gate" that trainers wait at; open() lets them all go at once."""

    def __init__(self, directory):
        path = os.path.join(directory, "gate")
        with contextlib.suppress(FileExistsError):
            os.mkfifo(path)
            os.chmod(path, 0o666)
        self._fd = os.open(path, os.O_RDWR | os.O_CLOEXEC)

    def open(self):
        if self._fd is not None:
            os.close(self._fd)
            self._fd = None


class LauncherCase(unittest.TestCase):
    """A test with a directory of its own; nothing may be left running when it ends."""

    maxDiff = None

    def setUp(self):
        self.base = pathlib.Path(tempfile.mkdtemp(prefix="paddle-launch-test-")).resolve()
        os.chmod(self.base, 0o755)
        self.dir = self.base / "work"
        self.dir.mkdir()
        self.numbers = itertools.count(1)
        self.launches = []
        self._gates = []
        self.addCleanup(shutil.rmtree, self.base, ignore_errors=True)

    def tearDown(self):
        try:
            self.assert_nothing_left()
        finally:
            self.clear_up()

    def clear_up(self):
        for gate in self._gates:
            gate.open()
        for _ in range(100):
            left = belonging_to(self.base)
            for pid in left:
                kill_quietly(pid)
            if not left:
                break
            time.sleep(0.02)
        for launch in self.launches:
            with contextlib.suppress(subprocess.TimeoutExpired):
                launch.process.wait(5)

    # starting

    def environment(self, extra=None):
        """A small environment without the variables that steer a launcher; None removes one."""
        env = {"PATH": "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin", "HOME": str(self.base),
               "LANG": "C.UTF-8", MARK: str(self.base)}
        for name, value in os.environ.items():
            if name.startswith(("ASAN_", "UBSAN_", "LSAN_", "LLVM_PROFILE", "GCOV_")):
                env[name] = value
        for name, value in (extra or {}).items():
            env.pop(name, None)
            if value is not None:
                env[name] = value
        return env

    def start(self, *args, **how):
        return Launch(self, args, **how)

    def run_launcher(self, *args, seconds=DEADLINE, **how):
        run = self.start(*args, **how)
        run.wait(seconds)
        return run

    def to_preload(self, variable):
        """The library that it names, where no space is in the path: LD_PRELOAD takes it for two."""
        return shutil.copy(os.environ[variable], self.dir)

    def gate(self):
        """A new gate; the one of an earlier run in the same test is opened."""
        for earlier in self._gates:
            earlier.open()
        gate = Gate(self.dir)
        self._gates.append(gate)
        return gate

    def python_on_path(self):
        """A PATH whose first "python" is this interpreter."""
        folder = self.base / "bin"
        folder.mkdir(exist_ok=True)
        for name in ("python", "python3"):
            with contextlib.suppress(FileExistsError):
                os.symlink(sys.executable, folder / name)
        return f"{folder}:{self.environment()['PATH']}"

    def as_other_user(self):
        """Options for start() that run the launcher as an ordinary user: ourselves, or OTHER_UID when we are root."""
        if os.geteuid() != 0:
            return {}
        copy = self.base / "paddle-launch"
        if not copy.exists():
            shutil.copy(binary(), copy)
            copy.chmod(0o755)
        os.chown(self.dir, OTHER_UID, OTHER_UID)
        return {"program": str(copy), "user": OTHER_UID, "group": OTHER_UID, "extra_groups": []}

    def need_root(self, why):
        if os.geteuid() != 0:
            self.skipTest(f"needs root: {why}")

    def need_namespace(self, *options):
        """Skips where unshare(1) with these options is not there or not allowed."""
        tool = shutil.which("unshare")
        if tool is None:
            self.skipTest("unshare is not installed")
        tried = subprocess.run([tool, *options, "true"], capture_output=True, text=True)
        if tried.returncode != 0:
            self.skipTest(f"unshare {' '.join(options)} is not allowed here: {tried.stderr.strip()}")
        return tool

    # files

    def write(self, name, text, mode=0o644):
        path = self.dir / name
        path.write_text(text)
        path.chmod(mode)
        return path

    def read(self, name):
        return (self.dir / name).read_text(errors="replace")

    def log(self, rank, log_dir="log"):
        return (self.dir / log_dir / f"workerlog.{rank}").read_bytes()

    def trainer_bytes(self, rank, log_dir="log"):
        """What the trainer itself wrote into its log of a single run."""
        return strip_own_lines(self.log(rank, log_dir))

    def wait_file(self, name, seconds=DEADLINE):
        path = self.dir / name
        def look():
            for launch in self.launches[-1:]:
                if not launch.running() and not path.exists():
                    raise AssertionError(f"the launcher ended before {name} was there\n{launch.told()}")
            return path.exists()
        wait_until(look, lambda: f"no file {name} in {sorted(os.listdir(self.dir))}\n"
                   + "\n".join(launch.told() for launch in self.launches[-1:]), seconds)
        return path.read_text(errors="replace")

    def wait_ready(self, ranks, seconds=DEADLINE):
        """Waits until these ranks (or the first N) are ready; returns their pids by rank."""
        ranks = range(ranks) if isinstance(ranks, int) else ranks
        return {rank: int(self.wait_file(f"ready.{rank}", seconds)) for rank in ranks}

    def wait_told(self, run, text, seconds=DEADLINE):
        """Until the launcher has said so."""
        def look():
            ended = not run.running()  # before the look, so that its last words count
            if text in run.err:
                return True
            if ended:
                raise AssertionError(f"the launcher ended and did not say {text!r}\n{run.told()}")
            return False
        wait_until(look, lambda: f"{text!r} in\n{run.told()}", seconds)

    # claims

    def assert_status(self, run, expected):
        self.assertEqual(run.status, expected, run.told())

    def assert_told(self, run, *texts):
        for text in texts:
            if hasattr(text, "search"):
                self.assertTrue(text.search(run.err), f"{text.pattern!r} is not in:\n{run.told()}")
            else:
                self.assertIn(text, run.err, run.told())

    def assert_abort_line(self, run, world, ranks):
        line = ABORT.format(world, ",".join(map(str, ranks)))
        self.assertIn(line, run.err.split("\n"), run.told())

    def assert_gone(self, pids, seconds=DEADLINE):
        pids = list(pids)
        wait_until(lambda: not any(map(alive, pids)),
                   lambda: "still alive:\n" + describe(pid for pid in pids if alive(pid)), seconds)

    def assert_nothing_left(self, seconds=10.0):
        for launch in self.launches:
            self.assertFalse(launch.running(), f"the test left its launcher running\n{launch.told()}")
        left = []
        def none():
            left[:] = belonging_to(self.base)
            return not left
        wait_until(none, lambda: "left behind:\n" + describe(left), seconds)
