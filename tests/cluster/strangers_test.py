# SPDX-License-Identifier: Apache-2.0
"""Strangers at every port that a process of ours owns, from the first moment to the end, change nothing: each way to
start a job is tried calm, and then under attack. STRANGER_RUNS=50 tries each as often."""

import contextlib
import os
import re
import sys
import unittest

from cluster_case import ClusterCase
from elastic_case import ElasticCase
from port_attack import PortAttack
from servers_case import ServersCase
from surroundings_case import SurroundingsCase

from harness import strip_own_lines
from roles_case import roles

RUNS = int(os.environ.get("STRANGER_RUNS", "1"))
SEED = int(os.environ.get("STRANGER_SEED", "1"))
RESTARTS = ("--max_restart=2", "--restart_pause=0.1")
SAID = re.compile(r"INFO|WARNING|ERROR|ABORT")
OF_TIMING = re.compile(r"a stranger at|waiting for|trainers share")
OF_MPI = re.compile(rb"(?m)^.* UCX  WARN .*\n")  # MPICH's words about strangers at a port of its own

# With a word, rank 1 fails in round 0, and the others stay until they are stopped. Else all ranks meet in a store that
# rank 0 opens late, and that takes no notice of strangers who come through the relay.
TRAINER = """
import os, socket, sys, threading, time
rank, size = int(os.environ["PADDLE_TRAINER_ID"]), int(os.environ["PADDLE_TRAINERS_NUM"])
host, port = os.environ["PADDLE_MASTER"].split(":")
patience = 60

def answer(guest):
    try:
        guest.settimeout(patience)
        word = guest.makefile("rb").readline(20)
        if word.startswith(b"rank "):
            guest.sendall(word)
            guest.shutdown(socket.SHUT_WR)
            answered.add(word)
    except OSError:
        pass

if sys.argv[1:] and os.environ["PADDLE_LAUNCH_ROUND"] == "0":
    time.sleep(0.3 if rank == 1 else 1000)
    sys.exit(7)
if rank == 0:
    time.sleep(0.3)
    answered, end = set(), time.monotonic() + patience
    with socket.create_server(("", int(port))) as store:
        store.settimeout(0.05)
        while len(answered) < size - 1 and time.monotonic() < end:
            try:
                guest = store.accept()[0]
            except OSError:
                continue
            threading.Thread(target=answer, args=(guest,), daemon=True).start()
    assert len(answered) == size - 1, answered
else:
    with socket.create_connection((host, int(port)), patience) as line:
        line.sendall(b"rank %d\\n" % rank)
        assert line.makefile("rb").read() == b"rank %d\\n" % rank
print("rank", rank, "of", size, "has met the others", flush=True)
"""


def words_of(run):
    """What a launcher said of its job, without numbers and without lines that are a matter of time."""
    lines = [line for line in run.err.splitlines() if SAID.match(line) and not OF_TIMING.search(line)]
    return sorted({re.sub(r"\d+", "#", line) for line in lines})


class Attacked:
    """For a ClusterCase."""

    def trainer(self, *words):
        return [sys.executable, "-IS", self.write("train.py", TRAINER), *words]

    def assert_undisturbed(self, start, here=False):
        """start() gives the launchers of a job, {name: Launch}."""
        calm = self.run_job(start)
        for seed in range(SEED, SEED + RUNS):
            with self.subTest(seed=seed):
                where = {"mark": self.base} if here else {"hosts": self.hosts.name}
                # What MPI does with strangers at ports of its own is not the launcher's: see docs/job-channel.md.
                attack = PortAttack(**where, mpi=False, seed=seed)
                self.assertEqual(self.run_job(start, attack), calm)
                self.assertGreater(attack.count("reset"), 0)

    def run_job(self, start, attack=None):
        """Each in a folder of its own. What its launchers and trainers said."""
        self.dir = self.base / f"job{next(self.numbers)}"
        self.dir.mkdir()
        try:
            with attack or contextlib.nullcontext():
                runs = start()
                self.assert_all_end(runs, 0)
        except AssertionError:
            self.clear_up()
            raise
        # Sorted, since elastic nodes have their ranks by chance.
        told = sorted((OF_MPI.sub(b"", run.out), words_of(run)) for run in runs.values())
        logs = {path.name: strip_own_lines(path.read_bytes()) for path in self.dir.glob("log*/*log.[0-9]*")}
        return told, logs


class StartedByHandTest(Attacked, ClusterCase):
    HOSTS = {"count": 4}  # not those of Slurm

    def test_one_node(self):
        self.assert_undisturbed(lambda: {"here": self.start("--nproc_per_node=3", *self.trainer())}, here=True)

    def test_one_node_with_a_restart(self):
        self.assert_undisturbed(lambda: {"here": self.start("--nproc_per_node=3", *RESTARTS, *self.trainer("fail"))},
                                here=True)

    def test_a_list_of_nodes(self):
        self.assert_undisturbed(lambda: self.start_nodes(*self.trainer()))

    def test_a_list_of_nodes_with_a_restart(self):
        self.assert_undisturbed(lambda: self.start_nodes(*RESTARTS, *self.trainer("fail")))


class SchedulersTest(Attacked, SurroundingsCase):
    def start_job(self, starter, *options):
        return {starter: self.start_under(self.starter_words(starter, 1), "--nproc_per_node=2", *options)}

    def test_schedulers(self):
        for starter in ("srun", "openmpi", "hydra"):
            with self.subTest(starter=starter):
                self.assert_undisturbed(lambda: self.start_job(starter, *self.trainer()))

    def test_schedulers_with_a_restart(self):
        for starter in ("srun", "openmpi", "hydra"):
            with self.subTest(starter=starter):
                self.assert_undisturbed(lambda: self.start_job(starter, *RESTARTS, *self.trainer("fail")))


class ParameterServersTest(Attacked, ServersCase):
    HOSTS = StartedByHandTest.HOSTS

    def test_parameter_servers(self):
        self.assert_undisturbed(lambda: self.start_job(*roles()))


class ElasticTest(Attacked, ElasticCase):
    HOSTS3 = ("n1", "n2", "n3")

    def start_job(self, *options):
        self.job_id = f"job-{self.base.name}-{self.dir.name}"
        return {host: self.start_on(host, *self.usual(host, np="3:3"), *options) for host in self.HOSTS3}

    def test_elastic(self):
        self.assert_undisturbed(lambda: self.start_job(*self.trainer()))

    def test_elastic_with_a_restart(self):
        self.assert_undisturbed(lambda: self.start_job(*RESTARTS, *self.trainer("fail")))

    def test_a_node_takes_over(self):
        """Its port had strangers all the time, and nobody who answered."""
        for seed in range(SEED, SEED + RUNS):
            with self.subTest(seed=seed), PortAttack(self.hosts.name, seed=seed) as attack:
                self.dir = self.base / f"job{next(self.numbers)}"
                self.dir.mkdir()
                self.job_id = f"job-{self.base.name}-{self.dir.name}"
                runs = self.start_elastic(self.HOSTS3, np="2:3")
                first = self.hosts_of(self.wait_round_or_later(0, 3, runs)[1])[0]
                self.kill_launcher(runs.pop(first))
                self.wait_round_or_later(1, 2, runs)
                self.assert_completes(runs)
            self.assertGreater(attack.count("reset"), 0)


if __name__ == "__main__":
    unittest.main()
