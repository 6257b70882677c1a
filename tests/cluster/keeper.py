# SPDX-License-Identifier: Apache-2.0
"""Makes a set of test hosts and keeps it.

A set is one process a host, in namespaces of its own, and one for the switch, in a network of its own with a bridge
and the far ends of all cables. Nothing else holds the namespaces and nothing outside of them is touched, so that the
kernel takes everything away with these processes. They end when the set's owner ends, when the switch's keeper is
told to, and when one of them dies; whoever notices kills what still runs on the hosts.
"""

import contextlib
import ctypes
import json
import os
import pathlib
import secrets
import select
import shutil
import signal
import socket
import sys

import host_set
from host_set import BRIDGE, INTERFACE, REFUSED, HostSet, Problem, birth, checked, ip, libc, namespaces

CLONE_NEWNS, CLONE_NEWUTS, CLONE_NEWNET = 0x00020000, 0x04000000, 0x40000000
MS_NOSUID, MS_NODEV, MS_BIND, MS_REC, MS_PRIVATE = 0x2, 0x4, 0x1000, 0x4000, 0x40000
MNT_DETACH = 2
SYS_PIVOT_ROOT = {"x86_64": 155, "aarch64": 41}
PR_SET_NAME = 15
# What a host does not share with the machine. In /run are the sockets of the machine's daemons: a munged or nscd must
# not be the hosts' as well.
OWN = {"/tmp": "1777", "/dev/shm": "1777", "/run": "755"}
# What it must see wherever it is: the state of the sets, these files and what they belong to, and Python.
NEEDED = tuple(map(os.path.realpath, (host_set.ROOT, pathlib.Path(__file__).parents[2])))
PYTHON = tuple(map(os.path.realpath, (sys.base_prefix, pathlib.Path(sys.executable).parents[1])))
# What a host with files of its own has from the machine all the same: the kernel's, and where tests have their files.
OF_THE_MACHINE = ("/proc", "/sys", "/dev", "/var/tmp")
STOPS = (signal.SIGTERM, signal.SIGINT, signal.SIGHUP)


def make(name, owner, addresses, subnet, debian_names, aliases, shares, root=None):
    """Starts the keepers and returns the set when its hosts can be used. Raises Problem."""
    if os.geteuid() != 0:
        raise Problem("test hosts need root", REFUSED)
    for found in host_set.load_all():
        if not found.kept():
            found.down()
    read, write = os.pipe()
    starter = os.fork()
    if starter == 0:
        _fork_and_end(lambda: _daemon(write, Switch(name, owner, addresses, subnet, debian_names, aliases, shares,
                                                     root)))
    os.close(write)
    os.waitpid(starter, 0)
    with os.fdopen(read) as answer:
        told = json.loads(answer.read() or '{"problem": "the keeper died while it made the hosts", "status": 1}')
    if "problem" in told:
        raise Problem(told["problem"], told["status"])
    return HostSet(told)


# -- a keeper's first steps --------------------------------------------------------------------------------------------


def _fork_and_end(action):
    """The child does this and nothing more, whatever happens; the parent, itself a child, ends."""
    try:
        os.setsid()
        if os.fork() == 0:
            action()
    finally:
        os._exit(0)


def _daemon(answer, switch):
    os.chdir("/")
    os.umask(0o022)
    null = os.open(os.devnull, os.O_RDWR)
    for fd in range(3):
        os.dup2(null, fd)
    _close_all_but(answer)
    switch.run(answer)


def _close_all_but(*kept):
    for fd in map(int, os.listdir("/proc/self/fd")):
        if fd > 2 and fd not in kept:
            with contextlib.suppress(OSError):
                os.close(fd)


def _name_process(text):
    libc.prctl(PR_SET_NAME, ctypes.c_char_p(text.encode()), 0, 0, 0)


def _unshare(flags):
    checked(libc.unshare(flags), "unshare")
    for which in ("all", "default"):  # the kernel's search for duplicate addresses would only cost time
        with contextlib.suppress(OSError):
            pathlib.Path(f"/proc/sys/net/ipv6/conf/{which}/disable_ipv6").write_text("1")


