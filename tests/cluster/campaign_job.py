# SPDX-License-Identifier: Apache-2.0
"""A job of the campaign as it is seen from outside: its launchers, its processes by what they are, and the marks that
its trainers leave (trainers/marking.c)."""

import contextlib
import dataclasses
import os
import re
import subprocess
import time

from harness import binary, comm, stat_fields

NANO = 1e-9
FRONT = "front"  # the launchers of srun and mpirun are behind one process, which is known by this name
ABORT = re.compile(r"(?m)^ABORT!!! Out of all \d+ trainers, the (\w+).*?=\[([\d,]*)\] was aborted")


@dataclasses.dataclass(frozen=True)
class Mark:
    name: str  # worker.3, server.0
    round: int
    pid: int
    event: str
    at: float  # on the monotonic clock
    host: str


@dataclasses.dataclass(frozen=True)
class Process:
    kind: str  # launcher, guard, console, keeper, helper, trainer
    host: str
    pid: int
    parent: int


class Job:
    def __init__(self, ground, mode, folder, trainer):
        self.ground, self.mode, self.folder, self.trainer = ground, mode, folder, trainer
        self.nodes = []
        self.ranks = {}  # {host: ["worker.0", …]} where they are known before the start
        self.runs = {}  # {host: Popen}, or {FRONT: Popen}
        self.life = 1.0
        self.habit = "mortal"
        self.output = 0  # bytes that each trainer prints
        self.restarts = 0
        self.log_dir = None  # of each host, where it is not in the folder
        self.joins_statuses = False  # mpiexec.hydra ends with all bits of its tasks' statuses, or its own 255 and 9
        self.options = []
        self.env = {}
        self.commands = {}
        self.excused = set()  # pids of trainers that a fault asked to end, and that did so with 0, or in their own time
        self.pipes = {}  # {host: read end of its stdout}, where nobody reads it

    # starting

    def trainer_words(self):
        words = [self.trainer, self.folder / "marks", f"{self.life:.3f}", self.habit]
        return [*words, self.output] if self.output else words

    def start(self, name, host, argv, env=()):
        """A launcher, or what starts launchers, with its output in the folder."""
        how = {}
        if name in self.pipes:
            read, write = os.pipe()
            self.pipes[name], how["stdout"] = read, write
        with open(self.folder / f"out.{name}", "ab") as out, open(self.folder / f"err.{name}", "ab") as err:
            self.commands[name] = list(map(str, argv))
            self.runs[name] = self.ground.start(host, argv, self.folder, {**self.env, **dict(env)},
                                                **{"stdin": subprocess.DEVNULL, "stdout": out, "stderr": err, **how})
        if name in self.pipes:
            os.close(how["stdout"])

    # looking

    @property
    def is_front(self):
        return FRONT in self.runs

    def running(self):
        return any(run.poll() is None for run in self.runs.values())

    def statuses(self):
        return {name: run.poll() for name, run in self.runs.items()}

    def told(self, name):
        with contextlib.suppress(OSError):
            return (self.folder / f"err.{name}").read_text(errors="replace")
        return ""

    def marks(self):
        found = []
        with contextlib.suppress(OSError):
            for line in (self.folder / "marks").read_text().splitlines():
                words = line.split()
                if len(words) == 6:
                    found.append(Mark(words[0], int(words[1]), int(words[2]), words[3], int(words[4]) * NANO, words[5]))
        return found

    def marked(self, event, **wanted):
        return [mark for mark in self.marks() if mark.event == event and
                all(getattr(mark, key) == value for key, value in wanted.items())]

    def aborted(self, name):
        """The names in the last ABORT line that this launcher printed, or None."""
        lines = ABORT.findall(self.told(name))
        if not lines:
            return None
        kind = "server" if lines[-1][0] == "server" else "worker"
        return frozenset(f"{kind}.{number}" for number in lines[-1][1].split(",") if number)

    def workers_are_done(self, host=None):
        """Every worker that began in the last round (there, or anywhere) ended by itself, and there was one: nobody
        had told it to."""
        marks = [mark for mark in self.marks() if mark.name.startswith("worker") and host in (None, mark.host)]
        last = max((mark.round for mark in marks), default=0)
        begun = {mark.pid for mark in marks if mark.event == "begin" and mark.round == last}
        ended = {mark.pid for mark in marks if mark.event == "end"}
        stopped = {mark.pid for mark in marks if mark.event == "term"}  # the stubborn end by themselves all the same
        return bool(begun) and begun <= (ended - stopped) | self.excused

    # processes

    def processes(self, kind=None):
        found = [_process(self, host, pid) for host, pid in self.ground.residents()]
        return [process for process in found if process and kind in (None, process.kind)]

    def launchers(self):
        """The processes of all launchers, from their first moment on."""
        if self.is_front:
            return self.processes("launcher")
        alive = {host: run for host, run in self.runs.items() if run.poll() is None}
        return [Process("launcher", host, run.pid, os.getpid()) for host, run in alive.items()]

    def wait(self, condition, seconds=20.0):
        """The first true value, or None once the job has ended or it took too long."""
        end = time.monotonic() + seconds
        while True:
            running = self.running()
            value = condition()
            if value or not running or time.monotonic() > end:
                return value or None
            time.sleep(0.003)


def _process(job, host, pid):
    """What a resident is to the job; None when it is none of its own."""
    fields = stat_fields(pid)
    with contextlib.suppress(OSError):
        program = os.readlink(f"/proc/{pid}/exe")
        parent = int(fields[1]) if fields else 0
        if program == job.trainer:
            return Process("trainer", host, pid, parent)
        if program == binary():
            return Process(_kind_of(pid, parent), host, pid, parent)
    return None


def _kind_of(pid, parent):
    name = comm(pid)
    if name.startswith("pl-guard"):  # or a trainer that is not executed yet
        return "trainer" if comm(parent).startswith("pl-guard") else "guard"
    if name == "pl-console":
        return "console"
    if name.endswith("keeper"):
        return "keeper"
    is_child = comm(parent) == name
    return "helper" if is_child else "launcher"
