#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Training that survives: it saves its state after every step and goes on from there, with however many trainers.

    paddle-launch --nproc_per_node=4 --max_restart=3 resume.py --fail_step=20
    paddle-launch --elastic_server=192.168.0.5:2379 --job_id=job1 --np=2:4 resume.py   # typed on each node

Nothing but Python's standard library. Every step all trainers work on one global batch, split among them, and rank 0
adds up their gradients. Gradients are whole numbers (fixed point), whose sum does not depend on the order or on how the
batch was split: the result is the same to the last digit, whatever happened on the way. The state is a file that all
nodes see (--state); with real Paddle it is what paddle.save() writes.
"""
import argparse
import json
import os
import random
import socket
import struct
import time

WEIGHTS = [3.0, -2.0, 0.5, 1.0]  # what is to be found; the last is the bias
BATCH = 64
ONE = 1 << 32  # the unit of fixed point
RATE = 0.05


class Group:
    """Rank 0 in the middle of a star of TCP connections."""

    def __init__(self, rank, endpoints):
        self.rank, self.others, self.root = rank, [], None
        host, port = endpoints[0].rsplit(":", 1)
        if rank == 0:
            with socket.create_server((host, int(port))) as listener:
                self.others = [listener.accept()[0] for _ in endpoints[1:]]
        else:
            self.root = self._connect(host, int(port))

    @staticmethod
    def _connect(host, port, patience=60.0):
        deadline = time.monotonic() + patience
        while True:
            try:
                return socket.create_connection((host, port))
            except OSError:
                if time.monotonic() > deadline:
                    raise
                time.sleep(0.01)

    @staticmethod
    def _send(peer, value):
        data = json.dumps(value).encode()
        peer.sendall(struct.pack("!I", len(data)) + data)

    @staticmethod
    def _receive(peer):
        def exactly(size):
            data = b""
            while len(data) < size:
                part = peer.recv(size - len(data))
                if not part:
                    raise ConnectionError("a trainer is gone")
                data += part
            return data
        return json.loads(exactly(struct.unpack("!I", exactly(4))[0]))

    def broadcast(self, value=None):
        """Rank 0's value, on every trainer."""
        for peer in self.others:
            self._send(peer, value)
        return value if self.rank == 0 else self._receive(self.root)

    def sum(self, values):
        """On rank 0; None elsewhere."""
        if self.rank != 0:
            return self._send(self.root, values)
        for peer in self.others:
            values = [one + other for one, other in zip(values, self._receive(peer))]
        return values


def sample(number):
    source = random.Random(number)
    x = [*(source.uniform(-1, 1) for _ in WEIGHTS[1:]), 1.0]
    return x, sum(w * v for w, v in zip(WEIGHTS, x))


def gradient(parameters, numbers):
    total = [0] * len(parameters)
    for number in numbers:
        x, y = sample(number)
        error = sum(p * v for p, v in zip(parameters, x)) - y
        total = [g + round(2 * error * v * ONE) for g, v in zip(total, x)]
    return total


def load(path):
    try:
        with open(path, encoding="utf-8") as file:
            return json.load(file)
    except FileNotFoundError:
        return {"step": 0, "parameters": [0.0] * len(WEIGHTS)}


def save(path, state, number):
    """Whole or not at all: a trainer may be killed at any moment, and one of the round before may still be dying."""
    new = f"{path}.{number}.new"
    with open(new, "w", encoding="utf-8") as file:
        json.dump(state, file)
        file.flush()
        os.fsync(file.fileno())
    os.replace(new, path)


def steps_wanted(text):
    """A number, or a file that will hold it; none yet: no end is in sight."""
    if text.isdigit():
        return int(text)
    try:
        with open(text, encoding="utf-8") as file:
            return int(file.read())
    except FileNotFoundError:
        return None


def main():
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--steps", default="60", help="how many, or a file that will say so")
    options.add_argument("--step_seconds", type=float, default=0.05, help="each takes at least so long")
    options.add_argument("--state", default="resume.state.json")
    options.add_argument("--fail_step", type=int, default=-1, help="rank 1 fails there, the first time")
    args = options.parse_args()

    rank, number = int(os.environ["PADDLE_TRAINER_ID"]), os.environ.get("PADDLE_LAUNCH_ROUND", "0")
    endpoints = os.environ["PADDLE_TRAINER_ENDPOINTS"].split(",")
    group = Group(rank, endpoints)
    state = group.broadcast(load(args.state) if rank == 0 else None)
    print(f"rank {rank} of {len(endpoints)} begins round {number} at step {state['step']}", flush=True)
    while True:
        wanted = group.broadcast(steps_wanted(args.steps) if rank == 0 else None)
        if wanted is not None and state["step"] >= wanted:
            break
        if rank == 1 and state["step"] == args.fail_step and number == "0":
            raise ValueError(f"step {args.fail_step} is broken")
        time.sleep(args.step_seconds)
        batch = range(state["step"] * BATCH, (state["step"] + 1) * BATCH)
        total = group.sum(gradient(state["parameters"], batch[rank::len(endpoints)]))
        if rank == 0:
            state["parameters"] = [p - RATE * g / ONE / BATCH for p, g in zip(state["parameters"], total)]
            state["step"] += 1
            save(args.state, state, number)
            if state["step"] % 20 == 0:
                print(f"step {state['step']}", flush=True)
        state = group.broadcast(state)
    found = ", ".join(repr(p) for p in state["parameters"])
    print(f"rank {rank} found [{found}] after {state['step']} steps")


if __name__ == "__main__":
    main()
