# SPDX-License-Identifier: Apache-2.0
"""What strangers do at a port: each visit is one connection, with something to say and a way to leave."""

import collections
import socket
import struct
import time

MOST, MOST_BYTES = 500, 8 << 20  # visits and bytes at a port; then a visit now and then
FIRST, AT_ONCE, PAUSE, LATER_PAUSE = 16, 8, 0.1, 0.5
STAY = 3.0  # seconds that a silent visitor stays
FLOOD = 1 << 20
RESET = struct.pack("ii", 1, 0)  # SO_LINGER without a wait: the close is a reset


def _text(data):
    size = len(data)
    return (bytes([size]) if size < 128 else bytes([size & 127 | 128, size >> 7])) + data


def _frame(data):
    return len(data).to_bytes(4, "little") + data


def hello(some):
    """What a launcher of another job says first."""
    words = [some.randbytes(32), b"0.1", b"root", b"train.py", b"n9", some.randbytes(8), b""]
    return _frame(_text(b"PADDLE-LAUNCH") + b"\x01" + b"".join(map(_text, words)))


# What a visitor says, and how it leaves: "reset", "close", "stay", or "half" (says that it is done, and stays).
KINDS = {
    "reset": (lambda some: b"", "reset"),
    "leave": (lambda some: b"", "close"),
    "silent": (lambda some: b"", "stay"),
    "half closed": (lambda some: b"", "half"),
    "garbage": (lambda some: some.randbytes(some.randint(1, 5000)), "close"),
    "garbage, reset": (lambda some: some.randbytes(some.randint(1, 5000)), "reset"),
    "http": (lambda some: b"GET / HTTP/1.1\r\nHost: here\r\n\r\n", "half"),
    "hello, garbage": (lambda some: hello(some) + some.randbytes(200), "stay"),
    "hello, garbage frame": (lambda some: hello(some) + _frame(some.randbytes(some.randint(1, 3000))), "close"),
    "hello, reset": (lambda some: hello(some), "reset"),
    "cut hello": (lambda some: hello(some)[: some.randint(1, 60)], "stay"),
    "cut hello, reset": (lambda some: hello(some)[: some.randint(1, 60)], "reset"),
    "flood": (lambda some: some.randbytes(4096) * (FLOOD // 4096), "close"),
}
WEIGHTS = {"reset": 12, "garbage, reset": 3, "flood": 0.3}  # the others: 1


class Target:
    """A port of ours, and what it has had."""

    def __init__(self, network, addresses, port):
        self.network, self.addresses, self.port = network, addresses, port  # network: of the attacker
        self.visits = collections.Counter()
        self.begun = self.bytes = 0
        self.due = 0.0

    def next_kinds(self, some, now):
        """What to throw at it now."""
        if now < self.due:
            return []
        many = self.begun < MOST
        weights = [WEIGHTS.get(kind, 1) for kind in KINDS]
        kinds = some.choices(list(KINDS), weights, k=AT_ONCE if many else 1) if self.begun else ["reset"] * FIRST
        self.due = now + (PAUSE if many else LATER_PAUSE)
        self.begun += len(kinds)
        return kinds


class Visit:
    def __init__(self, target, kind, some):
        self._target, self._kind = target, kind
        say, self._leave = KINDS[kind]
        self._rest = memoryview(say(some))
        self._is_there = False
        self.end = time.monotonic() + STAY
        self.line = target.network.socket(socket.AF_INET, socket.SOCK_STREAM | socket.SOCK_NONBLOCK)
        self.line.connect_ex((some.choice(target.addresses), target.port))

    def go_on(self):
        """It can be written to, or is at its end. True: it has done what it came for."""
        try:
            return self._say()
        except BlockingIOError:
            return False
        except OSError:
            self.line.close()
            return True

    def _say(self):
        error = self.line.getsockopt(socket.SOL_SOCKET, socket.SO_ERROR)
        if error:
            raise OSError(error, "visit")
        if not self._is_there:
            self._is_there = True
            self._target.visits[self._kind] += 1
        while self._rest and self._target.bytes < MOST_BYTES:
            sent = self.line.send(self._rest)
            self._target.bytes += sent
            self._rest = self._rest[sent:]
        if self._leave == "half":
            self.line.shutdown(socket.SHUT_WR)
        if self._leave == "reset":
            self.line.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, RESET)
        if self._leave in ("reset", "close"):
            self.line.close()
        return True
