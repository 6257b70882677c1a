# SPDX-License-Identifier: Apache-2.0
"""Runs the real launcher in a directory of its own and looks at it from outside.

PADDLE_LAUNCH_BINARY names the binary. Run a file from this folder with `python3 -m unittest
exit_status_test`, or as a program. Every test ends with a search for what the launcher left behind.
"""

import contextlib
import errno
import os
import pathlib
import random
import re
import resource
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import termios
import threading
import time
import unittest

HERE = pathlib.Path(__file__).resolve().parent
TRAINERS = HERE / "trainers"
SH = "/bin/sh"
DEADLINE = 60.0  # for conditions that must come true: generous, since sanitizers and loaded machines are slow
MARK = "LAUNCH_TEST_MARK"
OTHER_UID = 54321  # has no other processes, so that its limits count ours alone
ABORT = "ABORT!!! Out of all {} trainers, the trainer process with rank=[{}] was aborted. Please check its log."

# A shell trainer that says "I am ready", and one that then waits until the test opens the gate.
READY = ("exec 3<gate; echo $$ >.tmp.$PADDLE_TRAINER_ID; "
         "mv .tmp.$PADDLE_TRAINER_ID ready.$PADDLE_TRAINER_ID; ")
HOLD = READY + "read _ <&3 || :; "

# Tests make trainers die by every signal; none of them is to leave a core file.
resource.setrlimit(resource.RLIMIT_CORE, (0, resource.getrlimit(resource.RLIMIT_CORE)[1]))


def program_named_by(variable):
    path = os.environ.get(variable)
    if not path or not os.access(path, os.X_OK):
        raise RuntimeError(f"{variable} must name a program; it is {path!r}")
    return os.path.abspath(path)


def binary():
    return program_named_by("PADDLE_LAUNCH_BINARY")


def sanitizer_options(words):
    """ASAN_OPTIONS with these added; nothing to a binary without the sanitizer."""
    return {"ASAN_OPTIONS": f"{os.environ.get('ASAN_OPTIONS', '')}:{words}".lstrip(":")}


def python_trainer(name, *args):
    """The command line of trainers/NAME under this very interpreter, started as fast as it can be."""
    return [sys.executable, "-IS", str(TRAINERS / name), *map(str, args)]


def compile_trainer(case, name):
    compiler = shutil.which("cc") or shutil.which("gcc") or shutil.which("clang")
    if compiler is None:
        case.skipTest(f"no C compiler for trainers/{name}")
    program = case.base / pathlib.Path(name).stem
    subprocess.run([compiler, "-O1", "-o", str(program), str(TRAINERS / name)], check=True)
    return str(program)


# -- waiting -------------------------------------------------------------------------------------------------------


def wait_until(condition, what, seconds=DEADLINE):
    """The first true value of condition(); AssertionError after the deadline."""
    end = time.monotonic() + seconds
    pause = 0.001
    while True:
        value = condition()
        if value:
            return value
        if time.monotonic() > end:
            raise AssertionError(f"waited {seconds:.0f} s in vain: {what() if callable(what) else what}")
        time.sleep(pause)
        pause = min(pause * 1.5, 0.05)


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


# -- looking at processes --------------------------------------------------------------------------------------------


def _read(path):
    try:
        with open(path, "rb") as file:
            return file.read()
    except OSError:
        return b""


def stat_fields(pid):
    """Fields of /proc/PID/stat from the state on, or None when there is no such process."""
    text = _read(f"/proc/{pid}/stat")
    return text[text.rfind(b")") + 2 :].split() if text else None


def state(pid):
    """One letter; X when there is no such process."""
    fields = stat_fields(pid)
    return fields[0].decode() if fields else "X"


def alive(pid):
    return state(pid) not in "ZX"


def status_field(pid, name):
    for line in _read(f"/proc/{pid}/status").decode(errors="replace").splitlines():
        if line.startswith(name + ":"):
            return line.split(":", 1)[1].strip()
    return None


def comm(pid):
    return _read(f"/proc/{pid}/comm").decode(errors="replace").rstrip("\n")


def all_pids():
    return [int(name) for name in os.listdir("/proc") if name.isdigit()]


