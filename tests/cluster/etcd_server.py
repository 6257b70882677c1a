# SPDX-License-Identifier: Apache-2.0
"""A real etcd on a test host, with everything it writes in that host's own /tmp."""

import contextlib
import os
import signal
import subprocess
import unittest

from front_end import require_programs
from test_hosts import HOSTS

from harness import wait_until

PORT = 2379
PASSWORD = "a password: with, odd letters"


_servers = []  # of the module that is running


def require_etcd():
    require_programs("etcd", "etcdctl")


def shared_etcd(make):
    """One server for all classes of a module."""
    if not _servers:
        _servers.append(make().start())
        unittest.addModuleCleanup(lambda: _servers.pop().stop())
    return _servers[0]


class EtcdServer:
    pids = set()  # of those that run

    def __init__(self, hosts, host, name="etcd", port=PORT):
        self._hosts, self._host, self._name = hosts, host, name
        self.address = f"{hosts.address(host)}:{port}"
        self._port = port
        self._process = None
        self._user = []

    def start(self):
        """Also again after stop(), with what it knew then."""
        self._process = self._hosts.run(self._host, self.command(), cwd="/", stdin=subprocess.DEVNULL,
                                        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        self.pids.add(self._process.pid)
        wait_until(lambda: self.ctl("endpoint", "health", check=False).returncode == 0, "etcd to answer")
        return self

    def command(self):
        client, peer = f"http://{self.address}", f"http://127.0.0.1:{self._port + 1}"
        return ["etcd", "--name", "test", "--data-dir", f"/tmp/{self._name}", "--listen-client-urls", client,
                "--advertise-client-urls", client, "--listen-peer-urls", peer, "--initial-advertise-peer-urls", peer,
                "--initial-cluster", f"test={peer}", "--heartbeat-interval", "20", "--election-timeout", "200"]

    def stop(self):
        if self._process is None:
            return
        with contextlib.suppress(ProcessLookupError):
            os.kill(self._process.pid, signal.SIGKILL)
        self._process.wait(30)
        self.pids.remove(self._process.pid)
        self._process = None

    def runs(self):
        return self._process is not None

    def send(self, number):
        os.kill(self._process.pid, number)

    def ctl(self, *words, check=True):
        return subprocess.run(
            [*HOSTS, "run", "--name", self._hosts.name, self._host, "env", "ETCDCTL_API=3", "etcdctl", "--endpoints",
             self.address, *self._user, *words], cwd="/", check=check, text=True, capture_output=True, timeout=60)

    def keys(self):
        """All there are."""
        return [line for line in self.ctl("get", "--prefix", "/", "--keys-only").stdout.splitlines() if line]

    def switch_authentication_on(self):
        """Users: root, and "trainer", who may use /paddle/ alone."""
        for words in (("user", "add", f"root:{PASSWORD}"), ("role", "add", "root"),
                      ("user", "grant-role", "root", "root"), ("user", "add", f"trainer:{PASSWORD}"),
                      ("role", "add", "jobs"), ("role", "grant-permission", "jobs", "--prefix=true", "readwrite", "/paddle/"),
                      ("user", "grant-role", "trainer", "jobs"), ("auth", "enable")):
            self.ctl(*words)
        self._user = ["--user", f"root:{PASSWORD}"]
