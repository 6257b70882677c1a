# SPDX-License-Identifier: Apache-2.0
"""Where the runs of a campaign take place: four test hosts with Slurm, and an etcd on the last. It is kept from run to
run, and made anew when a run has left it in a state that no run may begin with."""

import contextlib
import os
import subprocess
import time

from etcd_server import EtcdServer
from front_end import PATH
from host_set import HostSet
from slurm_cluster import DAEMONS, SlurmCluster, program_of
from test_hosts import TestHosts

from harness import binary, kill_quietly

SEEN_BY_ALL = "/var/tmp"  # a host's /tmp is its own
HOSTS = ("n1", "n2", "n3")  # that launchers run on
ETCD_HOST = "n4"
ENVIRONMENT = {"PATH": PATH, "HOME": "/root", "USER": "root", "LOGNAME": "root", "LANG": "C", "SHELL": "/bin/sh",
               "PADDLE_LAUNCH_TOKEN": "a token of the campaign, long enough"}


class Ground:
    def __init__(self, shares):
        self._shares = shares
        self._made = None

    # what there is; all of it is made when it is first asked for

    @property
    def hosts(self):
        if self._made is None:
            self._made = TestHosts(count=4, share=self._shares)
            self._made.__enter__()
            self._set = HostSet(self._made.state)
            self._slurm = self._etcd = None
        return self._made

    @property
    def slurm(self):
        if self.hosts and self._slurm is None:
            self._slurm = SlurmCluster(self.hosts, KillWait=5)
            self._slurm.__enter__()
        return self._slurm

    @property
    def etcd(self):
        if self.hosts and self._etcd is None:
            self._etcd = EtcdServer(self.hosts, ETCD_HOST).start()
        return self._etcd

    def address(self, host):
        return self.hosts.address(host)

    def down(self):
        """Whatever is there vanishes with the hosts."""
        if self._made is None:
            return
        made, self._made = self._made, None
        for part in (self._etcd, self._slurm):
            with contextlib.suppress(Exception):  # it may be the fault itself that is in the way
                part and part.stop()
        with contextlib.suppress(RuntimeError):
            made.down()

    # what runs there

    def inside(self, host, argv, folder="/"):
        """A command line that runs another on a host; its pid stays the same."""
        keeper = self.hosts.state["hosts"][host]["pid"]
        return ["nsenter", f"--target={keeper}", "--net", "--mount", "--uts", f"--wdns={folder}", *map(str, argv)]

    def start(self, host, argv, folder, env=(), **how):
        return subprocess.Popen(self.inside(host, argv, folder), env={**ENVIRONMENT, **dict(env)}, cwd="/",
                                start_new_session=True, **how)

    def do(self, host, *argv, check=True, **how):
        return subprocess.run(self.inside(host, argv), env=ENVIRONMENT, check=check, text=True, capture_output=True,
                              timeout=60, **how)

    def at_switch(self, *argv, check=True):
        """A command in the network of the switch, where the far ends of all cables are."""
        keeper = self.hosts.state["switch"]["pid"]
        words = ["nsenter", f"--target={keeper}", "--net", *argv]
        return subprocess.run(words, env=ENVIRONMENT, check=check, text=True, capture_output=True, timeout=60)

    def residents(self):
        """(host, pid) of all that runs there and is no daemon of the ground."""
        if self._made is None:
            return []
        return [(host, pid) for host, pid in self._set.members()
                if pid not in EtcdServer.pids and program_of(pid) not in (*DAEMONS, "")]

    def clear(self, patience=5.0):
        """Kills who is left after a while: what srun and mpirun leave ends by itself, a little later than they do. True
        when somebody was killed."""
        end = time.monotonic() + patience
        killed = False
        while left := self.residents():
            if time.monotonic() > end:
                killed = True
                for _, pid in left:
                    kill_quietly(pid)
            time.sleep(0.02)
        return killed

    def keys_left(self, job_id, seconds=10.0):
        """Keys of an elastic job that has ended, if they do not vanish."""
        end = time.monotonic() + seconds
        while left := [key for key in self.etcd.keys() if key.startswith(f"/paddle/{job_id}/")]:
            if time.monotonic() > end:
                return left
            time.sleep(0.2)
        return []


def shares():
    """Directories that must be seen on the hosts even where they are below /tmp."""
    return [os.path.dirname(binary()), os.path.dirname(os.path.dirname(binary()))]
