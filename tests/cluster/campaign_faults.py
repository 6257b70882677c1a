# SPDX-License-Identifier: Apache-2.0
"""What a campaign does to the processes of a job, and what must come of it.

A fault waits for its moment, strikes, and notes what it hit. Afterwards expect() says which ends were right, by what
the trainers had marked: not "anything", but the few that the race between the fault and the job's own end allows."""

import dataclasses
import os
import signal
import time

from harness import alive

LOST = 75
KILLED = 128 + signal.SIGKILL


@dataclasses.dataclass
class Expectation:
    """How the launchers may end. `own` are those that were hit themselves; all others end alike, unless `uneven`."""
    statuses: set = dataclasses.field(default_factory=lambda: {0})
    aborted: list = None  # sets of names that the ABORT line may have where the status is none of 0, 2, 130, 143; None: any
    own: dict = dataclasses.field(default_factory=dict)  # {host: statuses}
    uneven: bool = False
    has_logs: bool = True


UNHARMED = Expectation()


def together(first, second):
    """Two faults at once: no harm only where neither does any, else the end that either brings."""
    statuses = first.statuses | second.statuses
    if 0 in statuses and not (0 in first.statuses and 0 in second.statuses):
        statuses = statuses - {0}
    own = {host: first.own.get(host, set()) | second.own.get(host, set()) for host in {*first.own, *second.own}}
    return Expectation(statuses, None, own, True, first.has_logs and second.has_logs)


class Fault:
    """One fault; `chance` decides its details when it is made."""

    def __init__(self, chance):
        self.anchor = chance.choices(("start", "running", "ending"), (4, 5, 1))[0]
        # From the first millisecond on, all magnitudes alike; of the trainers' time any part; the end.
        self.delay = {"start": 10 ** chance.uniform(-3, 0), "running": chance.random() * chance.random(),
                      "ending": chance.uniform(0, 0.05)}[self.anchor]
        self.pick = chance.random()
        self.notes = []

    def prepare(self, job):
        """Before the job starts."""

    def happen(self, job):
        """Waits for the moment and strikes."""
        began = time.monotonic()
        if self.anchor == "running":
            job.wait(lambda: job.marked("begin"))
            time.sleep(self.delay * job.life)
        elif self.anchor == "ending":
            job.wait(lambda: job.marked("end"))
            time.sleep(self.delay)
        else:
            time.sleep(max(0.0, began + self.delay - time.monotonic()))
        self.strike(job)

    def strike(self, job):
        """Nothing, unless a fault says what."""

    def expect(self, job):
        return UNHARMED

    def cease(self, job):
        """After the job, whatever came of it."""

    def note(self, *words):
        self.notes.append(" ".join(map(str, words)))

    def choose(self, items):
        return items[int(self.pick * len(items))] if items else None


class OnProcess(Fault):
    """Strikes one process of a kind, when there is one."""
    kind = "trainer"

    def __init__(self, chance):
        super().__init__(chance)
        self.victim = None
        self.hit_at = None

    def candidates(self, job):
        return job.launchers() if self.kind == "launcher" else job.processes(self.kind)

    def strike(self, job):
        found = job.wait(lambda: self.candidates(job), 5.0)
        self.victim = self.choose(sorted(found or [], key=lambda process: (process.host, process.pid)))
        if self.victim is None:
            self.note(f"no {self.kind} was there")
            return
        self.hit_at = time.monotonic()
        if not self.hit(job, self.victim.pid):
            self.note(f"{self.kind} {self.victim.pid} on {self.victim.host} was gone")
            self.victim = None

    def hit(self, job, pid):
        raise NotImplementedError

    def send(self, pid, number):
        """False when it had ended."""
        if not alive(pid):
            return False
        try:
            os.kill(pid, number)
        except ProcessLookupError:
            return False
        self.note(f"{signal.Signals(number).name} to {self.kind} {pid} on {self.victim.host}")
        return True


