# SPDX-License-Identifier: Apache-2.0
"""A trainer's STAND-IN, for machines without GPUs: checks in with the launcher's NCCL id as a rank of NCCL 2.28.9
does, and meets its two neighbours in the ring. What is written here is that version's bootstrap protocol.

    rank 1 of 4 checked in; next peer 127.0.0.1:40123

NCCL_CHECK_IN_DEADLINE is the time it may take, in seconds (20 if unset). Exit status 3: the id is of another version.
"""
import os
import socket
import struct
import sys
import time

WRITTEN_FOR = 22809
OTHER_VERSION = 3
KIND = struct.pack("<i", 1)     # the kind of socket: bootstrap
ADDRESS_BYTES = 28              # room for the address of either family
CONNECT_BYTES = 128             # room for an address or for a handle of a network plugin


class Id:
    """Eight random bytes that every connection begins with, and the root's address."""

    def __init__(self, raw):
        self.magic = raw[:8]
        family, = struct.unpack_from("<H", raw, 8)
        if family != socket.AF_INET:
            sys.exit(f"the id has an address of family {family}; this stand-in knows IPv4 only")
        self.address = unpack_address(raw[8:])


def pack_address(address):
    host, port = address
    packed = struct.pack("<H", socket.AF_INET) + struct.pack(">H", port) + socket.inet_aton(host)
    return packed.ljust(ADDRESS_BYTES, b"\0")


def unpack_address(raw):
    return socket.inet_ntoa(raw[4:8]), struct.unpack_from(">H", raw, 2)[0]


def read(connection, size):
    data = b""
    while len(data) < size:
        more = connection.recv(size - len(data))
        if not more:
            sys.exit(f"the other side closed after {len(data)} of {size} bytes")
        data += more
    return data


class Rank:
    def __init__(self, rank, world, ids, until):
        self.rank, self.world, self.ids, self.until = rank, world, ids, until

    def left(self):
        left = self.until - time.monotonic()
        if left <= 0:
            sys.exit(f"rank {self.rank} of {self.world}: not done at the deadline")
        return left

    def first_of_root(self, root):
        each, more = divmod(self.world, len(self.ids))
        return root * each + min(root, more)

    def root_of(self, rank):
        return max(root for root in range(len(self.ids)) if self.first_of_root(root) <= rank)

    def connect(self, address, magic):
        connection = socket.create_connection(address, timeout=self.left())
        connection.sendall(magic + KIND)
        return connection

    def listen(self, host):
        door = socket.create_server((host, 0))
        door.settimeout(self.left())
        return door

    def accept(self, door, magic):
        door.settimeout(self.left())
        connection, _ = door.accept()
        connection.settimeout(self.left())
        if read(connection, 12) != magic + KIND:
            sys.exit("a stranger knocked")
        return connection

    def tell_root(self, root, seen_as, root_door, ring_door):
        """What NCCL calls extInfo: 172 bytes, after their number."""
        info = struct.pack("<iiii", seen_as, self.world, root, len(self.ids))
        info += pack_address(root_door.getsockname())
        info += pack_address(ring_door.getsockname()).ljust(CONNECT_BYTES, b"\0")
        with self.connect(self.ids[root].address, self.ids[root].magic) as connection:
            connection.sendall(struct.pack("<i", len(info)) + info)

    def own_host(self, root):
        """The address from which the root is reached; UDP connects without a packet."""
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
            probe.connect(self.ids[root].address)
            return probe.getsockname()[0]

    def check_in(self):
        """The next peer's address, and the door at which the previous one will knock."""
        root = self.root_of(self.rank)
        host = self.own_host(root)
        root_door, ring_door = self.listen(host), self.listen(host)
        self.tell_root(root, self.rank, root_door, ring_door)
        if len(self.ids) > 1 and self.rank == self.first_of_root(root):
            # The last rank of the root before this one needs to know us as its next.
            before = (self.rank - 1) % self.world
            self.tell_root(self.root_of(before), before + 1, root_door, ring_door)
        with self.accept(root_door, self.ids[root].magic) as answer:
            size, = struct.unpack("<i", read(answer, 4))
            return unpack_address(read(answer, size)), ring_door

    def meet_neighbours(self, next_peer, ring_door):
        """Not NCCL's next step, but proof that the ring is right: each tells its rank to the next."""
        magic = self.ids[0].magic
        with self.connect(next_peer, magic) as out, self.accept(ring_door, magic) as coming:
            out.sendall(struct.pack("<i", self.rank))
            before, = struct.unpack("<i", read(coming, 4))
        if before != (self.rank - 1) % self.world:
            sys.exit(f"rank {self.rank} of {self.world}: rank {before} came as the previous one")


def main():
    version = int(os.environ["PADDLE_LAUNCH_NCCL_VERSION"])
    if version != WRITTEN_FOR:
        print(f"the id was made by NCCL {version}; this stand-in speaks {WRITTEN_FOR}", file=sys.stderr)
        return OTHER_VERSION
    ids = [Id(bytes.fromhex(text)) for text in os.environ["PADDLE_LAUNCH_NCCL_ID"].split(",")]
    until = time.monotonic() + float(os.environ.get("NCCL_CHECK_IN_DEADLINE", "20"))
    me = Rank(int(os.environ["PADDLE_TRAINER_ID"]), int(os.environ["PADDLE_TRAINERS_NUM"]), ids, until)
    try:
        next_peer, ring_door = me.check_in()
        me.meet_neighbours(next_peer, ring_door)
    except OSError as error:
        print(f"rank {me.rank} of {me.world}: {error}", file=sys.stderr)
        return 1
    print(f"rank {me.rank} of {me.world} checked in; next peer {next_peer[0]}:{next_peer[1]}", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
