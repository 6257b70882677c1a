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
        return subprocess.run(["nsenter", f"--target={keeper}", "--net", *argv], env=ENVIRONMENT, check=check, text=True,
                              capture_output=True, timeout=60)

    def residents(self):
        """(host, pid) of all that runs there and is no daemon of the ground."""
        if self._made is None:
            return []
        return [(host, pid) for host, pid in self._set.members()
                if pid not in EtcdServer.pids and program_of(pid) not in (*DAEMONS, "")]

    def clear(self):
        """Kills who is left."""
        for _ in range(100):
            left = self.residents()
            if not left:
                return
            for _, pid in left:
                kill_quietly(pid)
            time.sleep(0.02)

    def settle(self, mode):
        """Makes sure that the next run finds what this one found."""
        if self._made is None:
            return
        try:
            if mode.startswith("srun") and self._slurm:
                self._slurm.cancel_all()
            if mode.startswith("elastic") and self._etcd:
                self._etcd.ctl("del", "--prefix", "/")
        except Exception:  # whatever it is: a new ground is a good one
            self.down()


def shares():
    """Directories that must be seen on the hosts even where they are below /tmp."""
    return [os.path.dirname(binary()), os.path.dirname(os.path.dirname(binary()))]