def children(pid):
    found = []
    for other in all_pids():
        fields = stat_fields(other)
        if fields and int(fields[1]) == pid and fields[0] not in (b"Z", b"X"):
            found.append(other)
    return found


def pending(pid, number):
    """True while the signal waits to be taken by the process."""
    shared = status_field(pid, "ShdPnd")
    return shared is not None and bool(int(shared, 16) >> (number - 1) & 1)


def _links_below(pid, root):
    links = [f"/proc/{pid}/cwd", f"/proc/{pid}/exe"]
    with contextlib.suppress(OSError):
        links += [f"/proc/{pid}/fd/{name}" for name in os.listdir(f"/proc/{pid}/fd")]
    for link in links:
        with contextlib.suppress(OSError):
            if os.readlink(link).startswith(root):
                return True
    return False


def belonging_to(root):
    """Living processes that belong to a test: by environment mark, working directory or open files, so that a
    process which cleared its environment, renamed itself or left its session is found as well."""
    root = str(root)
    mark = f"{MARK}={root}".encode()
    found = []
    for pid in all_pids():
        if pid == os.getpid() or not alive(pid):
            continue
        if _links_below(pid, root) or mark in _read(f"/proc/{pid}/environ").split(b"\0"):
            found.append(pid)
    return found


def describe(pids):
    rows = []
    for pid in pids:
        command = _read(f"/proc/{pid}/cmdline").replace(b"\0", b" ").decode(errors="replace")[:120]
        rows.append(f"{pid} {state(pid)} parent={(stat_fields(pid) or [0, b'?'])[1].decode()} {comm(pid)}: {command}")
    return "\n".join(rows) or "(none)"


def kill_quietly(pid, number=signal.SIGKILL):
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.kill(pid, number)


# -- one run of the launcher -------------------------------------------------------------------------------------------


class Launch:
    """A launcher that was started; its output goes to files unless a test wants something else."""

    def __init__(self, case, args, *, program=None, prefix=(), env=None, cwd=None, stdin=subprocess.DEVNULL,
                 stdout=None, stderr=None, **popen):
        number = next(case.numbers)
        self.case = case
        self.out_path = case.base / f"out.{number}"
        self.err_path = case.base / f"err.{number}"
        self.command = [*map(str, prefix), program or binary(), *map(str, args)]
        popen.setdefault("start_new_session", True)
        with open(self.out_path, "wb") as out, open(self.err_path, "wb") as err:
            self.process = subprocess.Popen(
                self.command, env=case.environment(env), cwd=cwd or case.dir, stdin=stdin,
                stdout=out if stdout is None else stdout, stderr=err if stderr is None else stderr, **popen)
        case.launches.append(self)

    @property
    def pid(self):
        return self.process.pid

    @property
    def out(self):
        return self.out_path.read_bytes()

    @property
    def err(self):
        return self.err_path.read_text(errors="replace")

    @property
    def status(self):
        return self.process.returncode

    def running(self):
        return self.process.poll() is None

    def send(self, number):
        os.kill(self.pid, number)

    def wait(self, seconds=DEADLINE):
        try:
            return self.process.wait(seconds)
        except subprocess.TimeoutExpired:
            text = describe(belonging_to(self.case.base))
            raise AssertionError(f"the launcher did not end within {seconds:.0f} s\n{self.told()}\n{text}") from None

    def part(self, name):
        """The launcher's helper process of that name (pl-guard, pl-console)."""
        def look():
            return next((pid for pid in children(self.pid) if comm(pid) == name), None)
        return wait_until(look, lambda: f"no {name} below {self.pid}:\n{describe(children(self.pid))}\n{self.told()}")

    def guard(self):
        return self.part("pl-guard")

    def trainers(self, count):
        """Pids of the trainers, once there are as many."""
        guard = self.guard()
        return wait_until(lambda: (lambda found: found if len(found) >= count else None)(children(guard)),
                          f"{count} trainers below the guard")

    def told(self):
        out = self.out
        shown = out if len(out) < 3000 else out[:1500] + b"\n[...]\n" + out[-1500:]
        err = self.err
        err = err if len(err) < 12000 else err[:6000] + "\n[...]\n" + err[-6000:]
        return (f"command: {self.command}\nstatus: {self.process.poll()}\n--- stdout\n"
                f"{shown.decode(errors='replace')}\n--- stderr\n{err}")


