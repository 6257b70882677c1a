#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Two jobs of a sweep on the same two nodes, whose four launchers come in any order, many times:

    tests/end_to_end/sweeps.py --times 200 --within 9      # the two nodes of a job come within so many seconds
    tests/end_to_end/sweeps.py --times 200 --within 60

It prints how many ended as two jobs, and in how many nodes of both were mixed."""

import argparse
import collections
import os
import pathlib
import random
import shutil
import subprocess
import tempfile
import threading
import time

NODES = ("127.0.0.2", "127.0.0.3")
MIXED = "the nodes run different commands"


def start_later(binary, folder, port, node, name, delay, timeout):
    time.sleep(delay)
    log = folder / f"{name}.{node}"
    with open(f"{log}.out", "wb") as out:
        ended = subprocess.run([binary, f"--ips={','.join(NODES)}", f"--host={node}", f"--bootstrap_port={port}",
                                f"--bootstrap_timeout={timeout}", "--nproc_per_node=1", f"--log_dir={log}", "/bin/sh",
                                "-c", ":", "sweep", name], cwd=folder, stdin=subprocess.DEVNULL, stdout=out, stderr=out,
                               start_new_session=True)
    return ended.returncode, pathlib.Path(f"{log}.out").read_text()


def one_sweep(binary, port, within, seed):
    """"apart", "mixed", or what else became of the two jobs."""
    chance = random.Random(seed)
    folder = pathlib.Path(tempfile.mkdtemp(prefix="paddle-launch-sweep-"))
    ends, threads = [], []
    for name in ("one", "two"):
        for node in NODES:
            words = (binary, folder, port, node, name, chance.uniform(0, within), within + 60)
            threads.append(threading.Thread(target=lambda words=words: ends.append(start_later(*words))))
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    shutil.rmtree(folder)
    if any(MIXED in text for _, text in ends):
        return "mixed"
    statuses = sorted(status for status, _ in ends)
    return "apart" if statuses == [0] * 4 else f"ended with {statuses}"


def sweeps(binary, ports, times, within, at_once, seed=0):
    """How often each outcome. `ports`: the first of ten for each of those that run at once."""
    outcomes = collections.Counter()
    numbers = iter(range(times))
    lock = threading.Lock()

    def work(place):
        while True:
            with lock:
                number = next(numbers, None)
            if number is None:
                return
            outcome = one_sweep(binary, ports + 10 * place, within, f"{seed}-{number}")
            with lock:
                outcomes[outcome] += 1

    workers = [threading.Thread(target=work, args=(place,)) for place in range(at_once)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    return outcomes


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--times", type=int, default=20)
    parser.add_argument("--within", type=float, default=9, help="seconds")
    parser.add_argument("--at_once", type=int, default=20)
    parser.add_argument("--seed", default="0")
    words = parser.parse_args()
    binary = os.environ.get("PADDLE_LAUNCH_BINARY", "build/release/launcher/paddle-launch")
    for outcome, count in sweeps(binary, 12000, words.times, words.within, words.at_once, words.seed).most_common():
        print(f"{count:5} {outcome}")


if __name__ == "__main__":
    main()
