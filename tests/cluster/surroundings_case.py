# SPDX-License-Identifier: Apache-2.0
"""Tests on four test hosts with Slurm, mpirun and mpiexec.hydra. Nothing but Slurm's daemons may be left on any host
when a test ends; their logs are told when it fails."""

import subprocess
import sys
import unittest

from cluster_case import ClusterCase
from mpi_run import MpiRun, require_mpich, require_openmpi
from slurm_cluster import SlurmCluster, require_slurm

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

    def compile_mpi(self, compiler, name, text):
        """A program of that name in the test's directory."""
        source = self.write(f"{name}.c", text)
        subprocess.run([compiler, "-O1", "-o", str(self.dir / name), str(source)], check=True)
        return str(self.dir / name)
