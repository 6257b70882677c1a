# SPDX-License-Identifier: Apache-2.0
"""What a campaign does to the things around a job: disks, consoles, clocks and limits."""

import os
import resource
import select
import signal
import struct
import subprocess
import time

from campaign_faults import LOST, UNHARMED, Expectation, Fault, OnProcess

SMALL = 256 << 10  # bytes of a disk that is soon full
MUCH = 400 << 10  # bytes that a trainer prints
FREEZE_AT_MOST = 30


class Disk(Fault):
    """The logs of one node are on a disk that fills up, is full, cannot be written, or goes away."""
    HOWS = ("fills up", "is full", "is read-only", "goes away")

    def __init__(self, chance):
        super().__init__(chance)
        self.how = chance.choice(self.HOWS)
        self.host = None

    def prepare(self, job):
        self.host = self.some_host(job)
        job.log_dir = f"/tmp/disk-{job.folder.name}"
        # On the hosts that are not hit it is a directory like others.
        for host in ("n1", "n2", "n3"):
            job.ground.do(host, "mkdir", "-p", job.log_dir)
        job.ground.do(self.host, "mount", "-t", "tmpfs", "-o", f"size={SMALL}", "disk", job.log_dir)
        if self.how == "fills up":
            job.output = MUCH
        elif self.how == "is full":
            job.ground.do(self.host, "sh", "-c", f"head -c {SMALL} /dev/zero >{job.log_dir}/fill; true")
        elif self.how == "is read-only":
            job.ground.do(self.host, "mount", "-o", "remount,ro", job.log_dir)
        self.note(f"the disk of {self.host} {self.how}")

    def strike(self, job):
        if self.how == "goes away":
            job.ground.do(self.host, "umount", "-l", job.log_dir)

    def cease(self, job):
        job.ground.do(self.host, "umount", "-l", job.log_dir, check=False)

    def expect(self, job):
        if self.how != "is read-only" or self.host not in job.nodes:
            return Expectation({0}, has_logs=False)
        if job.is_front:
            return Expectation({1, 2}, has_logs=False)
        # The others are told, and an elastic job goes on without it.
        return Expectation({0} if job.mode == "elastic" else {1}, None, {self.host: {2}}, has_logs=False)


class StuckDisk(Fault):
    """The disk with the logs of one node does not answer for a while."""

    def __init__(self, chance):
        super().__init__(chance)
        self.seconds = 10 ** chance.uniform(-1, 0.5)
        self.host = self.rescue = None

    def prepare(self, job):
        self.host = self.some_host(job)
        job.log_dir = f"/tmp/disk-{job.folder.name}"
        image = job.folder / "image"
        with open(image, "wb") as file:
            file.truncate(8 << 20)
        for host in ("n1", "n2", "n3"):
            job.ground.do(host, "mkdir", "-p", job.log_dir)
        job.ground.do(self.host, "mkfs.ext4", "-q", "-O", "^has_journal", image)
        job.ground.do(self.host, "mount", "-o", "loop,noatime", image, job.log_dir)
        # Should the campaign itself be killed, nothing hangs for ever.
        words = ["sh", "-c", f"sleep {FREEZE_AT_MOST}; fsfreeze -u {job.log_dir}"]
        self.rescue = job.ground.start(self.host, words, "/", stderr=subprocess.DEVNULL)

    def strike(self, job):
        job.ground.do(self.host, "fsfreeze", "-f", job.log_dir)
        self.note(f"the disk of {self.host} was stuck for {self.seconds:.1f} s")
        time.sleep(self.seconds)
        self._thaw(job)

    def _thaw(self, job):
        job.ground.do(self.host, "fsfreeze", "-u", job.log_dir, check=False)

    def cease(self, job):
        self._thaw(job)
        job.ground.do(self.host, "umount", "-l", job.log_dir, check=False)
        if self.rescue:
            os.killpg(self.rescue.pid, signal.SIGKILL)
            self.rescue.wait()

    def expect(self, job):
        return Expectation({0}, has_logs=False)


