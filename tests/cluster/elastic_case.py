# SPDX-License-Identifier: Apache-2.0
"""Elastic jobs on four test hosts, n1 … n4, and a real etcd on a fifth. Trainers write down in which round they run, and
stay until the file "done" is there."""

import contextlib
import os
import re

from cluster_case import ClusterCase
from etcd_server import EtcdServer, require_etcd, shared_etcd

from harness import DEADLINE, SH, kill_quietly, variables_in, wait_until

SETTLE = 0.5
# Each rank of a round leaves its environment in env.ROUND.RANK, with its pid.
TRAINER = ('r=$PADDLE_LAUNCH_ROUND.$PADDLE_TRAINER_ID; { env; echo TEST_PID=$$; echo TEST_HOST=$(hostname); } >.tmp.$r; '
           'mv .tmp.$r env.$r; echo rank $PADDLE_TRAINER_ID of $PADDLE_TRAINERS_NUM in round $PADDLE_LAUNCH_ROUND; '
           'while [ ! -e done ]; do sleep 0.1; done')


class ElasticCase(ClusterCase):
    HOSTS = {"count": 5}

    @classmethod
    def setUpClass(cls):
        require_etcd()
        super().setUpClass()
        cls.names = cls.names[:4]
        cls.etcd = shared_etcd(lambda: EtcdServer(cls.hosts, "n5"))

    def setUp(self):
        super().setUp()
        self.job_id = f"job-{os.path.basename(self.base)}"

    def tearDown(self):
        try:
            super().tearDown()
            self.assert_etcd_is_empty()
        finally:
            with contextlib.suppress(Exception):
                self.etcd.ctl("del", "--prefix", "/")

    def leftovers(self):
        return [row for row in super().leftovers() if row[1] not in EtcdServer.pids]

    # starting

    def usual(self, host, ips=None, job_id=None, np="2:4", per_node=1):
        return [f"--elastic_server={self.etcd.address}", f"--job_id={job_id or self.job_id}", f"--np={np}",
                f"--nproc_per_node={per_node}", f"--log_dir=log.{host}", f"--elastic_settle={SETTLE}",
                "--restart_pause=0.1", "--heartbeat=3"]

    def start_elastic(self, hosts, *options, np="2:4", job_id=None, per_node=1, trainer=TRAINER, **how):
        """{host: Launch}; a list of hosts, in the order of their start."""
        return {host: self.start_on(host, *self.usual(host, np=np, job_id=job_id, per_node=per_node), *options, SH, "-c",
                                    trainer, **how) for host in hosts}

    def order(self, *words, host="n1", job_id=None):
        """--status, --scale or --stop."""
        run = self.start_on(host, f"--elastic_server={self.etcd.address}", f"--job_id={job_id or self.job_id}", *words)
        run.wait()
        return run

    def finish(self):
        (self.dir / "done").touch()

    def forget_rounds(self):
        for path in self.dir.glob("env.*"):
            path.unlink()

    # looking

    def ranks_in(self, number):
        """{rank: environment} of the trainers that have begun in that round."""
        found = {}
        for name in os.listdir(self.dir):
            match = re.fullmatch(rf"env\.{number}\.(\d+)", name)
            if match:
                found[int(match[1])] = variables_in(self.read(name))
        return found

    def wait_round(self, number, world, runs, seconds=DEADLINE):
        """Waits until that many ranks run in the round. {rank: environment}."""
        def look():
            ranks = self.ranks_in(number)
            return ranks if len(ranks) >= world else None
        ranks = wait_until(look, lambda: f"round {number} with {world} ranks; there are {sorted(self.ranks_in(number))}\n"
                           + self.all_told(runs), seconds)
        self.assertEqual(sorted(ranks), list(range(world)), self.all_told(runs))
        return ranks

    def wait_round_or_later(self, number, world, runs, seconds=DEADLINE):
        """The first round from this one on that has exactly that many ranks, or one of several numbers: (number,
        ranks)."""
        worlds = (world,) if isinstance(world, int) else world
        def look():
            for later in range(number, number + 20):
                ranks = self.ranks_in(later)
                sizes = {env["PADDLE_TRAINERS_NUM"] for env in ranks.values()}
                if len(ranks) in worlds and sizes == {str(len(ranks))}:
                    return later, ranks
            return None
        return wait_until(look, lambda: f"a round from {number} on with {world} ranks\n{self.all_told(runs)}", seconds)

    def hosts_of(self, ranks):
        """The host of each rank, in their order."""
        return [ranks[rank]["TEST_HOST"] for rank in sorted(ranks)]

    def pids_of(self, ranks):
        return {rank: int(env["TEST_PID"]) for rank, env in ranks.items()}

    # harm

    def kill_host(self, host):
        """All that runs there, and its link: as when the power fails. Nobody there can say good-bye."""
        self.hosts.cut(host)
        self.addCleanup(self.hosts.restore, host)
        for _ in range(50):
            pids = [pid for name, pid, _ in self.leftovers() if name == host]
            for pid in pids:
                kill_quietly(pid)
            if not pids:
                return

    # claims

    def assert_etcd_is_empty(self, seconds=DEADLINE):
        left = []
        def look():
            left[:] = self.etcd.keys()
            return not left
        wait_until(look, lambda: f"left in etcd: {left}", seconds)

    def assert_completes(self, runs, status=0):
        self.finish()
        self.assert_all_end(runs, status)
