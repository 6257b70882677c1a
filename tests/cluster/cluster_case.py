# SPDX-License-Identifier: Apache-2.0
"""Launchers on four test hosts, n1 … n4. All of them see the test's directory; nothing may be left on any host when a
test ends."""

import os
import signal
import tempfile
import unittest
from unittest import mock

from test_hosts import HOSTS, TestHosts, require_test_hosts

from harness import (DEADLINE, Launch, LauncherCase, binary, describe, kill_quietly, variables_in,
                     wait_until)

SEEN_BY_ALL = "/var/tmp"  # a host's /tmp is its own
PER_NODE = 2


_sets = {}  # of the module that is running, by their options


def shared_hosts(options, shared=()):
    """One set of hosts for all classes of a module that want the same."""
    key = (*sorted(options.items()), *shared)
    if key not in _sets:
        if not _sets:
            unittest.addModuleCleanup(_sets.clear)
        _sets[key] = unittest.enterModuleContext(TestHosts(share=[os.path.dirname(binary()), *shared], **options))
    return _sets[key]


class ClusterCase(LauncherCase):
    HOSTS = {}  # options of TestHosts
    SHARED = ()  # directories that the hosts see even where they are below /tmp, beside the binary's

    @classmethod
    def setUpClass(cls):
        require_test_hosts()
        cls.hosts = shared_hosts(cls.HOSTS, cls.SHARED)
        cls.names = cls.hosts.names
        cls.addresses = [cls.hosts.address(name) for name in cls.names]
        cls.ips = ",".join(cls.addresses)

    def setUp(self):
        with mock.patch.object(tempfile, "tempdir", SEEN_BY_ALL):
            super().setUp()

    def tearDown(self):
        try:
            super().tearDown()
            self.assertEqual(self.leftovers(), [])
        finally:
            for _, pid, _ in self.leftovers():
                kill_quietly(pid)

    def leftovers(self):
        """(host, pid, command line) of all that runs on the hosts and should not when a test ends."""
        return self.hosts.leftovers()

    # starting

    def start_on(self, host, *args, **how):
        """A launcher there, with just these arguments."""
        return Launch(self, args, prefix=[*HOSTS, "run", "--name", self.hosts.name, host], **how)

    def usual(self, host, ips=None):
        """What a user types on every node, with a log directory of the host's own."""
        return [f"--ips={ips or self.ips}", f"--nproc_per_node={PER_NODE}", f"--log_dir=log.{host}"]

    def start_node(self, host, *args, ips=None, **how):
        return self.start_on(host, *self.usual(host, ips), *args, **how)

    def start_nodes(self, *args, hosts=None, **how):
        """The same on all of these hosts; {host: Launch}."""
        return {host: self.start_node(host, *args, **how) for host in hosts or self.names}

    def wait_all(self, runs, seconds=DEADLINE):
        """The exit status of each."""
        for run in runs.values():
            run.wait(seconds)
        return {host: run.status for host, run in runs.items()}

    # harm

    def kill_launcher(self, run):
        """Returns when it is gone; its guard and its trainers may still be there."""
        run.send(signal.SIGKILL)
        run.wait()

    # claims

    def wait_none_left(self):
        left = []
        def look():
            left[:] = [pid for _, pid, _ in self.hosts.leftovers()]
            return not left
        wait_until(look, lambda: f"left behind:\n{describe(left)}")

    def wait_all_told(self, runs, text):
        for run in runs.values():
            self.wait_told(run, text)

    def wait_all_ready(self, runs, world):
        """The pids of the trainers by rank; they ran READY or HOLD."""
        def look():
            for run in runs.values():
                self.assertTrue(run.running(), run.told())
            return all((self.dir / f"ready.{rank}").exists() for rank in range(world))
        wait_until(look, lambda: self.all_told(runs))
        return {rank: int(self.read(f"ready.{rank}")) for rank in range(world)}

    def assert_all_end(self, runs, status, seconds=DEADLINE):
        ended = self.wait_all(runs, seconds)
        self.assertEqual(ended, dict.fromkeys(runs, status), self.all_told(runs))

    def assert_all_told(self, runs, *texts):
        for run in runs.values():
            self.assert_told(run, *texts)

    def all_told(self, runs):
        return "\n".join(f"=== {host}\n{run.told()}" for host, run in runs.items())

    def ranks_of(self, host, per_node=PER_NODE):
        first = self.names.index(host) * per_node
        return list(range(first, first + per_node))

    def environment_of(self, rank):
        """What a trainer wrote with `env >env.RANK`."""
        return variables_in(self.read(f"env.{rank}"))