def _mount(source, target, kind, flags, data=""):
    checked(libc.mount(os.fsencode(source), os.fsencode(target), kind.encode(), ctypes.c_ulong(flags), data.encode()),
            f"mount {target}")


def _keeper(*kinds, **more):
    found = namespaces("self")
    own = {kind: found[kind] for kind in kinds}
    return {"pid": os.getpid(), "birth": birth(os.getpid()), "namespaces": own, **more}


def _tell(fd, words):
    with contextlib.suppress(OSError):
        os.write(fd, json.dumps(words).encode())
    os.close(fd)


def _wait_for(*fds):
    poll = select.poll()
    for fd in fds:
        poll.register(fd, select.POLLIN)
    poll.poll()


# -- the switch --------------------------------------------------------------------------------------------------------


class Switch:
    """The process that makes the set, holds its switch, and ends it."""

    def __init__(self, name, owner, addresses, subnet, debian_names, aliases, shares, root):
        self.addresses, self.subnet, self.debian_names = addresses, subnet, debian_names
        self.aliases, self.shares, self.root = aliases, shares, root  # {"n1": ["node1.example.com", …]}
        self.state = {"name": name, "token": f"test-hosts-{secrets.token_hex(8)}", "owner": owner,
                      "subnet": str(subnet), "hosts": {}}
        self._children = []
        self._claimed = False

    def run(self, answer):
        _name_process("hosts-switch")
        woken, wake = os.pipe2(os.O_NONBLOCK | os.O_CLOEXEC)
        signal.set_wakeup_fd(wake)
        for number in STOPS:
            signal.signal(number, lambda *_: None)  # the wakeup descriptor tells
        try:
            try:
                owner = self._open_owner()
                self._make()
            except (Problem, OSError) as error:
                status = error.status if isinstance(error, Problem) else REFUSED
                _tell(answer, {"problem": str(error), "status": status})
                return
            _tell(answer, self.state)
            _wait_for(owner, woken, *map(os.pidfd_open, self._children))
        finally:
            self._end()

    def _open_owner(self):
        try:
            return os.pidfd_open(self.state["owner"])
        except OSError:
            raise Problem(f"there is no process {self.state['owner']} to keep the hosts for", 2) from None

    def _make(self):
        _unshare(CLONE_NEWNET)
        self.state["switch"] = _keeper("net")
        self._claim_name()
        ip(batch=[f"link add {BRIDGE} type bridge", f"link set {BRIDGE} up"])
        pipes = {name: self._start_host(name) for name in self.addresses}
        for name, pipe in pipes.items():
            with os.fdopen(pipe) as answer:
                told = json.loads(answer.read() or '{"problem": "its keeper died"}')
            if "problem" in told:
                raise OSError(f"host {name}: {told['problem']}")
            self.state["hosts"][name] = told
        ip(batch=[f"link set {name} master {BRIDGE} up" for name in self.addresses])
        self._write_state(pathlib.Path(host_set.ROOT, self.state["name"]))

    def _claim_name(self):
        name = self.state["name"]
        root = pathlib.Path(host_set.ROOT)
        root.mkdir(parents=True, exist_ok=True)
        folder = root / f".{name}.{os.getpid()}"
        folder.mkdir()
        self._write_state(folder)
        try:
            os.rename(folder, root / name)
        except OSError:
            shutil.rmtree(folder)
            raise Problem(f"the hosts {name} are up already; 'hosts down --name {name}' ends them", 1) from None
        self._claimed = True

    def _write_state(self, folder):
        new = folder / "state.json.new"
        new.write_text(json.dumps(self.state, indent=1) + "\n")
        os.rename(new, folder / "state.json")

    def _start_host(self, name):
        read, write = os.pipe()
        parent = os.getpid()
        child = os.fork()
        if child == 0:
            try:
                _close_all_but(write)
                keep_host(self, name, parent, write)
            finally:
                os._exit(0)
        os.close(write)
        self._children.append(child)
        return read

    def _end(self):
        if self._claimed:
            ours = HostSet(self.state)
            ours.remove_file()
            ours.kill_members()
        for child in self._children:
            os.kill(child, signal.SIGKILL)
        for child in self._children:
            os.waitpid(child, 0)


