# SPDX-License-Identifier: Apache-2.0
"""Where a user of a cluster types: commands on the first test host."""

import os
import shutil
import subprocess
import unittest

from test_hosts import HOSTS, REQUIRED, SITE

# A test may itself have been started by one of them.
OF_OTHER_RUNTIMES = ("SLURM_", "SLURMD_", "SRUN_", "SBATCH_", "SALLOC_", "OMPI_", "PMIX_", "PMI_", "HYDRA_", "HYDI_",
                     "MPIR_", "MPI_")
# Processes that wait spin, and there are more of them than cores. mpirun would let them yield instead; but on Linux 6.18
# many that yield starve everything else, the kernel itself included, for minutes.
OPEN_MPI = {"OMPI_MCA_mpi_yield_when_idle": 0}
PATH = os.pathsep.join((os.environ.get("PATH", os.defpath), "/usr/sbin", "/sbin"))  # daemons are in sbin
SITE_PATH = ("/usr/sbin", "/usr/bin", "/sbin", "/bin")


def installed(name):
    """On the hosts, whose files may be others than those of this machine."""
    path = os.pathsep.join(f"{SITE}{folder}" for folder in SITE_PATH) if SITE else PATH
    return shutil.which(name, path=path) is not None


def require_programs(*names):
    """Skips where one is not installed, and says so; fails instead where test hosts are required."""
    missing = [name for name in names if not installed(name)]
    if not missing:
        return
    refusal = f"{' '.join(missing)}: not installed ({f'in {SITE}' if SITE else 'scripts/setup test'})"
    if os.environ.get(REQUIRED) == "1":
        raise AssertionError(f"{REQUIRED}=1, but {refusal}")
    raise unittest.SkipTest(refusal)


class FrontEnd:
    """Runs commands on a host, n1 unless said. The working directory must be on the hosts: not below /tmp, or shared.
    The environment is base (or what the test itself has, without the words of other runtimes), what this front end
    needs, and env, where None takes a variable away."""

    def __init__(self, hosts, env=()):
        self.hosts = hosts
        self.env = dict(env)

    def popen(self, argv, *, host=None, env=(), base=None, **how):
        how.setdefault("text", True)
        words = [*HOSTS, "run", "--name", self.hosts.name, host or self.hosts.names[0], *map(str, argv)]
        return subprocess.Popen(words, env=self._environment(base, dict(env)), **how)

    def run(self, argv, *, timeout=60, check=False, **how):
        """A CompletedProcess; AssertionError with everything that was said when it takes too long, or when check is
        set and it did not end with 0."""
        how = {"stdin": subprocess.DEVNULL, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE, **how}
        with self.popen(argv, **how) as process:
            try:
                out, err = process.communicate(timeout=timeout)
            except subprocess.TimeoutExpired:
                process.kill()
                out, err = process.communicate()
                raise AssertionError(self._told(argv, f"did not end within {timeout} s", out, err)) from None
        if check and process.returncode != 0:
            raise AssertionError(self._told(argv, f"ended with {process.returncode}", out, err))
        return subprocess.CompletedProcess(argv, process.returncode, out, err)

    def logs(self):
        """What helps to understand a failure."""
        return ""

    def _told(self, argv, what, out, err):
        return f"{' '.join(map(str, argv))}: {what}\n--- stdout\n{out}\n--- stderr\n{err}\n{self.logs()}"

    def _environment(self, base, more):
        if base is None:
            base = {name: value for name, value in os.environ.items() if not name.startswith(OF_OTHER_RUNTIMES)}
            base["PATH"] = PATH
        env = {**base, **self.env, **more}
        return {name: str(value) for name, value in env.items() if value is not None}
