#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""How long a job stands still when a trainer is killed: until all trainers run again in the next round.

next_round.py --paddle_launch build/release/launcher/paddle-launch [--repetitions 15] [--json FILE] [--plot DIR]

Four test hosts (tests/cluster; root, scripts/setup test) with two trainers each. A trainer on a random host is killed
with SIGKILL; the next round counts from that moment to the last trainer's first instruction. With etcd where etcd is
installed, and beside torchrun where that is there. All subjects take turns, in a new random order each turn.
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

ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT / "tests" / "cluster"), str(ROOT / "tests" / "end_to_end")]

from etcd_server import EtcdServer  # noqa: E402
from reporting import first_line, machine_facts, option_parser, report  # noqa: E402
from taking_turns import Failed, in_short, ms, take_turns  # noqa: E402
from test_hosts import TestHosts, require_test_hosts  # noqa: E402

from harness import kill_quietly  # noqa: E402

HOSTS, PER_HOST = 4, 2
WORLD = HOSTS * PER_HOST
PAUSE = 0.2  # that paddle-launch is asked for
SECONDS = 60  # a round that takes longer never comes
SHARED = "/var/tmp"  # a host's /tmp is its own
ROUNDS = 3  # in one job, the first of which is its start
# The time of the new file is that of the trainer's first instruction, nearly.
TRAINER = ': >"at.${PADDLE_TRAINER_ID-$RANK}.$$"; exec sleep 1000\n'
OURS, ELASTIC, TORCHRUN, TORCHRUN_QUICK = (
    "paddle-launch --ips", "paddle-launch with etcd", "torchrun", "torchrun --monitor_interval 0.1")


class Bench:
    def __init__(self, hosts, etcd, folder, launcher):
        self.hosts, self.etcd, self.base, self.launcher = hosts, etcd, pathlib.Path(folder), launcher
        self.names = hosts.names[:HOSTS]
        self.jobs = 0

    def words(self, subject, host):
        job = f"job{self.jobs}"
        ours = [self.launcher, f"--nproc_per_node={PER_HOST}", f"--log_dir=log.{host}", f"--job_id={job}",
                f"--max_restart={ROUNDS}", f"--restart_pause={PAUSE}"]
        if subject == OURS:
            addresses = ",".join(map(self.hosts.address, self.names))
            return [*ours, f"--ips={addresses}", "/bin/sh", "trainer.sh"]
        if subject == ELASTIC:
            return [*ours, f"--elastic_server={self.etcd.address}", f"--np={HOSTS}", "/bin/sh", "trainer.sh"]
        quick = ["--monitor_interval=0.1"] if subject == TORCHRUN_QUICK else []
        return ["torchrun", f"--nnodes={HOSTS}", f"--nproc_per_node={PER_HOST}", f"--max_restarts={ROUNDS}",
                "--rdzv_backend=c10d", f"--rdzv_endpoint={self.hosts.address(self.names[0])}:29400", f"--rdzv_id={job}",
                # torch 1.13 under Python 3.11 does not understand its own default of these two.
                "--redirects=1", "--tee=1", *quick, "--no_python", "/bin/sh", "trainer.sh"]

    def start(self, subject):
        self.jobs += 1
        self.folder = self.base / f"job{self.jobs}"
        self.folder.mkdir()
        (self.folder / "trainer.sh").write_text(TRAINER)
        return [self.hosts.run(host, self.words(subject, host), cwd=self.folder, stdin=subprocess.DEVNULL,
                               stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) for host in self.names]

    def ranks_since(self, moment):
        """{rank: (time, pid)} of the trainers that began after it."""
        found = {}
        for path in self.folder.glob("at.*"):
            _, rank, pid = path.name.split(".")
            at = path.stat().st_mtime_ns / 1e9
            if at > moment:
                found[int(rank)] = (at, int(pid))
        return found

    def wait_round_after(self, moment):
        end = time.monotonic() + SECONDS
        while len(self.ranks_since(moment)) < WORLD:
            if time.monotonic() > end:
                raise Failed(f"{len(self.ranks_since(moment))} of {WORLD} trainers ran again within {SECONDS} s")
            time.sleep(0.005)
        return self.ranks_since(moment)

    def run(self, subject):
        """The seconds of each next round of one job, and those of the pause in it that was asked for."""
        launchers = self.start(subject)
        took = []
        try:
            ranks = self.wait_round_after(0)
            for number in range(1, ROUNDS):
                time.sleep(random.uniform(0.5, 1.5))
                _, pid = ranks[random.randrange(WORLD)]
                killed = time.time()
                os.kill(pid, signal.SIGKILL)
                ranks = self.wait_round_after(killed)
                # It doubles with each failure soon after a start.
                pause = PAUSE * 2 ** (number - 1) if subject in (OURS, ELASTIC) else 0
                took.append((max(at for at, _ in ranks.values()) - killed, pause))
            return took
        finally:
            for launcher in launchers:
                launcher.send_signal(signal.SIGKILL)
            for launcher in launchers:
                launcher.wait()
            self.clean()

    def clean(self):
        end = time.monotonic() + 30
        while time.monotonic() < end:
            left = [pid for _, pid, _ in self.hosts.leftovers() if pid not in EtcdServer.pids]
            if not left:
                return
            for pid in left:
                kill_quietly(pid)
            time.sleep(0.02)


def table(subjects, times, failures):
    lines = ["| launcher | kill → all run again: median, ms | min..max | without the pause that was asked for: median, ms | "
             "min..max | rounds | failed |", "| --- | --- | --- | --- | --- | --- | --- |"]
    for subject in subjects:
        took = times[subject]
        row = [subject]
        for values in ([whole for whole, _ in took], [whole - pause for whole, pause in took]):
            row += [ms(statistics.median(values)), f"{ms(min(values))}..{ms(max(values))}"] if took else ["", ""]
        row += [str(len(took)), in_short(failures[subject])]
        lines.append("| " + " | ".join(row) + " |")
    return "\n".join(lines)


def torch_version():
    """Of the interpreter that torchrun runs with."""
    python = pathlib.Path(shutil.which("torchrun")).read_text().splitlines()[0].removeprefix("#!").split()
    return first_line(*python, "-c", "import torch; print(torch.__version__)")


def main():
    options = option_parser(__doc__).parse_args()
    require_test_hosts()
    subjects = [OURS]
    subjects += [ELASTIC] if shutil.which("etcd") else []
    subjects += [TORCHRUN, TORCHRUN_QUICK] if shutil.which("torchrun") else []
    folder = tempfile.mkdtemp(prefix="next_round.", dir=SHARED)
    facts = machine_facts(options.paddle_launch,
                          etcd=first_line("etcd", "--version") if ELASTIC in subjects else "not installed",
                          torch=torch_version() if TORCHRUN in subjects else "not installed")
    try:
        with TestHosts(HOSTS + 1) as hosts:
            etcd = EtcdServer(hosts, hosts.names[HOSTS])
            if ELASTIC in subjects:
                etcd.start()
            bench = Bench(hosts, etcd, folder, options.paddle_launch)
            times, failures = take_turns(subjects, options.repetitions, bench.run)
            etcd.stop()
    finally:
        shutil.rmtree(folder)
    rows = [{"launcher": subject, "seconds": times[subject], "failures": failures[subject]} for subject in subjects]
    report(options, "next_round", facts, table(subjects, times, failures), pause=PAUSE, rows=rows)


if __name__ == "__main__":
    main()
