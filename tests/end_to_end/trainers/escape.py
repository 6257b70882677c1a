# SPDX-License-Identifier: Apache-2.0
"""A trainer whose children try to get away, each in its own way; escaped.RANK holds their pids once all are out.

Usage: escape.py exit CODE | stay   (what the trainer itself does afterwards)"""

import ctypes
import os
import signal
import sys

RANK = os.environ["PADDLE_TRAINER_ID"]
PR_SET_PDEATHSIG, PR_SET_DUMPABLE, PR_SET_NAME, PR_SET_CHILD_SUBREAPER = 1, 4, 15, 36
libc = ctypes.CDLL(None)


def sleep_on():
    while True:
        signal.pause()


def deaf():
    for number in (signal.SIGTERM, signal.SIGHUP, signal.SIGINT):
        signal.signal(number, signal.SIG_IGN)


def plain():
    sleep_on()


def own_session():
    os.setsid()
    sleep_on()


def renamed():
    os.setsid()
    libc.prctl(PR_SET_NAME, b"kworker/0:1", 0, 0, 0)
    os.execve("/bin/sleep", ["[kworker/0:1]", "1000"], {})


def not_dumpable():
    os.setsid()
    libc.prctl(PR_SET_DUMPABLE, 0, 0, 0, 0)
    libc.prctl(PR_SET_PDEATHSIG, 0, 0, 0, 0)
    os.chdir("/")
    sleep_on()


def deaf_session():
    os.setsid()
    deaf()
    sleep_on()


def stopped():
    os.setsid()
    os.kill(os.getpid(), signal.SIGSTOP)
    sleep_on()


def another_reaper():
    libc.prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    deaf()
    sleep_on()


def start(way, told, twice):
    """Forks; with twice the process's parent ends at once. The pid goes into the pipe just before it runs away."""
    pid = os.fork()
    if pid != 0:
        if twice:
            os.waitpid(pid, 0)
        return
    if twice:
        os.setsid()
        if os.fork() != 0:
            os._exit(0)
    os.write(told, f"{os.getpid()}\n".encode())
    way()


def main():
    read, write = os.pipe()
    os.set_inheritable(write, False)
    ways = [plain, own_session, renamed, not_dumpable, deaf_session, stopped, another_reaper]
    for way in ways:
        start(way, write, False)
        start(way, write, True)
    pids = b""
    while pids.count(b"\n") < 2 * len(ways):
        pids += os.read(read, 4096)
    with open(f".escaped.{RANK}", "wb") as file:
        file.write(pids)
    os.rename(f".escaped.{RANK}", f"escaped.{RANK}")
    if sys.argv[1] == "exit":
        os._exit(int(sys.argv[2]))
    sleep_on()


main()
