# SPDX-License-Identifier: Apache-2.0
"""A real fleet job with a parameter server: the workers learn, the launcher ends the server, which would never end by
itself, and the status is 0."""

import unittest

from cluster_case import ClusterCase
from paddle_case import PROXIES, SECONDS, PaddleMixin

from harness import LauncherCase

WORKERS = 2
NEAR = 0.1  # workers tell each other their steps by and by, so that they are never at quite the same point


class FleetJob(PaddleMixin):
    ENVIRONMENT = "parameter_server"

    def assert_job_trained(self):
        results = self.results("out", WORKERS)
        self.assert_loss_falls(results)
        one, other = (sum(absolute for _, absolute in result["sums"]) for result in results)
        self.assertAlmostEqual(one, other, delta=NEAR * one)

    def assert_server_stopped(self, log_dir):
        text = (self.dir / log_dir / "serverlog.0").read_text(errors="replace")
        self.assertIn("[SignalInfo: *** SIGTERM", text)
        self.assertRegex(text.splitlines()[-1], "server 0 was stopped because all workers have finished")


RPC = """
import os, sys, time
rank = int(os.environ["PADDLE_TRAINER_ID"])
if rank == 0:
    time.sleep(2)  # whoever came before the store was open would sleep for 3 s
import paddle.distributed.rpc as rpc
rpc.init_rpc(f"worker{rank}")
if rank == 0:
    print(rpc.rpc_sync("worker1", pow, args=(2, 5)), "from worker1", flush=True)
rpc.shutdown()
"""


class RpcTest(PaddleMixin, LauncherCase):
    ENVIRONMENT = "parameter_server"  # the wheel of the other one has no rpc

    def test_ranks_that_come_before_the_store_call_each_other(self):
        self.write("rpc.py", RPC)
        run = self.train("--run_mode=rpc", "--nproc_per_node=3", self.python, "rpc.py")
        self.assert_status(run, 0)
        self.assertIn(b"32 from worker1\n", run.out)


class OneNodeTest(FleetJob, LauncherCase):
    def test_the_job_ends_with_0_and_leaves_no_server(self):
        run = self.train("--server_num=1", f"--trainer_num={WORKERS}",
                         *self.script("fleet_parameter_server", "--out", "out"))
        self.assert_status(run, 0)
        self.assert_nothing_left()
        self.assert_job_trained()
        self.assert_server_stopped("log")

    def test_brpc_and_gloo_do_not_ask_a_proxy_for_the_hosts_of_the_job(self):
        run = self.train("--server_num=1", f"--trainer_num={WORKERS}",
                         *self.script("fleet_parameter_server", "--out", "out"), env=PROXIES)
        self.assert_status(run, 0)
        self.assert_job_trained()


class TwoHostsTest(FleetJob, ClusterCase):
    HOSTS = {"count": 2}

    def test_workers_beside_the_server_and_on_another_host(self):
        one, two = self.addresses
        lists = (f"--servers={one}:6270", f"--trainers={one}:6271,{two}:6271")
        script = self.script("fleet_parameter_server", "--out", "out")
        runs = {host: self.start_on(host, *lists, f"--log_dir=log.{host}", *script) for host in self.names}
        self.assert_all_end(runs, 0, SECONDS)
        self.assert_job_trained()
        self.assert_server_stopped("log.n1")


if __name__ == "__main__":
    unittest.main()
