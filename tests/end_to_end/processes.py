# SPDX-License-Identifier: Apache-2.0
"""Looks at processes from outside, by /proc: their state, who started them, and which of them belong to a test."""

import contextlib
import os
import signal

MARK = "LAUNCH_TEST_MARK"  # the variable by which a process is known to belong to a test


def _read(path):
    try:
        with open(path, "rb") as file:
            return file.read()
    except OSError:
        return b""


def stat_fields(pid):
    """Fields of /proc/PID/stat from the state on, or None when there is no such process."""
    text = _read(f"/proc/{pid}/stat")
    return text[text.rfind(b")") + 2 :].split() if text else None


def state(pid):
    """One letter; X when there is no such process."""
    fields = stat_fields(pid)
    return fields[0].decode() if fields else "X"


def alive(pid):
    return state(pid) not in "ZX"


def status_field(pid, name):
    for line in _read(f"/proc/{pid}/status").decode(errors="replace").splitlines():
        if line.startswith(name + ":"):
            return line.split(":", 1)[1].strip()
    return None


def comm(pid):
    return _read(f"/proc/{pid}/comm").decode(errors="replace").rstrip("\n")


def all_pids():
    return [int(name) for name in os.listdir("/proc") if name.isdigit()]


def children(pid):
    found = []
    for other in all_pids():
        fields = stat_fields(other)
        if fields and int(fields[1]) == pid and fields[0] not in (b"Z", b"X"):
            found.append(other)
    return found


def launcher_of(trainer):
    """The pid of a trainer's launcher: the guard is in between."""
    guard = int(stat_fields(trainer)[1])
    return int(stat_fields(guard)[1])


def pending(pid, number):
    """True while the signal waits to be taken by the process."""
    shared = status_field(pid, "ShdPnd")
    return shared is not None and bool(int(shared, 16) >> (number - 1) & 1)


def _links_below(pid, root):
    links = [f"/proc/{pid}/cwd", f"/proc/{pid}/exe"]
    with contextlib.suppress(OSError):
        links += [f"/proc/{pid}/fd/{name}" for name in os.listdir(f"/proc/{pid}/fd")]
    for link in links:
        with contextlib.suppress(OSError):
            if os.readlink(link).startswith(root):
                return True
    return False


def belonging_to(root):
    """Living processes that belong to a test: by environment mark, working directory or open files, so that a
    process which cleared its environment, renamed itself or left its session is found as well."""
    root = str(root)
    mark = f"{MARK}={root}".encode()
    found = []
    for pid in all_pids():
        if pid == os.getpid() or not alive(pid):
            continue
        if _links_below(pid, root) or mark in _read(f"/proc/{pid}/environ").split(b"\0"):
            found.append(pid)
    return found


def describe(pids):
    rows = []
    for pid in pids:
        command = _read(f"/proc/{pid}/cmdline").replace(b"\0", b" ").decode(errors="replace")[:120]
        rows.append(f"{pid} {state(pid)} parent={(stat_fields(pid) or [0, b'?'])[1].decode()} {comm(pid)}: {command}")
    return "\n".join(rows) or "(none)"


def kill_quietly(pid, number=signal.SIGKILL):
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.kill(pid, number)
