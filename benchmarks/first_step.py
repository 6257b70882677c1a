#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""How soon real Paddle trains, and how soon it is over: Paddle's own launcher and paddle-launch, the same script.

first_step.py --paddle_launch build/release/launcher/paddle-launch [--ranks 2 4] [--repetitions 7] [--json FILE]

The script is examples/data_parallel.py on the CPU (scripts/paddle_environments). Of one run it counts from starting the
launcher to rank 0's first step and to the launcher's end, and how often a rank came before rank 0's store listened
(`Retry to connect` in a log, 3 s each). In another run a random trainer is killed with SIGKILL while all train, and it
counts from there to the launcher's end. All subjects take turns, in a new random order each turn.
"""
import argparse
import json
import os
import pathlib
import random
import shutil
import signal
import statistics
import subprocess
import tempfile
import time

from taking_turns import Failed, cpu, first_line, in_short, take_turns

ROOT = pathlib.Path(__file__).resolve().parent.parent
SCRIPT = str(ROOT / "examples" / "data_parallel.py")
SECONDS = 180  # a run that takes longer never ends
LOOK = 0.005  # between looks at a log
PADDLES, OURS, WITHOUT_DOOR = "Paddle's own launcher", "paddle-launch", "paddle-launch --store_door off"
FIRST, TRAINING = "step   1  loss", "step  21  loss"
RETRY = "Retry to connect"
VERSION = "import importlib.metadata; print(importlib.metadata.version('paddlepaddle'))"
MEASURES = {"first": "first step", "whole": "whole run", "abort": "kill → end"}


class Bench:
    def __init__(self, folder, launcher, python):
        self.base, self.launcher, self.python = pathlib.Path(folder), launcher, python
        self.jobs = 0

    def words(self, subject, args):
        launcher, ranks = subject
        if launcher == PADDLES:
            return [self.python, "-m", "paddle.distributed.launch", "--nproc_per_node", str(ranks), SCRIPT, *args]
        door = ["--store_door", "off"] if launcher == WITHOUT_DOOR else []
        return [self.launcher, *door, f"--nproc_per_node={ranks}", self.python, "-u", SCRIPT, *args]

    def start(self, subject, *args):
        self.jobs += 1
        self.folder = self.base / f"job{self.jobs}"
        self.folder.mkdir()
        self.began = time.monotonic()
        with open(self.folder / "console", "wb") as console:
            return subprocess.Popen(self.words(subject, args), cwd=self.folder, stdin=subprocess.DEVNULL,
                                    stdout=console, stderr=subprocess.STDOUT, start_new_session=True)

    def logs(self):
        return [path.read_text(errors="replace") for path in sorted(self.folder.glob("log/workerlog.*"))]

    def wait_line(self, process, text):
        """Until rank 0's log has it; the moment."""
        path, end = self.folder / "log" / "workerlog.0", time.monotonic() + SECONDS
        while not (path.exists() and text in path.read_text(errors="replace")):
            if process.poll() is not None or time.monotonic() > end:
                raise Failed(f"no {text!r} from rank 0")
            time.sleep(LOOK)
        return time.monotonic()

    def wait_end(self, process):
        try:
            return process.wait(SECONDS), time.monotonic()
        except subprocess.TimeoutExpired:
            raise Failed(f"it did not end within {SECONDS} s") from None

    def good_run(self, subject):
        process = self.start(subject)
        try:
            first = self.wait_line(process, FIRST) - self.began
            status, ended = self.wait_end(process)
            if status != 0:
                raise Failed(f"it ended with {status}")
            retries = sum(log.count(RETRY) for log in self.logs())
            return {"first": first, "whole": ended - self.began, "retries": retries}
        finally:
            self.clean(process)

    def killed_run(self, subject):
        process = self.start(subject, "--epochs", "100000")
        try:
            self.wait_line(process, TRAINING)
            trainers = [pid for pid in self.processes() if pid != process.pid and is_trainer(pid)]
            if len(trainers) != subject[1]:
                raise Failed(f"{len(trainers)} trainers instead of {subject[1]}")
            killed = time.monotonic()
            os.kill(random.choice(trainers), signal.SIGKILL)
            status, ended = self.wait_end(process)
            if status == 0:
                raise Failed("it ended with 0 although a trainer was killed")
            return {"abort": ended - killed, "left": len(self.processes())}
        finally:
            self.clean(process)

    def run(self, subject):
        return [{**self.good_run(subject), **self.killed_run(subject)}]

    def processes(self):
        """Living processes of the job, known by where they work."""
        found = []
        for entry in filter(str.isdigit, os.listdir("/proc")):
            try:
                if os.readlink(f"/proc/{entry}/cwd").startswith(str(self.folder)):
                    found.append(int(entry))
            except OSError:
                pass
        return found

    def clean(self, process):
        end = time.monotonic() + 30
        while (left := self.processes()) and time.monotonic() < end:
            for pid in left:
                try:
                    os.kill(pid, signal.SIGKILL)
                except ProcessLookupError:
                    pass
            process.poll()
            time.sleep(0.02)
        process.wait()