class KillTrainer(OnProcess):
    SIGNALS = (signal.SIGKILL, signal.SIGSEGV, signal.SIGTERM, signal.SIGABRT, signal.SIGBUS)

    def __init__(self, chance):
        super().__init__(chance)
        self.number = chance.choice(self.SIGNALS)

    def hit(self, job, pid):
        return self.send(pid, self.number)

    def expect(self, job):
        if self.victim is None:
            return UNHARMED
        marks = [mark for mark in job.marks() if mark.pid == self.victim.pid]
        events = {mark.event for mark in marks}
        name = marks[0].name if marks else None
        is_server = (name or "").startswith("server")
        if self.number == signal.SIGTERM and job.habit != "mortal" and "term" in events:
            # It ended with 0 by itself, or did not mind; a server that is gone is a failure all the same, and so is a
            # program that was killed before it could mind.
            return Expectation({0, 128 + self.number} if is_server else {0})
        status = 128 + self.number
        ranks = [frozenset([name])] if name else [frozenset([one]) for all_ranks in job.ranks.values() for one in all_ranks]
        if job.restarts:
            return UNHARMED
        # It was on its way out, or a server that nobody needed any longer.
        if "end" in events or (is_server and job.workers_are_done()):
            return Expectation({0, status}, ranks)
        return Expectation({status}, ranks)


class KillLauncher(OnProcess):
    kind = "launcher"
    number = signal.SIGKILL

    def hit(self, job, pid):
        return self.send(pid, self.number)

    def expect(self, job):
        if self.victim is None:
            return UNHARMED
        host = self.victim.host
        if job.is_front:  # srun and mpirun end as the worst of theirs did
            return Expectation({KILLED, 0, LOST} if job.workers_are_done() else {KILLED}, None)
        own = {host: {-self.number, 0}} if job.workers_are_done(host) else {host: {-self.number}}
        if len(job.nodes) == 1 or job.mode == "elastic":
            return Expectation({0}, None, own)
        # The ranks of the node that is gone; nobody is named where no process ran yet.
        ranks = [self.named_for(job, host)] if job.marked("begin") else None
        return Expectation({0, LOST} if job.workers_are_done(host) else {LOST}, ranks, own)

    def named_for(self, job, host):
        """Workers, or servers where the node had nothing else."""
        workers = [name for name in job.ranks[host] if name.startswith("worker")]
        return frozenset(workers or job.ranks[host])


class SignalLauncher(OnProcess):
    """A user's Ctrl-C, or a scheduler's SIGTERM, at one of the launchers."""
    kind = "launcher"

    def __init__(self, chance):
        super().__init__(chance)
        self.number = chance.choice((signal.SIGTERM, signal.SIGINT, signal.SIGHUP))

    def hit(self, job, pid):
        return self.send(pid, self.number)

    def expect(self, job):
        if self.victim is None:
            return UNHARMED
        status, host = 128 + self.number, self.victim.host
        done = {0} if job.workers_are_done() else set()
        # Before the launcher knows of signals they do what the kernel does.
        own = {status, -self.number} | ({0} if job.workers_are_done(host) else set())
        if job.is_front:
            return Expectation({status} | done)
        if len(job.nodes) == 1:
            return Expectation({status}, None, {host: own})
        if job.mode == "elastic":
            return Expectation({0}, None, {host: own})
        # Who is stopped before all have met is missed by the others.
        early = set() if job.marked("begin") else {LOST}
        return Expectation({status} | done | early, None, {host: own})


class KillGuard(OnProcess):
    kind = "guard"

    def hit(self, job, pid):
        return self.send(pid, signal.SIGKILL)

    def expect(self, job):
        if self.victim is None or job.restarts:
            return UNHARMED
        return Expectation({0, 1} if job.workers_are_done(self.victim.host) else {1}, None)


class KillConsole(OnProcess):
    """Nothing depends on it."""
    kind = "console"

    def hit(self, job, pid):
        return self.send(pid, signal.SIGKILL)


class Pause(OnProcess):
    """Stands still for a while; nobody is lost by that."""

    def __init__(self, chance):
        super().__init__(chance)
        self.kind = chance.choice(("trainer", "launcher", "guard", "console"))
        self.seconds = 10 ** chance.uniform(-2, 0.5)

    def hit(self, job, pid):
        if not self.send(pid, signal.SIGSTOP):
            return False
        time.sleep(self.seconds)
        self.send(pid, signal.SIGCONT)
        return True

    def cease(self, job):
        if self.victim:
            self.send(self.victim.pid, signal.SIGCONT)