class UnreadConsole(Fault):
    """Nobody reads what one launcher prints, until all others have ended. That alone waits."""
    OTHERS = 30  # seconds, generous

    def __init__(self, chance):
        super().__init__(chance)
        self.host, self.stuck = None, []

    def prepare(self, job):
        self.host = self.some_host(job)
        job.pipes[self.host] = None
        job.output = 10 * MUCH
        job.options.append("--console=all")

    def strike(self, job):
        others = {name: run for name, run in job.runs.items() if name != self.host}
        end = time.monotonic() + self.OTHERS
        while any(run.poll() is None for run in others.values()) and time.monotonic() < end:
            time.sleep(0.02)
        self.stuck = [name for name, run in others.items() if run.poll() is None]
        waited = f"; {' '.join(self.stuck)} waited for it" if self.stuck else ""
        self.note(f"nobody read the console of {self.host}{waited}")
        self._read(job)

    def _read(self, job):
        pipe = job.pipes.get(self.host)
        end = time.monotonic() + 60
        while pipe is not None and time.monotonic() < end:
            if select.select([pipe], [], [], 0.1)[0] and not os.read(pipe, 1 << 16):
                break

    def cease(self, job):
        if job.pipes.get(self.host) is not None:
            os.close(job.pipes[self.host])

    def expect(self, job):
        # Those who waited for somebody else's console ended, but not as they should.
        return Expectation({0}, None, {name: {"before the console was read"} for name in self.stuck})


class Clock(Fault):
    """The wall clock of all launchers jumps, a few times."""

    def __init__(self, chance):
        super().__init__(chance)
        self.jumps = [chance.choice((-1, 1)) * 10 ** chance.uniform(0, 6) for _ in range(chance.choice((1, 3)))]

    def prepare(self, job):
        offset = job.folder / "offset"
        offset.write_bytes(struct.pack("q", 0))
        library = os.path.join(os.path.dirname(job.trainer), "clock.so")
        job.env.update(LD_PRELOAD=library, CLOCK_OFFSET_FILE=str(offset))

    def strike(self, job):
        for jump in self.jumps:
            with open(job.folder / "offset", "r+b") as file:
                file.write(struct.pack("q", int(jump)))
            self.note(f"the clocks jumped to {jump:+.0f} s")
            time.sleep(0.05)


class Limits(OnProcess):
    """Memory or descriptors of one of our processes are used up: it goes on, or ends the job with words."""

    def __init__(self, chance):
        super().__init__(chance)
        self.kind = chance.choice(("launcher", "launcher", "guard", "console"))
        self.what = chance.choice(("NOFILE", "AS", "NPROC"))
        self.room = chance.choice((0, 0, 1, 3))
        if self.what == "AS" and self.anchor == "start":  # before main() it is the C++ runtime that has no words
            self.anchor, self.delay = "running", chance.random()

    def hit(self, job, pid):
        try:
            self._limit(pid)
        except (OSError, ValueError):
            return False
        self.note(f"{self.what} of {self.kind} {pid} on {self.victim.host}: {self.room} left")
        return True

    def _limit(self, pid):
        if self.what == "NOFILE":
            value = len(os.listdir(f"/proc/{pid}/fd")) + self.room
        elif self.what == "AS":
            with open(f"/proc/{pid}/statm") as file:
                value = int(file.read().split()[0]) * os.sysconf("SC_PAGE_SIZE") + (self.room << 18)
        else:
            value = self.room
        number = getattr(resource, f"RLIMIT_{self.what}")
        resource.prlimit(pid, number, (value, value))

    def expect(self, job):
        if self.victim is None:
            return UNHARMED
        # What it starts has its limits too: a trainer may find no memory to be loaded into.
        ends = {0, 1, 127}
        early = set() if job.marked("begin") else {LOST}
        own = {} if job.is_front else {self.victim.host: ends | {LOST, 2}}
        return Expectation(ends | early, None, own, has_logs=False)
