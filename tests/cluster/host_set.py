# SPDX-License-Identifier: Apache-2.0
"""A set of test hosts as everyone but its keepers sees it: where its state is, who lives in it, how to get in, and
how to break its network. The keepers (keeper.py) make a set and end it.

Processes are known by pid and start time, so that a pid that was given to somebody else is never taken for a keeper.
"""

import contextlib
import ctypes
import json
import os
import signal
import time

ROOT = "/run/paddle-launch-test-hosts"  # one folder a set; visible on the hosts too
KINDS = ("net", "mnt", "uts")
BRIDGE = "switch"
INTERFACE = "eth0"
NOBODY = "02:00:00:00:00:fe"  # no interface has this address: what is sent to it is lost without a word
REFUSED = 77  # the exit status that test drivers take for "skipped"

libc = ctypes.CDLL(None, use_errno=True)


class Problem(Exception):
    """Told to the person in one line."""

    def __init__(self, text, status=1):
        super().__init__(text)
        self.status = status


def checked(result, what):
    if result != 0:
        raise OSError(f"{what}: {os.strerror(ctypes.get_errno())}")


def ip(*args, batch=None):
    """Runs ip(8) in the network namespace of this process."""
    import shutil  # here, since most commands do without and are to start fast
    import subprocess
    program = shutil.which("ip", path=os.environ.get("PATH", "") + ":/usr/sbin:/sbin")
    if program is None:
        raise Problem("ip is not installed (Debian package iproute2)", REFUSED)
    command = [program, *args] if batch is None else [program, "-batch", "-"]
    done = subprocess.run(command, input="\n".join(batch or ()), capture_output=True, text=True)
    if done.returncode != 0:
        raise OSError(f"ip {' '.join(args)}: {' '.join(done.stderr.split())}")
    return done.stdout


# -- processes -----------------------------------------------------------------------------------------------------


def _read(pid, name):
    """A file of /proc/PID, or "" when there is no such process."""
    try:
        with open(f"/proc/{pid}/{name}", errors="replace") as file:
            return file.read()
    except OSError:
        return ""


def _stat(pid):
    """State, parent and start time, or None."""
    text = _read(pid, "stat")
    if not text:
        return None
    fields = text[text.rfind(")") + 2 :].split()
    return fields[0], int(fields[1]), int(fields[19])


def birth(pid):
    """The start time of a living process, else None."""
    stat = _stat(pid)
    return stat[2] if stat and stat[0] not in "ZX" else None


def ancestors(pid):
    while pid > 0:
        yield pid
        stat = _stat(pid)
        pid = stat[1] if stat else 0


def command_line(pid):
    return _read(pid, "cmdline").replace("\0", " ").strip() or _read(pid, "comm").strip() or "?"


def namespaces(pid):
    """{"net": inode, …} of a process; without those that cannot be read."""
    found = {}
    for kind in KINDS:
        with contextlib.suppress(OSError):
            found[kind] = os.stat(f"/proc/{pid}/ns/{kind}").st_ino
    return found


# -- a set -----------------------------------------------------------------------------------------------------------


class HostSet:
    """What the state file of a set says: {"name", "token", "owner": PID, "subnet", "switch": KEEPER, "hosts": {"n1":
    KEEPER, …}}. A keeper is {"pid", "birth", "namespaces"}; that of a host has its "address" as well."""

    def __init__(self, state):
        self.state = state
        self.name = state["name"]
        self.folder = os.path.join(ROOT, self.name)
        self.file = os.path.join(self.folder, "state.json")
        self.hosts = state["hosts"]
        self.places = {"switch": state["switch"], **self.hosts}
        self.keepers = list(self.places.values())

    def kept(self):
        return any(map(is_kept, self.keepers))

    def host(self, name):
        if name not in self.hosts:
            raise Problem(f"{self.name} has no host {name!r}; its hosts are {' '.join(self.hosts)}", 2)
        return self.hosts[name]

    def members(self):
        """(host or "switch", pid) of every living process in the namespaces, keepers apart."""
        places = {item: (name, keeper) for name, keeper in self.places.items() for item in keeper["namespaces"].items()}
        own = {keeper["pid"] for keeper in self.keepers if is_kept(keeper)}
        for entry in os.listdir("/proc"):
            if not entry.isdigit() or int(entry) in own:
                continue
            for item in namespaces(entry).items():
                if item in places and birth(entry):
                    name, keeper = places[item]
                    # The kernel uses the numbers of dead namespaces again.
                    if is_kept(keeper) or self.state["token"] in _read(entry, "mountinfo"):
                        yield name, int(entry)
                    break

    def kill_members(self, seconds=10.0):
        """Returns {pid: (host, command line)} of those that were killed."""
        killed = {}
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            found = [(name, pid) for name, pid in self.members() if pid != os.getpid()]
            if not found:
                break
            for name, pid in found:
                killed.setdefault(pid, (name, command_line(pid)))
                with contextlib.suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGKILL)
            time.sleep(0.002)
        return killed

    def remove_file(self):
        """From here on nobody gets in: see enter()."""
        now = load(self.name)
        if now is None or now.state["token"] != self.state["token"]:
            return
        with contextlib.suppress(OSError):
            os.unlink(self.file)
        with contextlib.suppress(OSError):
            os.rmdir(self.folder)

    def down(self):
        """Ends the set and returns whom that killed."""
        killed = self.kill_members()
        switch = self.state["switch"]
        if is_kept(switch):
            os.kill(switch["pid"], signal.SIGTERM)
        end = time.monotonic() + 20
        while self.kept():
            if time.monotonic() > end:
                for keeper in filter(is_kept, self.keepers):
                    os.kill(keeper["pid"], signal.SIGKILL)
            time.sleep(0.002)
        self.remove_file()
        return {**killed, **self.kill_members()}

    # the network

    def in_network(self, keeper, action):
        """action() in the network of this keeper. Changes this process: for the command line tool."""
        enter_namespaces(keeper, ("net",))
        action()

    def cut(self, name):
        self._switch(name, "nomaster")

    def restore(self, name):
        self._switch(name, "master", BRIDGE)

    def _switch(self, name, *words):
        self.host(name)
        self.in_network(self.state["switch"], lambda: ip("link", "set", "dev", name, *words))

    def unblock(self, first, second):
        for here, there in self._both(first, second):
            self.in_network(here, lambda: _talk(there["address"]))

    def block(self, first, second, reject=False):
        self.unblock(first, second)
        for here, there in self._both(first, second):
            self.in_network(here, lambda: _refuse(there["address"]) if reject else _lose(there["address"]))

    def _both(self, first, second):
        one, two = self.host(first), self.host(second)
        if first == second:
            raise Problem(f"{first} cannot be cut off from itself", 2)
        return (one, two), (two, one)


