# SPDX-License-Identifier: Apache-2.0
"""Test hosts for Python's unittest:

    def setUpModule():
        require_test_hosts()

    with TestHosts(count=2, share=[self.base]) as hosts:
        run = hosts.run("n1", ["hostname"], stdout=subprocess.PIPE)

They vanish with the process that made them, however it ends.
"""

import functools
import itertools
import json
import os
import pathlib
import subprocess
import sys
import unittest

HERE = pathlib.Path(__file__).resolve().parent
sys.path.append(str(HERE.parent / "end_to_end"))  # harness.py

HOSTS = [sys.executable, "-SE", str(HERE / "hosts")]
REQUIRED = "PADDLE_LAUNCH_REQUIRE_TEST_HOSTS"  # 1: a machine without test hosts fails the tests, as in CI
REFUSED = 77
SITE = os.environ.get("PADDLE_LAUNCH_TEST_SITE")  # the files of another Debian, as tests/sites makes them

_numbers = itertools.count(1)


class Refused(Exception):
    """There can be no test hosts on this machine."""


def require_test_hosts():
    """Skips where test hosts cannot be made, and says why; fails instead where they are required."""
    refusal = _refusal()
    if refusal is None:
        return
    if os.environ.get(REQUIRED) == "1":
        raise AssertionError(f"{REQUIRED}=1, but {refusal}")
    raise unittest.SkipTest(refusal)


@functools.cache
def _refusal():
    try:
        with TestHosts(count=1):
            return None
    except Refused as error:
        return str(error)


class TestHosts:
    """A set of hosts n1, n2, … while the "with" lasts. Its end kills what still runs on them."""

    __test__ = False  # for pytest

    def __init__(self, count=4, *, debian_names=False, aliases=(), share=(), subnet=None, name=None, root=SITE):
        self.name = name or f"test-{os.getpid()}-{next(_numbers)}"
        self._make = ["--count", str(count), "--while", str(os.getpid()), "--json"]
        self._make += ["--debian-names"] if debian_names else []
        self._make += ["--subnet", subnet] if subnet else []
        for alias in aliases:  # "n1=node1.example.com"
            self._make += ["--alias", alias]
        self._make += ["--root", root] if root else []
        for path in share:
            self._make += ["--share", str(path)]
        self.state = None

    def __enter__(self):
        made = subprocess.run([*HOSTS, "up", "--name", self.name, *self._make], capture_output=True, text=True)
        if made.returncode == REFUSED:
            raise Refused(made.stderr.strip())
        if made.returncode != 0:
            raise RuntimeError(f"hosts up ended with {made.returncode}: {made.stderr}")
        self.state = json.loads(made.stdout)
        return self

    def __exit__(self, *_):
        self.down()

    def down(self):
        """Removes the set; says whom it had to kill."""
        return self._do("down")

    # what there is

    @property
    def names(self):
        return list(self.state["hosts"])

    def address(self, host):
        return self.state["hosts"][host]["address"]

    def keepers(self):
        """Pids of the processes that hold the set."""
        return [keeper["pid"] for keeper in (self.state["switch"], *self.state["hosts"].values())]

    def path(self, host, path):
        """Where a path of the host can be reached from outside: its /tmp is its own."""
        return pathlib.Path(f"/proc/{self.state['hosts'][host]['pid']}/root") / str(path).lstrip("/")

    def leftovers(self):
        """(host, pid, command line) of all processes that live on the hosts."""
        return [tuple(row) for row in json.loads(self._do("leftovers", "--json"))]

    # what runs there

    def run(self, host, argv, **popen):
        """A Popen whose pid, signals and exit status are those of the command itself. The working directory must be on
        the host: not below /tmp, or shared."""
        return subprocess.Popen([*HOSTS, "run", "--name", self.name, host, *map(str, argv)], **popen)

    def output(self, host, argv, **how):
        """What the command wrote to stdout; CalledProcessError unless it ended with 0."""
        return subprocess.run([*HOSTS, "run", "--name", self.name, host, *map(str, argv)], check=True, text=True,
                              stdout=subprocess.PIPE, **how).stdout

    # what goes wrong

    def cut(self, host):
        self._do("cut", host)

    def restore(self, host):
        self._do("restore", host)

    def block(self, first, second, *, reject=False):
        self._do("block", first, second, *(["--reject"] if reject else []))

    def unblock(self, first, second):
        self._do("unblock", first, second)

    def _do(self, command, *args):
        done = subprocess.run([*HOSTS, command, "--name", self.name, *args], capture_output=True, text=True)
        if done.returncode != 0:
            raise RuntimeError(f"hosts {command} ended with {done.returncode}: {done.stderr}")
        return done.stdout
