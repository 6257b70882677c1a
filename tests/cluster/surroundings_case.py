# SPDX-License-Identifier: Apache-2.0
"""Tests on four test hosts with Slurm, mpirun and mpiexec.hydra. Nothing but Slurm's daemons may be left on any host
when a test ends; their logs are told when it fails."""

import subprocess
import sys
import unittest

from cluster_case import ClusterCase
from mpi_run import MpiRun, require_mpich, require_openmpi
from slurm_cluster import SlurmCluster, require_slurm
from test_hosts import HOSTS

from harness import Launch

_clusters = {}  # of the module that is running, by their hosts


def shared_slurm(hosts, options):
    """One cluster for all classes of a module that have the same hosts; the first says how it is."""
    if hosts.name not in _clusters:
        if not _clusters:
            unittest.addModuleCleanup(_clusters.clear)
        _clusters[hosts.name] = unittest.enterModuleContext(SlurmCluster(hosts, **options))
    return _clusters[hosts.name]


class SurroundingsCase(ClusterCase):
    SLURM = {}  # options of SlurmCluster

    @classmethod
    def setUpClass(cls):
        require_slurm()
        require_openmpi()
        require_mpich()
        super().setUpClass()
        cls.slurm = shared_slurm(cls.hosts, cls.SLURM)
        cls.hosts = cls.slurm.inhabited
        cls.mpi = MpiRun(cls.hosts)

    def run(self, result=None):
        known = 0 if result is None else len(result.failures) + len(result.errors)
        done = super().run(result)
        if result is not None and len(result.failures) + len(result.errors) > known and hasattr(self, "slurm"):
            print(f"--- Slurm's logs after {self.id()}\n{self.slurm.logs()}", file=sys.stderr)
        return done

    def tearDown(self):
        try:
            self.slurm.cancel_all()
        finally:
            super().tearDown()

    # starting, in the test's directory and with its small environment

    def run_slurm(self, argv, **how):
        return self.slurm.run(argv, cwd=self.dir, base=self.environment(), **how)

    def srun(self, *words, **how):
        return self.run_slurm(["srun", *words], **how)

    def openmpi(self, *words, per_host=1, options=(), **how):
        return self.mpi.run(self.mpi.openmpi(words, per_host=per_host, options=options), cwd=self.dir,
                            base=self.environment(), **how)

    def hydra(self, *words, per_host=1, options=(), **how):
        return self.mpi.run(self.mpi.hydra(words, per_host=per_host, options=options), cwd=self.dir,
                            base=self.environment(), **how)

    def starter_words(self, starter, per_host):
        """What comes before a launcher of which srun, openmpi or hydra start so many on each host."""
        if starter == "srun":
            return ["srun", "-N4", f"--ntasks-per-node={per_host}"]
        return getattr(self.mpi, starter)([], per_host=per_host)

    def start_under(self, starter, *args, env=(), **how):
        """A launcher with these arguments, on n1; `starter` is what comes before it."""
        known = {**self.slurm.env, **self.mpi.env, **dict(env)}
        return Launch(self, args, prefix=[*HOSTS, "run", "--name", self.hosts.name, self.names[0], *starter],
                      env={name: str(value) for name, value in known.items()}, **how)

    def slurm_job(self):
        """The number of the only job."""
        jobs = self.slurm.run(["squeue", "-h", "-o", "%A"], check=True).stdout.split()
        self.assertEqual(len(jobs), 1)
        return jobs[0]

    def scancel(self, *words):
        self.slurm.run(["scancel", *words], check=True)

    def compile_mpi(self, compiler, name, text):
        """A program of that name in the test's directory."""
        source = self.write(f"{name}.c", text)
        subprocess.run([compiler, "-O1", "-o", str(self.dir / name), str(source)], check=True)
        return str(self.dir / name)
