# SPDX-License-Identifier: Apache-2.0
"""A real Slurm cluster on test hosts: a munged and a slurmd on each, slurmctld on the first.

    with TestHosts() as hosts, SlurmCluster(hosts, KillWait=30) as slurm:
        done = slurm.run(["srun", "-N4", "hostname"])

All its files are in FOLDER, in each host's own /tmp, as on machines that share nothing. So clusters do not meet, the
daemons die with the hosts, however the test ends, and no file outlives them.
"""

import contextlib
import os
import pathlib
import re
import shutil
import stat
import subprocess

from front_end import OPEN_MPI, PATH, FrontEnd, require_programs

from test_hosts import HERE, SITE

from harness import alive, kill_quietly, wait_until

FOLDER = pathlib.PurePosixPath("/tmp/slurm")
CONF = FOLDER / "slurm.conf"
SOCKET = FOLDER / "munge.socket"
DAEMONS = ("munged", "slurmctld", "slurmd")
STEP = "slurmstepd"
CONTROLLER_PORT = 6817
START_SECONDS = 60.0
GPUS = 4  # of a node, unless SlurmCluster(hosts, gpus=8) says otherwise
LISTENING = "0A"  # in /proc/net/tcp

# What a name of slurm.conf is set to unless SlurmCluster(hosts, NAME=value) says otherwise.
SETTINGS = {
    "ClusterName": "test",
    "SlurmUser": "root",
    "AuthType": "auth/munge",
    "AuthInfo": f"socket={SOCKET}",
    "StateSaveLocation": FOLDER / "state",
    "SlurmdSpoolDir": FOLDER / "spool",
    "SlurmctldPidFile": FOLDER / "slurmctld.pid",
    "SlurmdPidFile": FOLDER / "slurmd.pid",
    "SlurmctldLogFile": FOLDER / "slurmctld.log",
    "SlurmdLogFile": FOLDER / "slurmd.log",
    "SlurmctldPort": CONTROLLER_PORT,
    "MpiDefault": "pmix",
    # Where TreeWidth (50 unless set) is no less than the number of nodes, Slurm 22.05 lets a PMIx_Fence without
    # PMIX_COLLECT_DATA go before all have come. Open MPI takes that for a barrier at the end of MPI_Init, and one run
    # of 16 processes in ten crashes there or hangs (as in open-mpi/ompi#12495).
    "TreeWidth": 2,
    "ProctrackType": "proctrack/linuxproc",
    "TaskPlugin": "task/none",
    "JobAcctGatherType": "jobacct_gather/none",
    "SelectType": "select/cons_tres",
    "SelectTypeParameters": "CR_Core",
    "SlurmdParameters": "config_overrides",  # nodes may claim more than this machine has
    "SchedulerType": "sched/builtin",
    "SchedulerParameters": "batch_sched_delay=0",  # else a batch job waits for 3 s
    "ReturnToService": 2,
    "KillWait": 5,
    "GresTypes": "gpu",
}
# What Slurm does not know any more, from that version on.
GONE = {"TaskPlugin": (23, 11), "JobAcctGatherType": (23, 11)}  # "none" is now said by silence
# Where PADDLE_LAUNCH_TEST_CGROUPS names the library of sites/only_v2.c: each node has cgroups as Slurm wants them.
ONLY_V2 = os.environ.get("PADDLE_LAUNCH_TEST_CGROUPS")
CGROUPS = {"ProctrackType": "proctrack/cgroup", "TaskPlugin": "task/cgroup"}
CGROUP_CONF = "CgroupPlugin=cgroup/v2\nIgnoreSystemd=yes\nConstrainDevices=yes\n"
IN_CGROUP = HERE.parent / "sites" / "in_cgroup"
NO_DRIVER = 240  # a device of no driver, which may be taken away from a task; /dev/null may not
DEVICES = pathlib.PurePosixPath("/srv") if ONLY_V2 else FOLDER  # nothing in /tmp is a device to the kernel
NODE = "Sockets=2 CoresPerSocket=8 ThreadsPerCore=1 RealMemory=64000 Gres=gpu:{} State=UNKNOWN"


def require_slurm():
    require_programs("munged", "slurmctld", "slurmd", "srun")


