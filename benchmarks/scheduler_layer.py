#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What paddle-launch adds below srun and below mpirun: both start the same tasks with and without it.

scheduler_layer.py --paddle_launch build/release/launcher/paddle-launch [--repetitions 15] [--json FILE] [--plot DIR]

Makes four test hosts with a Slurm (tests/cluster; root, scripts/setup test), so that nothing else has to be set up.
All ways to start take turns, in a new random order each round. A way that fails or hangs is shown as failed.
"""
import os
import pathlib
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT / "tests" / "cluster"), str(ROOT / "tests" / "end_to_end")]

from difference import difference  # noqa: E402
from libnccl import find_libnccl  # noqa: E402
from mpi_run import MpiRun, require_openmpi  # noqa: E402
from reporting import first_line, machine_facts, option_parser, report  # noqa: E402
from slurm_cluster import SlurmCluster, require_slurm  # noqa: E402
from taking_turns import Failed, in_short, ms, take_turns  # noqa: E402
from test_hosts import TestHosts, require_test_hosts  # noqa: E402

from harness import kill_quietly  # noqa: E402

HOSTS = 4
SECONDS = 30  # a start that takes longer hangs
SHARED = "/var/tmp"  # a host's /tmp is its own
LOGS = "/tmp/scheduler_layer_log"
NOTHING = "/bin/true"
MPI_PROGRAM = """#include <mpi.h>
int main(int count, char** words) { return MPI_Init(&count, &words) || MPI_Finalize(); }
"""
# What plugin/mpi asks of Open MPI, for a program that does not ask by itself.
AS_THE_PLUGIN = ("env", "OMPI_MCA_pml=ob1", "OMPI_MCA_btl=tcp,self")
# On the host itself, so that the way there does not count.
STOPWATCH = """
import subprocess, sys, time
begin = time.monotonic()
status = subprocess.call(sys.argv[1:], stdin=subprocess.DEVNULL)
print("took", time.monotonic() - begin, file=sys.stderr)
sys.exit(status)
"""

BARE, MPI, MPI_TCP = "/bin/true", "MPI_Init + MPI_Finalize", "MPI_Init + MPI_Finalize over plain sockets"
OURS, OURS_IDS, ALONE = "paddle-launch", "paddle-launch with NCCL ids", "paddle-launch --bootstrap solo"
JOINED = (OURS, OURS_IDS)


class Bench:
    def __init__(self, slurm, folder, launcher):
        self.slurm = slurm
        self.mpi = MpiRun(slurm.inhabited)
        self.folder = pathlib.Path(folder)
        self.launcher = launcher
        self.nccl = find_libnccl()
        self.program = str(self.folder / "mpi_init")
        (self.folder / "mpi_init.c").write_text(MPI_PROGRAM)
        subprocess.run(["mpicc.openmpi", "-O2", "-o", self.program, self.program + ".c"], check=True)

    def words(self, way, per_host, trainer=(NOTHING,)):
        """What each task runs; one trainer a task. Without cards there are no ids, and so no MPI is opened."""
        def ours(count, *options):
            return [self.launcher, f"--nproc_per_node={count}", f"--log_dir={LOGS}", *options, *trainer]
        cards = ",".join(map(str, range(per_host)))
        return {BARE: [NOTHING], MPI: [self.program], MPI_TCP: [*AS_THE_PLUGIN, self.program], OURS: ours(per_host),
                OURS_IDS: ours(per_host, f"--gpus={cards}", "--assume_gpus", f"--nccl_lib={self.nccl}"),
                # Each task is a job of its own, with a log directory of its own.
                ALONE: ["/bin/sh", "-c", f'exec "$0" --log_dir={LOGS}.$PMIX_RANK "$@"', self.launcher,
                        "--nproc_per_node=1", "--bootstrap=solo", *trainer]}[way]

    def start(self, front_end, per_host, words):
        """Seconds of wall time and of the whole machine's CPU time."""
        front = self.slurm if front_end == "srun" else self.mpi
        command = (["srun", f"-N{HOSTS}", f"--ntasks-per-node={per_host}", "--mpi=pmix", *words]
                   if front_end == "srun" else self.mpi.openmpi(words, per_host=per_host))
        self.settle()
        busy = busy_seconds()
        try:
            done = front.run([sys.executable, "-SEc", STOPWATCH, *command], timeout=SECONDS, cwd=self.folder)
        except AssertionError as error:
            self.clean()
            raise Failed(f"no end within {SECONDS} s") from error
        busy = busy_seconds() - busy
        *said, took = done.stderr.splitlines() or [""]
        if done.returncode != 0 or not took.startswith("took "):
            raise Failed(f"exit code {done.returncode}: {' | '.join(said[-3:])}")
        return float(took.split()[1]), busy

    def check(self, front_end, per_host, way):
        """That all trainers are in one job, before anything is measured."""
        if way not in JOINED:
            return
        trainer = ("/bin/sh", "-c", ': >"seen.$PADDLE_TRAINER_ID.$PADDLE_TRAINERS_NUM"')
        self.start(front_end, per_host, self.words(way, per_host, trainer))
        world = HOSTS * per_host
        seen = {path.name for path in self.folder.glob("seen.*")}
        for name in seen:
            (self.folder / name).unlink()
        if seen != {f"seen.{rank}.{world}" for rank in range(world)}:
            raise Failed(f"the trainers were {' '.join(sorted(seen))}")

    def settle(self):
        """Slurm and mpirun are still tidying up when their command has ended."""
        self.slurm.wait_idle()
        end = time.monotonic() + 5
        while self.slurm.leftovers():
            if time.monotonic() > end:
                return self.clean()
            time.sleep(0.02)

    def clean(self):
        self.slurm.cancel_all()
        for _, pid, _ in self.slurm.leftovers():
            kill_quietly(pid)


