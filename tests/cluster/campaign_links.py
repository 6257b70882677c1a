# SPDX-License-Identifier: Apache-2.0
"""What a campaign does to the network of a job: cables that are pulled, slow or lose packets, and strangers at every
port that a launcher opens."""

import time

from campaign_faults import KILLED, LOST, UNHARMED, Expectation, Fault
from campaign_modes import HEARTBEAT
from host_set import INTERFACE
from port_attack import PortAttack

SURVIVED = 3.0  # seconds of a cut that do no harm with that --heartbeat
NOTICED = HEARTBEAT + 2  # after so long both ends know that the other is gone
# Where the kernel has no netem: a classic filter that says "drop" (2) once in twenty times, by the kernel's own dice.
DICE = "4,32 0 0 4294963256,37 0 1 {},6 0 0 2,6 0 0 0"


class Cut(Fault):
    """A cable is pulled for a while."""
    SECONDS = (0.5, 20)

    def __init__(self, chance):
        super().__init__(chance)
        self.seconds = chance.choice((chance.uniform(0.1, 0.8 * SURVIVED), chance.uniform(*self.SECONDS)))
        self.outlives = chance.random() < 0.7
        self.host = None

    def prepare(self, job):
        if job.mode.startswith(("srun", "mpirun")):  # what a long cut does to srun and mpirun is their affair
            self.seconds = min(self.seconds, 0.8 * SURVIVED)
        if self.outlives:
            job.life = max(job.life, min(self.seconds, NOTICED) + 1)

    def strike(self, job):
        self.host = self.choose(job.nodes)
        began = time.monotonic()
        job.ground.at_switch("ip", "link", "set", "dev", self.host, "nomaster")
        end = time.monotonic() + self.seconds
        while time.monotonic() < end and job.running():
            time.sleep(0.02)
        self.cease(job)
        self.seconds = time.monotonic() - began  # longer than planned on a loaded machine
        self.note(f"{self.host} was cut for {self.seconds:.1f} s")

    def cease(self, job):
        if self.host:
            job.ground.at_switch("ip", "link", "set", "dev", self.host, "master", "switch")

    def expect(self, job):
        if self.seconds <= SURVIVED or len(job.nodes) == 1:
            return UNHARMED
        if job.mode == "elastic":
            return Expectation({0}, None, {self.host: {0, LOST}})
        if job.is_front:  # its own affairs again, where a short cut became a long one
            return Expectation({0, 1, LOST, KILLED})
        if self.seconds < NOTICED or job.restarts or not job.marked("begin") or job.workers_are_done():
            # Either end may have noticed; when all are done, one of them may know it and the other not.
            return Expectation({0, LOST}, uneven=True)
        return Expectation({LOST})


class BadLink(Fault):
    """A cable that loses one packet in twenty, or is slow, from the beginning to the end."""

    def __init__(self, chance):
        super().__init__(chance)
        self.how = chance.choice((["netem", "loss", "5%"], ["netem", "delay", "40ms", "20ms"]))
        self.host = None

    def prepare(self, job):
        self.host = self.some_host(job)
        done = job.ground.do(self.host, "tc", "qdisc", "replace", "dev", INTERFACE, "root", *self.how, check=False)
        if done.returncode != 0:
            self._without_netem(job)
        self.note(f"{self.host}: {' '.join(self.how)}{'' if done.returncode == 0 else ', without netem'}")

    def _without_netem(self, job):
        if "delay" in self.how:
            job.ground.do(self.host, "tc", "qdisc", "replace", "dev", INTERFACE, "root", "tbf", "rate", "256kbit",
                          "burst", "2kb", "latency", "400ms")
            return
        job.ground.do(self.host, "tc", "qdisc", "replace", "dev", INTERFACE, "clsact")
        for way in ("ingress", "egress"):
            job.ground.do(self.host, "tc", "filter", "add", "dev", INTERFACE, way, "bpf", "bytecode",
                          DICE.format(2**32 // 20 * 19), "direct-action")

    def cease(self, job):
        if self.host:
            for what in ("root", "clsact"):
                job.ground.do(self.host, "tc", "qdisc", "del", "dev", INTERFACE, what, check=False)


class Strangers(Fault):
    """Resets, garbage and floods at every port of ours, from the moment it is open."""

    def __init__(self, chance):
        super().__init__(chance)
        self.seed = chance.randrange(1 << 30)
        self.attack = None

    def prepare(self, job):
        job.life = max(job.life, 0.8)
        self.attack = PortAttack(job.ground.hosts.name, seed=self.seed)
        self.attack.__enter__()

    def expect(self, job):
        # The meeting of a scheduler's tasks has ports of MPI's own, and MPI does not bear strangers: that is told, and
        # ends the meeting. Nothing else does.
        return Expectation({0, LOST}) if job.is_front and not job.marked("begin") else UNHARMED

    def cease(self, job):
        attack, self.attack = self.attack, None
        if attack:
            attack.__exit__()
            self.note(f"{attack.count()} visits at {len(attack.visits)} ports")
