# SPDX-License-Identifier: Apache-2.0
"""What a campaign does to the etcd of an elastic job."""

import contextlib
import signal
import time

from campaign_faults import LOST, Expectation, Fault


class Etcd(Fault):
    """etcd stands still, is restarted, or loses or garbles what it knows. A running round needs none of it."""
    HOWS = ("stands still", "restarts", "is gone", "forgets all", "forgets a node", "garbles the job",
            "garbles the round", "garbles a node")

    def __init__(self, chance):
        super().__init__(chance)
        self.how = chance.choice(self.HOWS)
        self.seconds = 10 ** chance.uniform(-1, 0.5)
        self.late = []

    def prepare(self, job):
        job.life = max(job.life, 0.8)

    def happen(self, job):
        job.wait(lambda: {mark.host for mark in job.marked("begin")} >= set(job.nodes))
        time.sleep(self.delay * job.life)
        self.late = [host for host in job.nodes if not job.marked("begin", host=host)]
        self.note(f"etcd {self.how}")
        self.strike(job)

    def strike(self, job):
        etcd, prefix = job.ground.etcd, f"/paddle/{job.folder.name}/"
        if self.how == "stands still":
            etcd.send(signal.SIGSTOP)
            time.sleep(self.seconds)
            etcd.send(signal.SIGCONT)
        elif self.how in ("restarts", "is gone"):
            etcd.stop()
            time.sleep(self.seconds)
            if self.how == "restarts":
                etcd.start()
        elif self.how == "forgets all":
            etcd.ctl("del", "--prefix", prefix)
        else:
            self._change_a_key(etcd, prefix)

    def _change_a_key(self, etcd, prefix):
        pods = [key for key in etcd.keys() if key.startswith(f"{prefix}pods/")]
        key = {"job": f"{prefix}job", "round": f"{prefix}round"}.get(self.how.split()[-1], self.choose(sorted(pods)))
        if key and self.how.startswith("forgets"):
            etcd.ctl("del", key)
        elif key:
            etcd.ctl("put", key, "hello {")

    def cease(self, job):
        with contextlib.suppress(Exception):
            job.ground.etcd.send(signal.SIGCONT)
        if self.how in ("restarts", "is gone") and not job.ground.etcd.runs():
            job.ground.etcd.start()

    def may_leave_keys(self, job):
        return True

    def expect(self, job):
        # A node that had not met the others yet needs etcd for that.
        return Expectation({0}, None, {host: {0, LOST, 2} for host in self.late})
