# SPDX-License-Identifier: Apache-2.0
"""Strangers at every TCP port that a launcher or one of its own processes (guard, meeting, keeper) opens, from the
moment it is there: connections that are reset, garbage, a good beginning and then garbage, silence, floods.

    with PortAttack(self.hosts.name, self.base) as attack:
        …                                # a job on test hosts, or on this machine
    attack.visits                        # {"n1 10.77.0.1:6060 INODE": {"reset": 120, …}, …}

A port of a test host is attacked from another host of the set, one of loopback from its own host. On this machine only
processes with the test's mark are looked at, and only loopback is used. Trainers have the ports of their own left alone
unless trainers=True, and so have MPI and PMIx, in the process that meets through them, with mpi=False. All that is thrown is bounded: see visits.py, and MOST_SECONDS.

As a program:  port_attack.py BINARY SET|- MARK|- SEED [trainers] [mpi], until stdin ends; prints "there", then the visits.
"""

import collections
import contextlib
import json
import os
import pathlib
import random
import select
import subprocess
import sys
import threading
import time

import host_set
from listening import Network, sockets_of
from visits import Target, Visit

HERE = pathlib.Path(__file__).resolve().parent
MARK = "LAUNCH_TEST_MARK"  # as in end_to_end/processes.py
MOST_SECONDS = 300
LOOK = 0.005  # seconds between two looks for new ports
ANY = "0.0.0.0"


class PortAttack:
    """For tests; the attack is a process of its own, so that a busy test does not slow it down."""

    def __init__(self, hosts=None, mark=None, *, trainers=False, mpi=True, seed=0, program=None):
        self._words = [str(program or os.environ["PADDLE_LAUNCH_BINARY"]), hosts or "-", str(mark or "-"), str(seed),
                       *(["trainers"] if trainers else []), *(["mpi"] if mpi else [])]
        self.visits = {}

    def __enter__(self):
        self._process = subprocess.Popen([sys.executable, "-E", str(HERE / "port_attack.py"), *self._words],
                                         stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        if self._process.stdout.readline() != "there\n":
            raise AssertionError("the attack did not begin")
        return self

    def __exit__(self, *_):
        out = self._process.communicate(timeout=60)[0]
        if self._process.returncode != 0:
            raise AssertionError(f"the attack ended with {self._process.returncode}")
        self.visits = json.loads(out)

    def count(self, kind=None):
        """Of all visits that were received, or those of a kind."""
        return sum(number for kinds in self.visits.values() for name, number in kinds.items() if kind in (None, name))


# -- the program -----------------------------------------------------------------------------------------------------


class Attack:
    def __init__(self, binary, hosts, mark, seed, whose):
        found = os.stat(binary)
        self._binary = (found.st_dev, found.st_ino)
        self._mark = f"{MARK}={mark}".encode()
        self._whose = whose
        self._some = random.Random(seed)
        self._places = {"here": (Network(), None)} if mark != "-" else {}
        if hosts != "-":
            keepers = host_set.find(hosts).hosts
            self._places |= {name: (Network(keeper["pid"]), keeper["address"]) for name, keeper in keepers.items()}
        self._targets = {}  # by inode; None: not ours
        self._told = {}
        self._epoll = select.epoll()
        self._going, self._staying = {}, collections.deque()

    def run(self, is_over):
        end = time.monotonic() + MOST_SECONDS
        while not is_over() and time.monotonic() < end:
            now = time.monotonic()
            for target in self._look():
                for kind in target.next_kinds(self._some, now):
                    self._begin(Visit(target, kind, self._some))
            for fd, _ in self._epoll.poll(LOOK):
                self._go_on(fd)
            while self._staying and self._staying[0].end < now:
                self._staying.popleft().line.close()
        return {name: dict(target.visits) for name, target in self._told.items()}

    def _begin(self, visit):
        fd = visit.line.fileno()
        self._going[fd] = visit
        self._epoll.register(fd, select.EPOLLOUT)

    def _go_on(self, fd):
        visit = self._going[fd]
        if not visit.go_on():
            return
        del self._going[fd]
        if visit.line.fileno() >= 0:
            self._epoll.unregister(fd)
            self._staying.append(visit)

    def _look(self):
        """The ports of ours that are open now."""
        for place, (network, _) in self._places.items():
            listeners = network.listeners()
            new = {listener.inode for listener in listeners} - self._targets.keys()
            owned = self._owned(new, place) if new else set()
            for listener in listeners:
                if listener.inode in new:
                    is_ours = listener.inode in owned
                    self._targets[listener.inode] = self._new_target(place, listener) if is_ours else None
                if self._targets[listener.inode]:
                    yield self._targets[listener.inode]

    def _owned(self, inodes, place):
        """Those of the sockets that are ours. What a launcher inherited is not (mpiexec.hydra's port)."""
        is_ours = self._is_ours_here if place == "here" else self._is_ours
        owned = set()
        for pid in filter(is_ours, map(int, filter(str.isdigit, os.listdir("/proc")))):
            held = inodes & sockets_of(pid)
            if held and ("mpi" in self._whose or not uses_mpi(pid)):
                owned |= held - self._held_above(pid)
        return owned

    def _held_above(self, pid):
        """The sockets of the processes that led to this one."""
        above = [other for other in host_set.ancestors(pid) if not self._is_ours(other)]
        return set().union(*map(sockets_of, above))

    def _new_target(self, place, listener):
        network, address = self._places[place]
        on_loopback = listener.address.startswith("127.")
        if place == "here" and not on_loopback and listener.address != ANY:
            return None
        if on_loopback or place == "here":
            target = Target(network, [listener.address if on_loopback else "127.0.0.1"], listener.port)
        else:
            others = [other for name, (other, _) in self._places.items() if name not in (place, "here")]
            target = Target(self._some.choice(others or [network]), [address], listener.port)
        self._told[f"{place} {listener.address}:{listener.port} {listener.inode}"] = target
        return target

    def _is_ours(self, pid):
        return any(map(self._is_launcher, host_set.ancestors(pid) if "trainers" in self._whose else [pid]))

    def _is_ours_here(self, pid):
        with contextlib.suppress(OSError):
            environ = pathlib.Path(f"/proc/{pid}/environ").read_bytes()
            return self._is_ours(pid) and self._mark in environ.split(b"\0")
        return False

    def _is_launcher(self, pid):
        with contextlib.suppress(OSError):
            found = os.stat(f"/proc/{pid}/exe")
            return (found.st_dev, found.st_ino) == self._binary
        return False


def uses_mpi(pid):
    with contextlib.suppress(OSError):
        return any(name in pathlib.Path(f"/proc/{pid}/maps").read_text() for name in ("/libmpi", "/libpmix"))
    return True  # gone


def main(binary, hosts, mark, seed, *whose):
    """The attack is a thread, and it is the thread that goes from network to network: the process is on no host."""
    attack = Attack(binary, hosts, mark, int(seed), whose)
    ended = threading.Event()
    visits = []
    thread = threading.Thread(target=lambda: visits.append(attack.run(ended.is_set)))
    thread.start()
    print("there", flush=True)
    sys.stdin.read()
    ended.set()
    thread.join()
    print(json.dumps(visits[0]))  # an attack that failed has told why, and has none


if __name__ == "__main__":
    main(*sys.argv[1:])