def busy_seconds():
    """User and system time of everybody on this machine: tasks are no children of ours."""
    user, nice, system, _, _, irq, softirq, *_ = map(int, pathlib.Path("/proc/stat").read_text().split()[1:9])
    return (user + nice + system + irq + softirq) / os.sysconf("SC_CLK_TCK")


def measure(bench, subjects, repetitions):
    """{subject: [(wall, CPU)]} and {subject: [what went wrong]}."""
    times, failures = {subject: [] for subject in subjects}, {subject: [] for subject in subjects}
    for subject in subjects:
        try:
            bench.check(*subject)
            bench.start(*subject[:2], bench.words(subject[2], subject[1]))  # files come into memory
        except Failed as error:
            failures[subject].append(str(error))
    def run(subject):
        front_end, per_host, way = subject
        return [bench.start(front_end, per_host, bench.words(way, per_host))]
    return take_turns(subjects, repetitions, run, times, failures)


def difference_cell(ours, theirs):
    middle, low, high = map(ms, difference(ours, theirs))
    return f"{middle} ({low}..{high})"


def table(subjects, times, failures):
    walls = {subject: sorted(wall for wall, _ in rows) for subject, rows in times.items()}
    lines = ["| tasks | started by | each task runs | median, ms | min..max | − /bin/true | − MPI_Init | "
             "− MPI_Init over plain sockets | machine's CPU time, ms | failed |",
             "| --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |"]
    for subject in subjects:
        front_end, per_host, way = subject
        wall = walls[subject]
        row = [str(HOSTS * per_host), front_end, way]
        if wall:
            row += [ms(statistics.median(wall)), f"{ms(wall[0])}..{ms(wall[-1])}"]
            for other in (BARE, MPI, MPI_TCP):
                base = walls.get((front_end, per_host, other))
                is_fair = base and way != other and (other == BARE or way in JOINED)
                row.append(difference_cell(wall, base) if is_fair else "")
            row.append(ms(statistics.median(busy for _, busy in times[subject])))
        else:
            row += [""] * 6
        row.append(in_short(failures[subject]))
        lines.append("| " + " | ".join(row) + " |")
    return "\n".join(lines)


def machine(slurm, launcher):
    return machine_facts(launcher, Slurm=slurm.run(["srun", "--version"], check=True).stdout.strip(),
                         **{"Open MPI": first_line("mpirun.openmpi", "--version")},
                         PMIx=first_line("pkg-config", "--modversion", "pmix"))


def main():
    parser = option_parser(__doc__)
    parser.add_argument("--per_host", type=int, nargs="+", default=[1, 4], help="tasks on each of the 4 hosts")
    options = parser.parse_args()
    require_test_hosts()
    require_slurm()
    require_openmpi()
    subjects = [(front_end, per_host, way) for front_end in ("srun", "mpirun") for per_host in options.per_host
                for way in (BARE, MPI, MPI_TCP, OURS, OURS_IDS, ALONE)]
    folder = tempfile.mkdtemp(prefix="scheduler_layer.", dir=SHARED)
    try:
        with TestHosts(HOSTS) as hosts, SlurmCluster(hosts) as slurm:
            facts = machine(slurm, options.paddle_launch)
            times, failures = measure(Bench(slurm, folder, options.paddle_launch), subjects, options.repetitions)
    finally:
        shutil.rmtree(folder)
    rows = [{"front_end": subject[0], "tasks": HOSTS * subject[1], "runs": subject[2], "wall": [wall for wall, _ in
             times[subject]], "cpu": [busy for _, busy in times[subject]], "failures": failures[subject]}
            for subject in subjects]
    report(options, "scheduler_layer", facts, table(subjects, times, failures), rows=rows)


if __name__ == "__main__":
    main()