# -- a host ------------------------------------------------------------------------------------------------------------


def keep_host(switch, name, parent, answer):
    """Makes one host, tells about it and keeps it as long as the switch's keeper lives."""
    signal.set_wakeup_fd(-1)
    for number in STOPS:
        signal.signal(number, signal.SIG_DFL)
    _name_process(f"hosts-{name}")
    try:
        switch_alive = os.pidfd_open(parent)
        _unshare(CLONE_NEWNET | CLONE_NEWNS | CLONE_NEWUTS)
        socket.sethostname(name)
        address = f"{switch.addresses[name]}/{switch.subnet.prefixlen}"
        ip(batch=["link set lo up", f"link add {INTERFACE} type veth peer name {name} netns {parent}",
                  f"addr add {address} dev {INTERFACE}", f"link set {INTERFACE} up"])
        _make_files(switch, name)
        keeper = _keeper("net", "mnt", "uts", address=switch.addresses[name])
    except (Problem, OSError) as error:
        _tell(answer, {"problem": str(error)})
        return
    _tell(answer, keeper)
    _wait_for(switch_alive)
    ours = HostSet({**switch.state, "hosts": {name: keeper}})
    ours.remove_file()
    ours.kill_members()


def _make_files(switch, name):
    """OWN folders and an /etc/hosts of its own; the rest is the machine's, or a copy of the switch's root."""
    _mount("none", "/", "", MS_REC | MS_PRIVATE)
    shares = [(path, os.open(path, os.O_PATH | os.O_DIRECTORY | os.O_CLOEXEC))
              for path in (*switch.shares, *NEEDED, *(() if switch.root else PYTHON))
              if switch.root or any(pathlib.Path(path).is_relative_to(folder) for folder in OWN)]
    top = _copy_of_root(switch.state["token"], switch.root) if switch.root else ""
    for folder, mode in OWN.items():
        if os.path.isdir(top + folder):
            _mount(switch.state["token"], top + folder, "tmpfs", MS_NOSUID | MS_NODEV, f"mode={mode}")
    for path, fd in shares:
        os.makedirs(top + path, exist_ok=True)
        _mount(f"/proc/self/fd/{fd}", top + path, "", MS_BIND | MS_REC)
        os.close(fd)
    lines = ["127.0.0.1 localhost"]
    for other, address in switch.addresses.items():
        seen_as = "127.0.1.1" if other == name and switch.debian_names else address
        lines.append(" ".join([seen_as, other, *switch.aliases.get(other, [])]))
    names = pathlib.Path(f"{top}/tmp/.hosts")
    names.write_text("\n".join(lines) + "\n")
    pathlib.Path(f"{top}/etc/hosts").touch()
    _mount(names, f"{top}/etc/hosts", "", MS_BIND)
    names.unlink()
    if top:
        _pivot(top)


def _copy_of_root(token, root):
    """Over files that stay as they are: what the host writes is in memory."""
    _mount(token, "/tmp", "tmpfs", MS_NOSUID, "mode=755")
    top = "/tmp/root"
    for folder in (top, "/tmp/upper", "/tmp/work"):
        os.mkdir(folder)
    _mount(token, top, "overlay", 0, f"lowerdir={root},upperdir=/tmp/upper,workdir=/tmp/work")
    for folder in OF_THE_MACHINE:
        _mount(folder, top + folder, "", MS_BIND | MS_REC)
    return top


def _pivot(top):
    """From the manual page: the old root is stacked on the new one, and taken away."""
    os.chdir(top)
    checked(libc.syscall(ctypes.c_long(SYS_PIVOT_ROOT[os.uname().machine]), b".", b"."), f"pivot_root {top}")
    checked(libc.umount2(b".", MNT_DETACH), "umount of the old root")
    os.chdir("/")
