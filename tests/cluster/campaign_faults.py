# SPDX-License-Identifier: Apache-2.0
"""What a fault of a campaign is, and what must come of it.

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
    aborted: list = None  # sets of names that the ABORT line may have, None among them for no such line; None: any
    own: dict = dataclasses.field(default_factory=dict)  # {host: statuses}
    uneven: bool = False
    has_logs: bool = True


UNHARMED = Expectation()


def together(first, second):
    """Two faults at once: no harm only where neither does any, else the end that either brings. Nodes agree on one of
    the two, unless a launcher was among the victims: whoever loses the hub judges by what it knows."""
    statuses = first.statuses | second.statuses
    if 0 in statuses and not (0 in first.statuses and 0 in second.statuses):
        statuses = statuses - {0}
    own = {host: _own(host, first, second) for host in {*first.own, *second.own}}
    both_harm = first.statuses != {0} and second.statuses != {0}
    uneven = first.uneven or second.uneven or (both_harm and bool(own))
    return Expectation(statuses, _either_or_both(first, second), own, uneven, first.has_logs and second.has_logs)


def _own(host, first, second):
    """A launcher that was hit and lives may end as the other fault has it."""
    ends = first.own.get(host, set()) | second.own.get(host, set())
    return ends | first.statuses | second.statuses if max(ends) > 0 else ends


def _either_or_both(first, second):
    """What the ABORT line may name."""
    harm = [one for one in (first, second) if one.statuses != {0}]
    if len(harm) == 1:
        return harm[0].aborted
    if None in (first.aborted, second.aborted):
        return None
    pairs = [one | two for one in first.aborted for two in second.aborted if one and two]
    return [*first.aborted, *second.aborted, *pairs]


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

    def may_leave_keys(self, job):
        """Whether etcd may still know of the job when it has ended, until its leases end too."""
        return False

    def cease(self, job):
        """After the job, whatever came of it."""

    def note(self, *words):
        self.notes.append(" ".join(map(str, words)))

    def some_host(self, job):
        """One that the job will have, before it starts; a job with servers may be on n1 alone."""
        return "n1" if job.mode.startswith("solo") or self.pick < 0.5 else "n2"

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
