# SPDX-License-Identifier: Apache-2.0
"""Commands of the pages, typed on hosts that are as the pages have them: n1 … n4 with the addresses 192.168.0.1 …, a
Slurm with eight cards on each, mpirun and mpiexec. The cards are fakes: Slurm's are /dev/null, and the launchers find
those of tests/fakes/fake_nvml.cc."""

import os
import shutil

from front_end import OPEN_MPI
from host_set import INTERFACE
from mpi_run import AGENT, AS_ROOT
from surroundings_case import SurroundingsCase
from test_hosts import HOSTS

from harness import SH, Launch, binary
from readme_page import EXAMPLES, fake_cards

CARDS = 8
# What a site has set up once, in place of ssh and of mpirun's guess at networks. mpiexec's words are MPICH's.
SITE = {**AS_ROOT, **OPEN_MPI, "OMPI_MCA_plm": "rsh", "OMPI_MCA_plm_rsh_agent": AGENT,
        "OMPI_MCA_oob_tcp_if_include": INTERFACE, "OMPI_MCA_btl_tcp_if_include": INTERFACE,
        "HYDRA_LAUNCHER": "ssh", "HYDRA_LAUNCHER_EXEC": AGENT, "HYDRA_IFACE": INTERFACE}
PROGRAMS = {"mpirun": "mpirun.openmpi", "mpiexec": "mpiexec.hydra"}
# mpirun carries no variables to other hosts, so the fakes are named here.
LAUNCHER = """\
#!/bin/sh
export PADDLE_LAUNCH_NVML_LIBRARY='{PADDLE_LAUNCH_NVML_LIBRARY}' FAKE_NVML_CARDS='{FAKE_NVML_CARDS}'
exec '{binary}' "$@"
"""
NAMES = ("n1=ps0.paddlepaddle.com", "n2=ps1.paddlepaddle.com", "n4=etcd")


class PageCase(SurroundingsCase):
    HOSTS = {"subnet": "192.168.0.0/24", "aliases": NAMES}
    SHARED = tuple(filter(None, [os.path.dirname(os.environ.get("FAKE_NVML_LIBRARY", ""))]))
    SLURM = {"gpus": CARDS}

    def setUp(self):
        super().setUp()
        self.path = self.python_on_path()
        for name, there in PROGRAMS.items():
            self.install(name, f'#!/bin/sh\nexec {shutil.which(there)} "$@"\n')  # they look for their parts beside them
        self.have_cards(CARDS)
        shutil.copytree(EXAMPLES, self.dir / "examples", ignore=shutil.ignore_patterns("__pycache__"))
        self.train_with("linear_regression.py")

    def have_cards(self, count):
        """As many on every host, from now on."""
        self.install("paddle-launch", LAUNCHER.format(**fake_cards(count), binary=binary()))

    def install(self, name, text):
        path = self.base / "bin" / name
        path.write_text(text)
        path.chmod(0o755)

    def train_with(self, example):
        """That one is train.py from now on."""
        shutil.copy(EXAMPLES / example, self.dir / "train.py")

    def type(self, command, *hosts, folder=None, **variables):
        """{host: Launch} of what is typed there. All hosts see the directory; `folder` is one below it, made for this."""
        there = self.dir if folder is None else self.dir / folder
        if not there.exists():
            there.mkdir()
            for name in ("examples", "train.py"):
                (there / name).symlink_to(self.dir / name)
        site = {name: str(value) for name, value in {**self.slurm.env, **SITE}.items()}
        before, launch, after = command.rpartition("paddle-launch ")
        if launch and not before.rpartition("\n")[2]:
            command = f"{before}exec {launch}{after}"  # so that signals reach the launcher
        return {host: Launch(self, ["-c", command], program=SH, cwd=there,
                             env={**site, "PATH": self.path, **variables},
                             prefix=[*HOSTS, "run", "--name", self.hosts.name, host]) for host in hosts}

    def complete(self, command, *hosts, **how):
        """The same, when it has ended well on all of them."""
        runs = self.type(command, *hosts, **how)
        self.assert_all_end(runs, 0)
        return runs

    def logs(self, folder="."):
        return sorted(name for name in os.listdir(self.dir / folder / "log") if not name.endswith(".gpu.log"))

    def assert_logs(self, folder=".", workers=0, servers=0, heters=0):
        """Of so many processes, and nothing else."""
        counts = {"worker": workers, "server": servers, "heter": heters}
        names = [f"{role}log.{number}" for role, count in counts.items() for number in range(count)]
        self.assertEqual(self.logs(folder), sorted([*names, "endpoints.log"]))