class _Numbers:
    def __init__(self):
        self._lock, self._value = threading.Lock(), 0

    def __next__(self):
        with self._lock:
            self._value += 1
            return self._value


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
        self.numbers = _Numbers()
        self.launches = []
        self._gates = []
        self.addCleanup(shutil.rmtree, self.base, ignore_errors=True)

    def tearDown(self):
        try:
            if not any(launch.running() for launch in self.launches):
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


def strip_own_lines(data):
    """A worker log without the lines that the launcher wrote into it."""
    return re.sub(rb"(?m)^==== paddle-launch.*\n", b"", data)


# -- a terminal ---------------------------------------------------------------------------------------------------


class Terminal:
    """A pseudo terminal whose session leader (trainers/job_shell.py) starts the launcher as its foreground job, as an
    interactive shell does. `screen` is everything the terminal showed so far."""

    def __init__(self, case, args, *, env=None, program=None):
        self._case = case
        self._master, slave = os.openpty()
        attributes = termios.tcgetattr(slave)
        attributes[1] &= ~termios.OPOST  # "\n" stays "\n" on the screen
        termios.tcsetattr(slave, termios.TCSANOW, attributes)
        order_read, self._orders = os.pipe()
        self._events, event_write = os.pipe()
        command = [sys.executable, "-IS", str(TRAINERS / "job_shell.py"), str(order_read), str(event_write),
                   program or binary(), *map(str, args)]
        self.leader = subprocess.Popen(command, stdin=slave, stdout=slave, stderr=slave, cwd=case.dir,
                                       env=case.environment({"TERM": "xterm", **(env or {})}), start_new_session=True,
                                       pass_fds=(order_read, event_write))
        for fd in (slave, order_read, event_write):
            os.close(fd)
        os.set_blocking(self._events, False)
        self._event_text = b""
        self.events = []
        self._screen = bytearray()
        self._reader = threading.Thread(target=self._follow, daemon=True)
        self._reader.start()
        case.addCleanup(self.close)
        self.pid = int(self.wait_event("started")[1])

    def _follow(self):
        while True:
            try:
                data = os.read(self._master, 65536)
            except OSError as error:
                if error.errno == errno.EINTR:
                    continue
                return
            if not data:
                return
            self._screen += data

    @property
    def screen(self):
        return bytes(self._screen)

    def type(self, data):
        os.write(self._master, data)

    def order(self, word):
        os.write(self._orders, word.encode() + b"\n")

    def _pump(self):
        with contextlib.suppress(BlockingIOError):
            self._event_text += os.read(self._events, 4096)
        while b"\n" in self._event_text:
            line, self._event_text = self._event_text.split(b"\n", 1)
            self.events.append(line.decode().split())

    def wait_event(self, kind, seconds=DEADLINE):
        """Takes the next event of that kind: started PID, stopped SIGNAL, continued, exited CODE, killed SIGNAL."""
        def look():
            self._pump()
            for index, event in enumerate(self.events):
                if event[0] == kind:
                    return self.events.pop(index)
            return None
        return wait_until(look, lambda: f"no event {kind}; events {self.events}\n{self.told()}", seconds)

    def wait_screen(self, text, seconds=DEADLINE):
        wait_until(lambda: text in self.screen, lambda: f"{text!r} is not on the screen\n{self.told()}", seconds)

    def foreground(self):
        return os.tcgetpgrp(self._master)

    def told(self):
        return f"--- screen\n{self.screen.decode(errors='replace')}\n---\n{describe(belonging_to(self._case.base))}"

    def close(self):
        for fd in (self._orders, self._events):
            with contextlib.suppress(OSError):
                os.close(fd)
        if self.leader.poll() is None:
            with contextlib.suppress(subprocess.TimeoutExpired):
                self.leader.wait(5)
        if self.leader.poll() is None:
            self.leader.kill()
            self.leader.wait(5)
        with contextlib.suppress(OSError):
            os.close(self._master)
