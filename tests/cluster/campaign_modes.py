# SPDX-License-Identifier: Apache-2.0
"""How the jobs of a campaign are started: {mode: start(job, chance)}. A mode with "+r" is the same with restarts."""

import types

from campaign_ground import HOSTS
from campaign_job import FRONT
from mpi_run import MpiRun

from harness import binary

GRACE = 1
PATIENCE = 12  # --bootstrap_timeout, which a job waits for in vain when a launcher is gone too early
RESTARTS = 3
HEARTBEAT = 10  # the default


def _usual(job):
    words = [f"--grace={GRACE}", f"--bootstrap_timeout={PATIENCE}", f"--heartbeat={HEARTBEAT}", *job.options]
    return [*words, f"--max_restart={job.restarts}", "--restart_pause=0.1"] if job.restarts else words


def _logs(job, host):
    return f"--log_dir={job.log_dir or job.folder / f'log.{host}'}"


def _ranks(job, per_node):
    job.ranks = {host: [f"worker.{place * per_node + number}" for number in range(per_node)]
                 for place, host in enumerate(job.nodes)}


def start_solo(job, chance):
    job.nodes = ["n1"]
    per_node = chance.choice((1, 2, 3))
    _ranks(job, per_node)
    start_node(job, "n1", [f"--nproc_per_node={per_node}"])


def start_ips(job, chance):
    job.nodes = list(HOSTS[:chance.choice((2, 2, 3))])
    per_node = chance.choice((1, 2))
    _ranks(job, per_node)
    ips = ",".join(map(job.ground.address, job.nodes))
    for host in job.nodes:
        start_node(job, host, [f"--ips={ips}", f"--nproc_per_node={per_node}"])


def start_servers(job, chance):
    """n1 has a server and a worker, n2 as well, n3 a worker."""
    job.nodes = list(HOSTS[:chance.choice((1, 2, 3))])
    servers = job.nodes[:2]
    job.ranks = {host: [f"worker.{place}"] for place, host in enumerate(job.nodes)}
    for place, host in enumerate(servers):
        job.ranks[host].append(f"server.{place}")
    first = chance.randrange(20000, 28000, 10)
    lists = [f"--servers={','.join(f'{job.ground.address(host)}:{first}' for host in servers)}",
             f"--workers={','.join(f'{job.ground.address(host)}:{first + 1}' for host in job.nodes)}"]
    for host in job.nodes:
        start_node(job, host, lists)


def start_elastic(job, chance):
    job.nodes = list(HOSTS[:chance.choice((2, 2, 3))])
    words = [f"--elastic_server={job.ground.etcd.address}", f"--job_id={job.folder.name}", f"--np=1:{len(job.nodes)}",
             "--nproc_per_node=1", "--elastic_settle=0.5", "--elastic_timeout=20", "--restart_pause=0.1"]
    for host in job.nodes:
        start_node(job, host, words)


def start_node(job, host, words):
    argv = [binary(), *words, *_usual(job), _logs(job, host), *job.trainer_words()]
    job.start(host, host, argv)


def _start_front(job, starter, per_node, env):
    _ranks(job, per_node)
    logs = f"--log_dir={job.log_dir or job.folder / 'log'}"
    argv = [*starter, binary(), f"--nproc_per_node={per_node}", *_usual(job), logs, *job.trainer_words()]
    job.start(FRONT, job.nodes[0], argv, {name: str(value) for name, value in env.items()})


def start_srun(job, chance):
    job.nodes = list(HOSTS[:2])
    how = chance.choice(("pmix", "pmix", "none"))
    tasks = chance.choice((1, 1, 2))
    starter = ["srun", "-w", ",".join(job.nodes), f"-N{len(job.nodes)}", f"--ntasks-per-node={tasks}", f"--mpi={how}"]
    _start_front(job, starter, 2, job.ground.slurm.env)


def start_mpirun(job, chance):
    job.nodes = list(HOSTS[:2])
    hosts = job.ground.hosts
    mpi = MpiRun(types.SimpleNamespace(name=hosts.name, names=job.nodes, path=hosts.path))
    starter = chance.choice(("openmpi", "hydra"))
    job.joins_statuses = starter == "hydra"
    words = getattr(mpi, starter)([])
    _start_front(job, words, 2, mpi.env)


STARTS = {"solo": start_solo, "ips": start_ips, "servers": start_servers, "srun": start_srun, "mpirun": start_mpirun,
          "elastic": start_elastic}
MODES = [*(f"{name}{more}" for name in ("solo", "ips", "servers", "srun", "mpirun") for more in ("", "+r")), "elastic"]


def start(job, chance):
    name = job.mode.removesuffix("+r")
    job.restarts = RESTARTS if job.mode != name or name == "elastic" else 0
    STARTS[name](job, chance)