def is_trainer(pid):
    """A Python that has the script as its program, and is no launcher."""
    try:
        words = pathlib.Path(f"/proc/{pid}/cmdline").read_bytes().decode(errors="replace").split("\0")
    except OSError:
        return False
    return "python" in os.path.basename(words[0]) and SCRIPT in words[1:3]


def seconds(values):
    return f"{statistics.median(values):.2f} ({min(values):.2f}..{max(values):.2f})"


def table(subjects, times, failures):
    lines = ["| launcher | ranks | " + " | ".join(f"{name}, s" for name in MEASURES.values())
             + " | first step against Paddle's | whole run | `Retry` lines | left after a kill | runs | failed |",
             "|" + " --- |" * (len(MEASURES) + 8)]
    for subject in subjects:
        launcher, ranks = subject
        rows, theirs = times[subject], times[PADDLES, ranks]
        cells = [launcher, str(ranks), *(seconds([row[key] for row in rows]) if rows else "" for key in MEASURES)]
        for key in ("first", "whole"):
            medians = [statistics.median(row[key] for row in some) for some in (rows, theirs) if some]
            cells.append(f"{medians[0] / medians[1]:.2f}" if len(medians) == 2 else "")
        cells += [str(sum(row[key] for row in rows)) for key in ("retries", "left")]
        lines.append("| " + " | ".join([*cells, str(len(rows)), in_short(failures[subject])]) + " |")
    return "\n".join(lines)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--paddle_launch", required=True, type=lambda path: str(pathlib.Path(path).resolve()))
    parser.add_argument("--python", default=str(ROOT / "build" / "paddle" / "collective" / "bin" / "python"))
    parser.add_argument("--ranks", type=int, nargs="+", default=[2, 4])
    parser.add_argument("--repetitions", type=int, default=7)
    parser.add_argument("--without_door", action="store_true", help="try paddle-launch --store_door off as well")
    parser.add_argument("--json", help="all single times, into this file")
    options = parser.parse_args()
    launchers = [PADDLES, OURS, *([WITHOUT_DOOR] if options.without_door else [])]
    subjects = [(launcher, ranks) for ranks in options.ranks for launcher in launchers]
    facts = {"CPU": cpu(), "kernel": os.uname().release,
             "paddle-launch": first_line(options.paddle_launch, "--version"),
             "Paddle": first_line(options.python, "-c", VERSION),
             "load before": f"{os.getloadavg()[0]:.1f}"}
    folder = tempfile.mkdtemp(prefix="first_step.")
    try:
        bench = Bench(folder, options.paddle_launch, options.python)
        bench.good_run(subjects[0])  # so that the first subject does not pay for cold files
        times, failures = take_turns(subjects, options.repetitions, bench.run)
    finally:
        shutil.rmtree(folder)
    facts["load after"] = f"{os.getloadavg()[0]:.1f}"
    print("\n".join(f"- {name}: {value}" for name, value in facts.items()), end="\n\n")
    print(table(subjects, times, failures))
    if options.json:
        rows = [{"launcher": launcher, "ranks": ranks, "runs": times[launcher, ranks],
                 "failures": failures[launcher, ranks]} for launcher, ranks in subjects]
        pathlib.Path(options.json).write_text(json.dumps({"machine": facts, "rows": rows}, indent=1) + "\n")


if __name__ == "__main__":
    main()
