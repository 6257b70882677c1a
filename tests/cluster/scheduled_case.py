# SPDX-License-Identifier: Apache-2.0
"""Jobs of launchers that srun, mpirun or mpiexec.hydra started on four hosts, with trainers that write down which
signals they got and whether they had the time to save."""

import json
import sys

from surroundings_case import SurroundingsCase

from harness import DEADLINE, launcher_of, wait_until

PER_NODE = 4
WORLD = 4 * PER_NODE
ALL = range(WORLD)
DONE = dict.fromkeys(ALL, 0)
MORTAL = -1  # in place of the seconds: signals do what they do to a program that does not know of them

# train.py SECONDS {RANK: ORDER}: waits at the gate. Then a rank with a number ends with it, one with a word waits until
# there is a file of that name and ends with 0, and the others stay. SIGTERM makes a trainer save for so many seconds
# and end with 0.
TRAINER = """
import json, os, signal, sys, time
rank, seconds, orders = os.environ["PADDLE_TRAINER_ID"], float(sys.argv[1]), json.loads(sys.argv[2])
is_saving = False

def tell(word):
    with open("told." + rank, "a") as file:
        file.write(word + "\\n")

def note(number, _):
    global is_saving
    tell(signal.Signals(number).name)
    if number != signal.SIGTERM or is_saving:
        return
    is_saving = True
    time.sleep(seconds)
    tell("saved")
    os._exit(0)

for number in (signal.SIGTERM, signal.SIGINT, signal.SIGUSR1, signal.SIGUSR2):
    signal.signal(number, note if seconds >= 0 else signal.SIG_DFL)
gate = os.open("gate", os.O_RDONLY)
with open(".tmp." + rank, "w") as file:
    file.write(str(os.getpid()))
os.rename(".tmp." + rank, "ready." + rank)
os.read(gate, 1)
order = orders.get(rank)
while order is None:
    signal.pause()
if isinstance(order, int):
    print("the last words", flush=True)
    os._exit(order)
while not os.path.exists(order):
    time.sleep(0.05)
"""


class Job:
    """A job whose trainers all came to the gate."""

    def __init__(self, case, run, folder, gate, pids):
        self._case, self.run, self.folder, self.gate, self.pids = case, run, folder, gate, pids

    def told(self, rank):
        """The words that the trainer wrote down."""
        path = self.folder / f"told.{rank}"
        return path.read_text().split() if path.exists() else []

    def silent(self, word, ranks=ALL):
        """The ranks that have not written that word."""
        return [rank for rank in ranks if word not in self.told(rank)]

    def wait_told(self, word, ranks=ALL, seconds=DEADLINE):
        wait_until(lambda: not self.silent(word, ranks), lambda: f"no {word} from rank {self.silent(word, ranks)}, but "
                   f"{[self.told(rank) for rank in ranks]}\n{self.run.told()}", seconds)

    def launcher(self, rank):
        """The pid of the rank's launcher."""
        return launcher_of(self.pids[rank])

    def step(self):
        """Of the only job that Slurm runs, as scancel wants it."""
        return f"{self._case.slurm_job()}.0"


class ScheduledCase(SurroundingsCase):
    def launcher_words(self, seconds, orders):
        """There are PER_NODE trainers on a host, however many launchers."""
        return [f"--nproc_per_node={PER_NODE}", sys.executable, "-IS", "train.py", str(seconds),
                json.dumps(orders or {})]

    def start_job(self, starter, seconds=0.5, orders=None, *, per_host=PER_NODE, env=()):
        """srun, openmpi or hydra start so many launchers on each host, in a folder of the job's own. Returns when all
        trainers are at the gate."""
        base, self.dir = self.dir, self.base / f"job{len(self.launches)}"
        try:
            self.dir.mkdir()
            self.write("train.py", TRAINER)
            earlier, self._gates = self._gates, []  # the gates of other jobs stay shut
            gate = self.gate()
            self._gates += earlier
            words = self.launcher_words(seconds, orders)
            run = self.start_under(self.starter_words(starter, per_host), *words, env=env)
            return Job(self, run, self.dir, gate, self.wait_ready(WORLD))
        finally:
            self.dir = base

    # claims

    def assert_ends(self, job, status):
        job.run.wait()
        self.assertEqual(job.run.status, status, job.run.told())

    def assert_saved(self, job, ranks=ALL):
        """They had their SIGTERM and the time they needed, even if those who started the launchers were gone before;
        then nothing is left."""
        job.wait_told("saved", ranks)
        self.assertEqual(job.silent("SIGTERM", ranks), [])
        self.wait_none_left()
