# SPDX-License-Identifier: Apache-2.0
"""Open MPI's mpirun and MPICH's mpiexec.hydra across test hosts, started on the first:

    mpi = MpiRun(hosts)
    done = mpi.run(mpi.openmpi([program], per_host=4))
    done = mpi.run(mpi.hydra([program], per_host=1))
"""

import contextlib
import re

from front_end import OPEN_MPI, FrontEnd, require_programs
from host_set import INTERFACE
from test_hosts import HERE

AGENT = "/tmp/mpirun_agent"  # of each host: mpirun takes a path with a space for a command with an argument
AS_ROOT = {"OMPI_ALLOW_RUN_AS_ROOT": 1, "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": 1}


def require_openmpi():
    require_programs("mpirun.openmpi")


def require_mpich():
    require_programs("mpiexec.hydra")


class MpiRun(FrontEnd):
    """Those of the hosts, unless others are named."""

    def __init__(self, hosts, mpirun="mpirun.openmpi", mpiexec="mpiexec.hydra"):
        super().__init__(hosts, {**AS_ROOT, **OPEN_MPI})
        self._mpirun, self._mpiexec = str(mpirun), str(mpiexec)
        for host in hosts.names:
            with contextlib.suppress(FileExistsError):
                hosts.path(host, AGENT).symlink_to(HERE / "mpirun_agent")
        told = self.run([self._mpirun, "--version"], cwd="/").stdout  # "mpirun (Open MPI) 4.1.4"
        self.version = int(re.search(r"(\d+)\.", told).group(1))

    def openmpi(self, words, *, per_host=1, options=()):
        """The command that starts so many processes on each host, host by host."""
        daemons, agent, network = ("--prtemca", "ssh", "prte") if self.version >= 5 else ("--mca", "rsh", "oob_tcp")
        mca = {"plm": agent, f"plm_{agent}_agent": AGENT, f"{network}_if_include": INTERFACE}
        by = () if "--map-by" in options else ("--map-by", "slot")  # the newer ones take no two of them
        words_of_mca = [word for name, value in mca.items() for word in (daemons, name, value)]
        return [self._mpirun, *words_of_mca, "--mca", "btl_tcp_if_include", INTERFACE, "-H", self._slots(per_host),
                "--oversubscribe", *by, "--bind-to", "none", *options, *words]

    def hydra(self, words, *, per_host=1, options=()):
        return [self._mpiexec, "-launcher", "ssh", "-launcher-exec", AGENT, "-iface", INTERFACE, "-hosts",
                self._slots(per_host), "-np", str(per_host * len(self.hosts.names)), *options, *words]

    def _slots(self, per_host):
        return ",".join(f"{host}:{per_host}" for host in self.hosts.names)
