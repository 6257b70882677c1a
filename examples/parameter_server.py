#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Training with parameter servers, with nothing but Python's standard library.

    paddle-launch --server_num=2 --worker_num=4 parameter_server.py

The parameters are dealt out among the servers. A worker asks all servers for their parameters, computes the
gradient on its own part of the data, and sends each server its share of it. Nobody tells a server when the
work is done: as a real one it serves until it is stopped.
"""
import argparse
import json
import os
import random
import socket
import socketserver
import threading
import time

FOUND = [3.0, -2.0, 0.5, 1.0]  # what is to be found: weights and, last, the bias
RATE = 0.1


class Shard(socketserver.ThreadingTCPServer):
    """One server: some of the parameters, and the steps that workers take with them."""

    allow_reuse_address = True
    daemon_threads = True

    def __init__(self, address):
        self.lock = threading.Lock()
        self.parameters = {}
        super().__init__(address, Connection)

    def answer(self, question):
        with self.lock:
            for name, gradient in question.get("gradients", {}).items():
                self.parameters[name] = self.parameters.get(name, 0.0) - RATE * gradient
            return {name: self.parameters.get(name, 0.0) for name in question["parameters"]}


class Connection(socketserver.StreamRequestHandler):
    def handle(self):
        for line in self.rfile:
            self.wfile.write(json.dumps(self.server.answer(json.loads(line))).encode() + b"\n")


class Servers:
    """A worker's connections to all of them; parameter i is at server i modulo their number."""

    def __init__(self, endpoints):
        self.streams = []
        for endpoint in endpoints:
            self.streams.append(self._connect(endpoint).makefile("rw"))

    @staticmethod
    def _connect(endpoint, patience=60.0):
        """Workers come first where Gloo is on (PADDLE_WITH_GLOO)."""
        host, port = endpoint.rsplit(":", 1)
        deadline = time.monotonic() + patience
        while True:
            try:
                return socket.create_connection((host, int(port)), timeout=patience)
            except ConnectionRefusedError:
                if time.monotonic() > deadline:
                    raise
                time.sleep(0.01)

    def exchange(self, gradients=None):
        """Sends the gradients, if there are any, and returns the parameters."""
        parameters = [0.0] * len(FOUND)
        for place, stream in enumerate(self.streams):
            names = [str(i) for i in range(len(FOUND)) if i % len(self.streams) == place]
            mine = {} if gradients is None else {name: gradients[int(name)] for name in names}
            stream.write(json.dumps({"parameters": names, "gradients": mine}) + "\n")
            stream.flush()
            for name, value in json.loads(stream.readline()).items():
                parameters[int(name)] = value
        return parameters


def data_of(worker, rows=200):
    chance = random.Random(worker)
    for _ in range(rows):
        x = [chance.uniform(-1, 1) for _ in FOUND[:-1]] + [1.0]
        yield x, sum(a * b for a, b in zip(x, FOUND))


def serve(host, port):
    with Shard((host, port)) as server:
        print(f"server at {host}:{port} is ready", flush=True)
        server.serve_forever()


def train(endpoints, worker, workers, steps, told_at):
    servers = Servers(endpoints)
    rows = list(data_of(worker))
    parameters = servers.exchange()
    for step in range(1, steps + 1):
        errors = [sum(a * b for a, b in zip(x, parameters)) - y for x, y in rows]
        gradients = [2 * sum(e * x[i] for e, (x, _) in zip(errors, rows)) / len(rows) / workers
                     for i in range(len(FOUND))]
        if step in told_at:
            loss = sum(e * e for e in errors) / len(rows)
            print(f"step {step}, loss: [{loss}]", flush=True)
        parameters = servers.exchange(gradients)
    return parameters


def main():
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--steps", type=int, default=300)
    steps = options.parse_args().steps
    if os.environ["TRAINING_ROLE"] == "PSERVER":
        serve(os.environ["POD_IP"], int(os.environ["PADDLE_PORT"]))
    else:
        worker = int(os.environ["PADDLE_TRAINER_ID"])
        found = train(os.environ["PADDLE_PSERVERS_IP_PORT_LIST"].split(","), worker,
                      int(os.environ["PADDLE_TRAINERS_NUM"]), steps, range(100, steps + 1, 100))
        print(f"worker {worker} found [{', '.join(f'{value:+.1f}' for value in found)}]")


if __name__ == "__main__":
    main()
