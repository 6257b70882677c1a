#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""How soon real PaddlePaddle trains: from the command to rank 0's first training step, to the end, and how soon a dead job ends.

first_step.py --paddle_launch build/release/launcher/paddle-launch --python build/paddle/collective/bin/python
              [--repetitions 7] [--json FILE] [--plot DIR]

The same script under Paddle's own launcher (python -m paddle.distributed.launch) and under paddle-launch, with and without
the door before rank 0's store, on the CPU over gloo. In the last column a trainer is killed with SIGKILL while all of them
train; the time ends when the launcher has. All subjects take turns, in a new random order each turn.
"""
import os
import pathlib
import random
import shutil
import signal
import statistics
import subprocess
import sys
import tempfile
import time

from reporting import first_line, machine_facts, option_parser, report
from taking_turns import Failed, in_short, take_turns

SECONDS = 120  # a job that takes longer has failed
WORLDS = (2, 4)
KILLED_WORLD = 4
PADDLE, OURS, WITHOUT_DOOR = "paddle.distributed.launch", "paddle-launch", "paddle-launch --store_door off"
WHOLE, KILLED = "whole run", "killed"
TRAINER = """\
import os, pathlib, sys, time
import paddle, paddle.distributed as dist
dist.init_parallel_env()
rank = dist.get_rank()
model = paddle.DataParallel(paddle.nn.Linear(10, 1))
adam = paddle.optimizer.Adam(parameters=model.parameters())
steps = int(sys.argv[1])
for step in range(steps):
    loss = (model(paddle.randn([8, 10])) ** 2).mean()
    loss.backward()
    adam.step()
    adam.clear_grad()
    if step == 0:
        pathlib.Path(f"first_step.{rank}.{os.getpid()}").touch()
    if steps > 1000:
        time.sleep(0.01)
"""


class Bench:
    def __init__(self, folder, launcher, python):
        self.base, self.launcher, self.python = pathlib.Path(folder), launcher, python
        self.jobs = 0

    def words(self, subject, world, steps):
        script = ["--log_dir=log", f"--nproc_per_node={world}", "train.py", str(steps)]
        if subject == PADDLE:
            return [self.python, "-m", "paddle.distributed.launch", *script]
        door = ["--store_door=off"] if subject == WITHOUT_DOOR else []
        return [self.launcher, "--python", self.python, *door, *script]

    def start(self, subject, world, steps):
        self.jobs += 1
        self.folder = self.base / f"job{self.jobs}"
        self.folder.mkdir()
        (self.folder / "train.py").write_text(TRAINER)
        return subprocess.Popen(self.words(subject, world, steps), cwd=self.folder, stdin=subprocess.DEVNULL,
                                stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True)

    def first_steps(self):
        """{rank: (when, pid)}"""
        found = {}
        for path in self.folder.glob("first_step.*"):
            _, rank, pid = path.name.split(".")
            found[int(rank)] = (path.stat().st_mtime_ns / 1e9, int(pid))
        return found

    def retries(self):
        return sum(path.read_text(errors="replace").count("Retry to connect")
                   for path in (self.folder / "log").glob("workerlog.*"))

    def run(self, what):
        subject, world, kind = what
        began = time.time()
        job = self.start(subject, world, 20 if kind == WHOLE else 1_000_000)
        try:
            return [self.whole(job, began) if kind == WHOLE else self.killed(job, world)]
        except subprocess.TimeoutExpired:
            raise Failed(f"did not end within {SECONDS} s") from None
        finally:
            kill_session(job)

    def whole(self, job, began):
        status = job.wait(SECONDS)
        ended = time.time()
        if status != 0:
            raise Failed(f"ended with {status}")
        return {"first step": self.first_steps()[0][0] - began, "end": ended - began, "retries": self.retries()}

    def killed(self, job, world):
        end = time.monotonic() + SECONDS
        while len(self.first_steps()) < world:
            if time.monotonic() > end or job.poll() is not None:
                raise Failed("not all ranks trained")
            time.sleep(0.02)
        time.sleep(random.uniform(0.5, 1.5))
        _, pid = self.first_steps()[random.randrange(1, world)]
        killed = time.time()
        os.kill(pid, signal.SIGKILL)
        status = job.wait(SECONDS)
        if status == 0:
            raise Failed("ended with 0 although a trainer was killed")
        return {"abort": time.time() - killed, "retries": self.retries()}


def kill_session(job):
    """What a launcher left is not to slow down the next one."""
    for stat in pathlib.Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = stat.read_text().rpartition(")")[2].split()
            if int(fields[3]) == job.pid:
                os.kill(int(stat.parent.name), signal.SIGKILL)
        except (OSError, ValueError, IndexError):
            continue
    job.wait()


def median_cells(values, peers):
    """Median, range, and the ratio to the peer's median."""
    if not values:
        return ["", "", ""]
    ratio = f"{statistics.median(values) / statistics.median(peers):.2f}" if peers else ""
    return [f"{statistics.median(values):.2f}", f"{min(values):.2f}..{max(values):.2f}", ratio]


def table(times, failures):
    def column(subject, world, kind, name):
        return [row[name] for row in times.get((subject, world, kind), [])]

    lines = ["| ranks | launcher | first step, s | min..max | of Paddle's | end, s | min..max | of Paddle's | "
             "kill → end, s | min..max | of Paddle's | `Retry to connect` lines | failed |", "|" + " --- |" * 13]
    for world in WORLDS:
        for subject in (PADDLE, OURS, WITHOUT_DOOR):
            row = [str(world), subject]
            for kind, name in ((WHOLE, "first step"), (WHOLE, "end"), (KILLED, "abort")):
                row += median_cells(column(subject, world, kind, name), column(PADDLE, world, kind, name))
            retries = sum(column(subject, world, WHOLE, "retries") + column(subject, world, KILLED, "retries"))
            failed = [text for kind in (WHOLE, KILLED) for text in failures.get((subject, world, kind), [])]
            lines.append("| " + " | ".join([*row, str(retries), in_short(failed)]) + " |")
    return "\n".join(lines)


def main():
    parser = option_parser(__doc__, repetitions=7)
    # Not resolved: a virtual environment's python is a link that has to keep its name.
    parser.add_argument("--python", required=True, type=os.path.abspath, help="an interpreter that has paddle")
    options = parser.parse_args()
    subjects = [(subject, world, WHOLE) for world in WORLDS for subject in (PADDLE, OURS, WITHOUT_DOOR)]
    subjects += [(subject, KILLED_WORLD, KILLED) for subject in (PADDLE, OURS)]
    facts = machine_facts(options.paddle_launch, paddle=first_line(
        options.python, "-c", "from paddle import version; print(version.full_version)"))
    folder = tempfile.mkdtemp(prefix="first_step.")
    try:
        bench = Bench(folder, options.paddle_launch, options.python)
        times, failures = take_turns(subjects, options.repetitions, bench.run)
    finally:
        shutil.rmtree(folder)
    rows = [{"launcher": subject, "ranks": world, "kind": kind, "times": times[subject, world, kind],
             "failures": failures[subject, world, kind]} for subject, world, kind in subjects]
    report(options, "first_step", facts, table(times, failures), rows=rows)


if __name__ == "__main__":
    sys.exit(main())