def _lose(address):
    ip("neigh", "replace", address, "lladdr", NOBODY, "nud", "permanent", "dev", INTERFACE)


def _refuse(address):
    ip("route", "replace", "unreachable", f"{address}/32")


def _talk(address):
    if ip("route", "show", "type", "unreachable", f"{address}/32"):
        ip("route", "del", "unreachable", f"{address}/32")
    if ip("neigh", "show", "to", address, "dev", INTERFACE, "nud", "permanent"):
        ip("neigh", "del", address, "dev", INTERFACE)


def is_kept(keeper):
    return birth(keeper["pid"]) == keeper["birth"]


def enter_namespaces(keeper, kinds=KINDS):
    """Moves this process, which must have one thread."""
    files = []
    try:
        for kind in kinds:
            files.append(os.open(f"/proc/{keeper['pid']}/ns/{kind}", os.O_RDONLY | os.O_CLOEXEC))
        for kind, file in zip(kinds, files):
            if os.fstat(file).st_ino != keeper["namespaces"][kind]:
                raise Problem("the host is gone")
            checked(libc.setns(file, 0), f"setns {kind}")
    except FileNotFoundError:
        raise Problem("the host is gone") from None
    finally:
        for file in files:
            os.close(file)


def enter(host_set, name):
    """Moves this process onto a host; the working directory is the one of that name there."""
    keeper = host_set.host(name)
    here = os.getcwd()
    try:
        state = os.open(host_set.file, os.O_RDONLY | os.O_CLOEXEC)
        enter_namespaces(keeper)
    except FileNotFoundError:
        raise Problem(f"the hosts {host_set.name} are gone") from None
    # Who ends a set removes the file first and then kills who is inside, so that no process can slip in between.
    if os.fstat(state).st_nlink == 0:
        raise Problem(f"the hosts {host_set.name} are going down")
    os.close(state)
    try:
        os.chdir(here)
    except OSError as error:
        raise Problem(f"the working directory {here} is not on {name}: {error.strerror}. Every host has its own /tmp; "
                      "'up --share DIR' shows a directory of this machine on all") from None


# -- finding sets ----------------------------------------------------------------------------------------------------


def load(name):
    """The set, or None. A set that is still being made is none yet."""
    try:
        with open(os.path.join(ROOT, name, "state.json")) as file:
            return HostSet(json.load(file))
    except (FileNotFoundError, NotADirectoryError):
        return None


def load_all():
    with contextlib.suppress(FileNotFoundError):
        for name in sorted(os.listdir(ROOT)):
            found = None if name.startswith(".") else load(name)
            if found:
                yield found


def find(name):
    """The set of that name. Without one: that of this process, or the only one there is."""
    found = load(name) if name else find_own()
    if found:
        return found
    if name:
        raise Problem(f"there are no hosts {name!r}; {_known()}")
    sets = [found for found in load_all() if found.kept()]
    if len(sets) != 1:
        raise Problem(f"which hosts? Say --name NAME; {_known()}")
    return sets[0]


def find_own():
    """The set that this process is in, or the one that its nearest ancestor made, or None."""
    sets = [found for found in load_all() if found.kept()]
    network = namespaces("self").get("net")
    for found in sets:
        if any(host["namespaces"]["net"] == network for host in found.hosts.values()):
            return found
    for pid in ancestors(os.getppid()):
        for found in sets:
            if found.state["owner"] == pid:
                return found
    return None


def _known():
    names = [found.name for found in load_all()]
    return f"there are {' '.join(names)}" if names else "none are up: 'hosts up' makes them"
