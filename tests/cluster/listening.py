# SPDX-License-Identifier: Apache-2.0
"""Who listens where: the TCP ports of a network namespace, as its kernel knows them, and the processes they belong to.

/proc/net/tcp walks through every connection of the machine, 50 ms each time; sock_diag tells of listeners alone.
"""

import collections
import contextlib
import os
import socket
import struct

from host_set import checked, libc

NETLINK_SOCK_DIAG = 4
SOCK_DIAG_BY_FAMILY = 20
REQUEST_ALL = 0x301  # NLM_F_REQUEST | NLM_F_DUMP
NLMSG_ERROR, NLMSG_DONE = 2, 3
LISTEN = 1 << 10
HEADER = struct.Struct("=IHHII")
PORT_AT, ADDRESS_AT, INODE_AT = 4, 8, 68  # in inet_diag_msg
CLONE_NEWNET = 0x40000000

Listener = collections.namedtuple("Listener", "address port inode")


class Network:
    """A network namespace, by a process that is in it. Sockets that are made here stay there."""

    def __init__(self, pid="self"):
        self._namespace = os.open(f"/proc/{pid}/ns/net", os.O_RDONLY | os.O_CLOEXEC)
        self._home = os.open("/proc/thread-self/ns/net", os.O_RDONLY | os.O_CLOEXEC)
        self._diag = self.socket(socket.AF_NETLINK, socket.SOCK_RAW, NETLINK_SOCK_DIAG)

    def socket(self, *kind):
        checked(libc.setns(self._namespace, CLONE_NEWNET), "setns net")
        try:
            return socket.socket(*kind)
        finally:
            checked(libc.setns(self._home, CLONE_NEWNET), "setns net")

    def listeners(self):
        """All of IPv4."""
        ask = struct.pack("=BBBBI48x", socket.AF_INET, socket.IPPROTO_TCP, 0, 0, LISTEN)
        self._diag.send(HEADER.pack(HEADER.size + len(ask), SOCK_DIAG_BY_FAMILY, REQUEST_ALL, 1, 0) + ask)
        found = []
        while True:
            data = self._diag.recv(1 << 16)
            while data:
                size, kind, *_ = HEADER.unpack_from(data)
                if kind in (NLMSG_DONE, NLMSG_ERROR):
                    return found
                found.append(_listener(data[HEADER.size : size]))
                data = data[(size + 3) & ~3 :]


def _listener(words):
    port, = struct.unpack_from(">H", words, PORT_AT)
    inode, = struct.unpack_from("=I", words, INODE_AT)
    return Listener(socket.inet_ntoa(words[ADDRESS_AT : ADDRESS_AT + 4]), port, inode)


def sockets_of(pid):
    """The inodes of the sockets that a process has open."""
    found = set()
    with contextlib.suppress(OSError):
        for fd in os.listdir(f"/proc/{pid}/fd"):
            with contextlib.suppress(OSError):
                link = os.readlink(f"/proc/{pid}/fd/{fd}")
                if link.startswith("socket:["):
                    found.add(int(link[8:-1]))
    return found
