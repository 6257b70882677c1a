# SPDX-License-Identifier: Apache-2.0
"""What a campaign does to the processes of a job: trainers, launchers, guards, consoles, keepers and helpers are
killed, stopped, or stopped and continued."""

import signal
import time

from campaign_faults import KILLED, LOST, UNHARMED, Expectation, OnProcess

from harness import kill_quietly


class KillTrainer(OnProcess):
    SIGNALS = (signal.SIGKILL, signal.SIGSEGV, signal.SIGTERM, signal.SIGABRT, signal.SIGBUS)

    def __init__(self, chance):
        super().__init__(chance)
        self.number = chance.choice(self.SIGNALS)

    def hit(self, job, pid):
        if self.number == signal.SIGTERM and job.habit != "mortal":
            job.excused.add(pid)
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
        anybody = [one for ranks in job.ranks.values() for one in ranks]  # where it died before its first mark
        ranks = [frozenset([one]) for one in ([name] if name else anybody)]
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
        own = {host: {-self.number, 0}} if job.workers_are_done() else {host: {-self.number}}
        if len(job.nodes) == 1 or job.mode == "elastic":
            return Expectation({0}, None, own)
        # The ranks of the node that is gone; nobody is named where no process ran yet.
        ranks = [self.named_for(job, host)] if job.marked("begin") else None
        return Expectation({0, LOST} if job.workers_are_done(host) else {LOST}, ranks, own)

    def named_for(self, job, host):
        """Workers, or servers where the node had nothing else."""
        workers = [name for name in job.ranks[host] if name.startswith("worker")]
        return frozenset(workers or job.ranks[host])


class TypedAgain(KillLauncher):
    """A launcher is killed, and somebody types its command again: the job goes on with it."""

    def __init__(self, chance):
        super().__init__(chance)
        self.seconds = 10 ** chance.uniform(-2, 0.3)

    def candidates(self, job):
        """Not the first node, whose loss ends the job."""
        return [launcher for launcher in job.launchers() if launcher.host != job.nodes[0]]

    def hit(self, job, pid):
        if not self.send(pid, self.number):
            return False
        job.runs[self.victim.host].wait(60)
        if job.mode.startswith("servers"):  # a server that is still being stopped has the port that its list names
            job.wait(lambda: not [one for one in job.processes("trainer") if one.host == self.victim.host])
        time.sleep(self.seconds)
        job.start(self.victim.host, self.victim.host, job.commands[self.victim.host])
        return True

    def expect(self, job):
        if self.victim is None or not job.workers_are_done(self.victim.host):
            return UNHARMED
        # The work was done when it came again: the others may be gone, or have waited for it.
        return Expectation({0, LOST}, None, {self.victim.host: {0, 1, LOST}})


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
        own = {status, -self.number} | done
        if job.is_front:  # where one of them is gone before they have met, srun and mpirun end the others as they like
            return Expectation({status} | done | (set() if job.marked("begin") else {KILLED, LOST}))
        if len(job.nodes) == 1 or job.mode == "elastic":
            return Expectation({0}, None, {host: own})
        if job.marked("begin"):
            return Expectation({status} | done, [None], {host: own})
        # Who is stopped before all have met is missed by the others, or lost in the moment after.
        return Expectation({status, LOST} | done, None, {host: own})


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


class StandStill(OnProcess):
    """Stands still for good, until somebody presses Ctrl-C everywhere: that ends the job in any case."""

    def __init__(self, chance):
        super().__init__(chance)
        self.kind = chance.choice(("trainer", "guard", "console"))
        self.seconds = chance.uniform(0, 0.5)
        self.interrupted = []

    def hit(self, job, pid):
        if not self.send(pid, signal.SIGSTOP):
            return False
        time.sleep(self.seconds)
        self.interrupted = job.launchers()
        for launcher in self.interrupted:
            kill_quietly(launcher.pid, signal.SIGTERM)
        self.note(f"and SIGTERM to {len(self.interrupted)} launchers")
        return True

    def expect(self, job):
        if self.victim is None or not self.interrupted:
            return UNHARMED
        status = 128 + signal.SIGTERM
        done = {0} if job.workers_are_done() else set()
        if not job.marked("begin"):  # who has not met the others yet ends alone, the others miss it
            return Expectation({status, -signal.SIGTERM, LOST, KILLED}, uneven=True)
        if job.mode == "elastic":  # each leaves for itself, and the last finds the job done or stopped
            return Expectation({status, 0, -signal.SIGTERM}, uneven=True)
        return Expectation({status} | done)

    def cease(self, job):
        if self.victim:
            kill_quietly(self.victim.pid, signal.SIGCONT)


class KillKeeper(OnProcess):
    """What speaks with etcd is replaced."""
    kind = "keeper"

    def hit(self, job, pid):
        return self.send(pid, signal.SIGKILL)

    def may_leave_keys(self, job):
        """Where it was about to give them back."""
        return self.victim is not None and all(mark.at < self.hit_at + 0.2 for mark in job.marked("end"))


class KillHelper(OnProcess):
    """The process that meets the others through MPI or PMIx, or asks MUNGE."""
    kind = "helper"

    def happen(self, job):
        """They live for milliseconds; their moment is counted from when there is one."""
        job.wait(lambda: self.candidates(job), 5.0)
        time.sleep(self.delay * 0.1)
        self.strike(job)

    def hit(self, job, pid):
        return self.send(pid, signal.SIGKILL)

    def expect(self, job):
        if self.victim is None:
            return UNHARMED
        # A meeting that failed; srun and mpirun may end the rest of it in their own way.
        return Expectation({0} if job.marked("begin") else {0, 1, LOST, KILLED, 128 + signal.SIGTERM})
