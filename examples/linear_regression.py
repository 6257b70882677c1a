#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Data-parallel gradient descent with nothing but Python's standard library.

    paddle-launch --nproc_per_node=4 linear_regression.py

Every trainer has its own part of the data, computes the gradient on it, and all trainers add up their
gradients in a ring of TCP connections over the endpoints that the launcher handed out. So all of them
take the same step, and all end with the same parameters.
"""
import argparse
import os
import random
import socket
import struct
import time

WEIGHTS = [3.0, -2.0, 0.5]  # what is to be found
BIAS = 1.0


class Ring:
    """Connections to the neighbours, and an all-reduce over them."""

    def __init__(self, rank, endpoints):
        self.size = len(endpoints)
        if self.size == 1:
            return
        host, port = endpoints[rank].rsplit(":", 1)
        listener = socket.create_server((host, int(port)))
        self.next = self._connect(endpoints[(rank + 1) % self.size])
        self.previous, _ = listener.accept()
        listener.close()

    @staticmethod
    def _connect(endpoint, patience=60.0):
        host, port = endpoint.rsplit(":", 1)
        deadline = time.monotonic() + patience
        while True:
            try:
                return socket.create_connection((host, int(port)), timeout=patience)
            except ConnectionRefusedError:
                if time.monotonic() > deadline:
                    raise
                time.sleep(0.01)

    def _receive(self, size):
        data = b""
        while len(data) < size:
            part = self.previous.recv(size - len(data))
            if not part:
                raise ConnectionError("the neighbour in the ring is gone")
            data += part
        return data

    def all_reduce(self, values):
        """The sum over all trainers, on every trainer."""
        total = list(values)
        travelling = struct.pack(f"{len(values)}d", *values)
        for _ in range(self.size - 1):
            self.next.sendall(travelling)
            travelling = self._receive(len(travelling))
            for i, value in enumerate(struct.unpack(f"{len(values)}d", travelling)):
                total[i] += value
        return total


def make_data(rank, count):
    source = random.Random(1000 + rank)
    data = []
    for _ in range(count):
        x = [source.uniform(-1, 1) for _ in WEIGHTS]
        y = sum(w * v for w, v in zip(WEIGHTS, x)) + BIAS + source.gauss(0, 0.01)
        data.append((x, y))
    return data


def gradient(parameters, data):
    """Gradient of the squared error, summed over the data, with the loss as its last entry."""
    result = [0.0] * (len(parameters) + 1)
    for x, y in data:
        error = sum(p * v for p, v in zip(parameters, x)) + parameters[-1] - y
        for i, value in enumerate(x):
            result[i] += 2 * error * value
        result[-2] += 2 * error
        result[-1] += error * error
    return result


def main():
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--steps", type=int, default=60)
    options.add_argument("--samples", type=int, default=200, help="of each trainer")
    options.add_argument("--fail_rank", type=int, default=-1, help="let this rank fail, to see what happens")
    options.add_argument("--fail_step", type=int, default=20)
    args = options.parse_args()

    rank = int(os.environ["PADDLE_TRAINER_ID"])
    endpoints = os.environ["PADDLE_TRAINER_ENDPOINTS"].split(",")
    ring = Ring(rank, endpoints)
    data = make_data(rank, args.samples)
    parameters = [0.0] * (len(WEIGHTS) + 1)
    count = args.samples * len(endpoints)
    print(f"rank {rank} of {len(endpoints)} at {endpoints[rank]}, {args.samples} samples of its own")
    for step in range(args.steps):
        if rank == args.fail_rank and step == args.fail_step:
            raise ValueError(f"sample {step} of rank {rank} is broken")
        total = ring.all_reduce(gradient(parameters, data))
        parameters = [p - 0.4 * g / count for p, g in zip(parameters, total)]
        if step % 10 == 0 or step == args.steps - 1:
            print(f"step {step:3d}  loss {total[-1] / count:.6f}")
    found = ", ".join(f"{p:+.3f}" for p in parameters)
    print(f"rank {rank} found [{found}], true values [+3.000, -2.000, +0.500, +1.000]")


if __name__ == "__main__":
    main()