class SlurmCluster(FrontEnd):
    def __init__(self, hosts, *, gpus=GPUS, **settings):
        super().__init__(hosts, {"SLURM_CONF": CONF, **OPEN_MPI})
        self.version = self._ask_version()
        known = {name: value for name, value in SETTINGS.items() if self.version < GONE.get(name, (99,))}
        if not list(pathlib.Path(SITE or "/").glob("usr/lib/*/slurm*/mpi_pmix.so")):
            known["MpiDefault"] = "none"
        self._settings = {**known, **(CGROUPS if ONLY_V2 else {}), **settings}
        self._gpus = gpus
        self._daemons = []

    def __enter__(self):
        if self.exists():
            raise RuntimeError(f"there is a Slurm on {self.hosts.name} already")
        try:
            self.start()
        except BaseException:
            self.stop()
            raise
        return self

    def __exit__(self, *_):
        self.stop()

    @property
    def nodes(self):
        return self.hosts.names

    # starting and stopping

    def start(self):
        """Returns when all nodes are idle."""
        key = os.urandom(128)
        for host in self.nodes:
            self._write_files(host, key)
        for host in self.nodes:
            self._start_daemon(host, "munged", "--foreground", "--num-threads=1", f"--socket={SOCKET}",
                               *(f"--{what}-file={FOLDER}/munge.{what}" for what in ("key", "log", "pid", "seed")))
        self._wait(lambda: all(self.path(host, SOCKET.name).is_socket() for host in self.nodes), "munged's socket")
        self._start_daemon(self.nodes[0], "slurmctld", "-D")
        # A slurmd that finds no controller looks again only after a while.
        self._wait(self._controller_listens, "slurmctld's port")
        for host in self.nodes:
            cgroup = [IN_CGROUP, f"{self.hosts.name}-{host}", ONLY_V2] if ONLY_V2 else []
            self._start_daemon(host, "slurmd", "-D", "-N", host, within=cgroup)
        self.wait_idle(START_SECONDS)

    def stop(self):
        """Kills the daemons and whatever Slurm still runs, and removes the files. State is worth nothing here."""
        end = [pid for _, pid, _ in self.hosts.leftovers() if program_of(pid) in (*DAEMONS, STEP)]
        for pid in end:
            kill_quietly(pid)
        for daemon in self._daemons:
            daemon.wait()
        self._daemons.clear()
        wait_until(lambda: not any(map(alive, end)), "the end of Slurm's processes")
        if ONLY_V2:
            remove_cgroups(self.hosts.name)
        for host in self.nodes:
            shutil.rmtree(self.path(host), ignore_errors=True)

    def _start_daemon(self, host, *words, within=()):
        with open(self.path(host, f"{words[0]}.err"), "w") as err:
            # A session of its own: Ctrl-C is for the test.
            self._daemons.append(self.popen([*within, *words], host=host, cwd="/", stdin=subprocess.DEVNULL, stdout=err,
                                            stderr=err, start_new_session=True))

    def _wait(self, condition, what, seconds=START_SECONDS):
        def look():
            for daemon in self._daemons:
                if daemon.poll() is not None:
                    raise AssertionError(f"a daemon of Slurm ended with {daemon.returncode}\n{self.logs()}")
            return condition()
        wait_until(look, lambda: f"{what}\n{self.logs()}", seconds)

    def _controller_listens(self):
        """As the kernel of n1 knows it."""
        keeper = self.hosts.state["hosts"][self.nodes[0]]["pid"]
        rows = [line.split() for line in pathlib.Path(f"/proc/{keeper}/net/tcp").read_text().splitlines()]
        return any(row[1].endswith(f":{CONTROLLER_PORT:04X}") and row[3] == LISTENING for row in rows[1:])

    def exists(self):
        return self.path(self.nodes[0]).exists()

    def _ask_version(self):
        """(22, 5) of "slurm-wlm 22.05.8"."""
        told = self.hosts.output(self.nodes[0], ["slurmd", "-V"], cwd="/", env={"PATH": PATH})
        return tuple(map(int, re.search(r"(\d+)\.(\d+)", told).groups()))

    # files

    def path(self, host, *names):
        """Of a file in FOLDER of that host, from outside."""
        return self.hosts.path(host, FOLDER).joinpath(*names)

    def _write_files(self, host, key):
        folder = self.path(host)
        folder.mkdir()
        for name in ("state", "spool"):
            (folder / name).mkdir()
        for number in range(self._gpus):  # Slurm takes nothing but devices; these are /dev/null
            device = os.makedev(NO_DRIVER, number) if ONLY_V2 else os.makedev(1, 3)
            os.mknod(self.hosts.path(host, DEVICES) / f"nvidia{number}", stat.S_IFCHR | 0o666, device)
        (folder / "munge.key").touch(0o600)
        (folder / "munge.key").write_bytes(key)
        (folder / "slurm.conf").write_text(self._slurm_conf())
        (folder / "gres.conf").write_text(f"AutoDetect=off\nName=gpu File={DEVICES}/nvidia[0-{self._gpus - 1}]\n")
        # Nothing here uses cgroups, but slurmd loads a plugin for them, and that for v1 asks nothing of the machine.
        if ONLY_V2:
            (folder / "cgroup.conf").write_text(CGROUP_CONF)
        elif self.version >= (21, 8):
            plugin = "disabled" if self.version >= (23, 11) else "cgroup/v1"
            (folder / "cgroup.conf").write_text(f"CgroupPlugin={plugin}\n")

    def _slurm_conf(self):
        lines = [f"{name}={value}" for name, value in self._settings.items()]
        lines.append(f"SlurmctldHost={self.nodes[0]}({self.hosts.address(self.nodes[0])})")
        lines += [f"NodeName={host} NodeAddr={self.hosts.address(host)} {NODE.format(self._gpus)}" for host in self.nodes]
        lines.append("PartitionName=all Nodes=ALL Default=YES MaxTime=INFINITE State=UP")
        return "\n".join(lines) + "\n"

    def logs(self, lines=100):
        """The ends of the daemons' logs, for a test that failed."""
        told = []
        for host in self.nodes:
            for daemon in DAEMONS:
                # What is in the log went to stderr too; but a step writes into the log, and munged to stderr alone.
                texts = [self._read(host, f"{daemon}.{end}") for end in ("log", "err")]
                text = next(filter(None, texts), None)
                if text:
                    told.append(f"--- {daemon} on {host}\n" + "\n".join(text.splitlines()[-lines:]))
        return "\n".join(told)

    def _read(self, host, name):
        try:
            return self.path(host, name).read_text(errors="replace")
        except OSError:
            return ""

    # looking

    def wait_idle(self, seconds=60.0):
        """Until no job is left and all nodes can be used."""
        def idle():
            if self.run(["squeue", "-h"]).stdout:  # a job that waits leaves nodes idle
                return False
            states = self.run(["sinfo", "-h", "-N", "-o", "%N %T"]).stdout.splitlines()
            return sorted(states) == sorted(f"{host} idle" for host in self.nodes)
        self._wait(idle, "idle nodes", seconds)

    def cancel_all(self):
        """Ends all jobs; returns when nothing of them is left but what got away."""
        jobs = self.run(["squeue", "-h", "-o", "%A"], check=True).stdout.split()
        if jobs:
            self.run(["scancel", "--quiet", *jobs], check=True)
        self.wait_idle()
        # A step's own process ends a little after its node is idle again.
        self._wait(lambda: not any(program_of(pid) == STEP for _, pid, _ in self.leftovers()), "the end of the steps")

    @property
    def inhabited(self):
        """The hosts, to whoever looks for leftovers there."""
        return _InhabitedHosts(self)

    def leftovers(self):
        """(host, pid, command line) of what runs on the hosts, the daemons apart."""
        return [row for row in self.hosts.leftovers() if program_of(row[1]) not in DAEMONS]


class _InhabitedHosts:
    """Like the hosts, but the daemons are no leftovers."""

    def __init__(self, slurm):
        self._slurm = slurm

    def __getattr__(self, name):
        return getattr(self._slurm.hosts, name)

    def leftovers(self):
        return self._slurm.leftovers()


def remove_cgroups(name):
    """Of the hosts of that name. They are empty, or become so while their last processes end."""
    def removed():
        beside_v1 = pathlib.Path("/sys/fs/cgroup/unified")
        for top in (beside_v1 if beside_v1.is_dir() else beside_v1.parent).glob(f"{name}-n*"):
            for folder, _, _ in os.walk(top, topdown=False):
                with contextlib.suppress(OSError):
                    os.rmdir(folder)
            if top.exists():
                return False
        return True
    wait_until(removed, f"the end of the cgroups of {name}")


def program_of(pid):
    """By its file, since some rename themselves. Debian's files are called slurmd-wlm and so on."""
    try:
        return os.path.basename(os.readlink(f"/proc/{pid}/exe")).removesuffix("-wlm")
    except OSError:
        return ""
