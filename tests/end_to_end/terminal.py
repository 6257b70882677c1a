# SPDX-License-Identifier: Apache-2.0
"""A terminal with the launcher in its foreground: what it shows, and what a person types."""

import contextlib
import errno
import os
import subprocess
import sys
import termios
import threading

from processes import belonging_to, describe
from programs import TRAINERS, binary
from waiting import DEADLINE, wait_until


class Terminal:
    """A pseudo terminal whose session leader (trainers/job_shell.py) starts the launcher as its foreground job, as an
    interactive shell does. `screen` is everything the terminal showed so far."""

    def __init__(self, case, args, *, env=None, program=None):
        self._case = case
        self._master, slave = os.openpty()
        attributes = termios.tcgetattr(slave)
        attributes[1] &= ~termios.OPOST  # "\n" stays "\n" on the screen
        termios.tcsetattr(slave, termios.TCSANOW, attributes)
        order_read, self._orders = os.pipe()
        self._events, event_write = os.pipe()
        command = [sys.executable, "-IS", str(TRAINERS / "job_shell.py"), str(order_read), str(event_write),
                   program or binary(), *map(str, args)]
        self.leader = subprocess.Popen(command, stdin=slave, stdout=slave, stderr=slave, cwd=case.dir,
                                       env=case.environment({"TERM": "xterm", **(env or {})}), start_new_session=True,
                                       pass_fds=(order_read, event_write))
        for fd in (slave, order_read, event_write):
            os.close(fd)
        os.set_blocking(self._events, False)
        self._event_text = b""
        self.events = []
        self._screen = bytearray()
        self._reader = threading.Thread(target=self._follow, daemon=True)
        self._reader.start()
        case.addCleanup(self.close)
        self.pid = int(self.wait_event("started")[1])

    def _follow(self):
        while True:
            try:
                data = os.read(self._master, 65536)
            except OSError as error:
                if error.errno == errno.EINTR:
                    continue
                return
            if not data:
                return
            self._screen += data

    @property
    def screen(self):
        return bytes(self._screen)

    def type(self, data):
        os.write(self._master, data)

    def order(self, word):
        os.write(self._orders, word.encode() + b"\n")

    def _pump(self):
        with contextlib.suppress(BlockingIOError):
            self._event_text += os.read(self._events, 4096)
        while b"\n" in self._event_text:
            line, self._event_text = self._event_text.split(b"\n", 1)
            self.events.append(line.decode().split())

    def wait_event(self, kind, seconds=DEADLINE):
        """Takes the next event of that kind: started PID, stopped SIGNAL, continued, exited CODE, killed SIGNAL."""
        def look():
            self._pump()
            for index, event in enumerate(self.events):
                if event[0] == kind:
                    return self.events.pop(index)
            return None
        return wait_until(look, lambda: f"no event {kind}; events {self.events}\n{self.told()}", seconds)

    def wait_screen(self, text, seconds=DEADLINE):
        wait_until(lambda: text in self.screen, lambda: f"{text!r} is not on the screen\n{self.told()}", seconds)

    def foreground(self):
        return os.tcgetpgrp(self._master)

    def told(self):
        return f"--- screen\n{self.screen.decode(errors='replace')}\n---\n{describe(belonging_to(self._case.base))}"

    def close(self):
        for fd in (self._orders, self._events):
            with contextlib.suppress(OSError):
                os.close(fd)
        if self.leader.poll() is None:
            with contextlib.suppress(subprocess.TimeoutExpired):
                self.leader.wait(5)
        if self.leader.poll() is None:
            self.leader.kill()
            self.leader.wait(5)
        with contextlib.suppress(OSError):
            os.close(self._master)
