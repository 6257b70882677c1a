# SPDX-License-Identifier: Apache-2.0
"""--servers and --workers, typed on each of three hosts: who is started where and when, what they see, and what is
refused. How such jobs end is in servers_ending_test.py."""

import os
import re
import sys
import unittest

from servers_case import ALL_SERVERS, ALL_WORKERS, HERE, KEPT, NODES, SERVERS, WORKERS, ServersCase

from harness import wait_until
from roles_case import names, roles

SAME_EVERYWHERE = ("PADDLE_GLOO_HTTP_ENDPOINT", "PADDLE_GLOO_RENDEZVOUS", "PADDLE_WITH_GLOO", "PADDLE_LAUNCH_JOB")
LISTEN = """
import os, signal, socket
first, *_ = os.environ["PADDLE_PSERVERS_IP_PORT_LIST"].split(",")
own = f"{os.environ['POD_IP']}:{os.environ['PADDLE_PORT']}"
all = [own] + ([os.environ["PADDLE_GLOO_HTTP_ENDPOINT"]] if own == first else [])
listeners = [socket.create_server((host, int(port))) for host, port in (endpoint.split(":") for endpoint in all)]
if os.environ["TRAINING_ROLE"] == "PSERVER":
    signal.pause()
"""
OWNER = """
import os, socket, sys
listener = socket.create_server(("10.77.0.3", 6271))
open("taken", "w").write(str(os.getpid()))
sys.stdin.read()
"""


class StartTest(ServersCase):
    def test_one_job_whichever_order_the_launchers_come_in(self):
        runs = {"n2": self.start_there("n2", *roles())}
        self.wait_told(runs["n2"], "waiting for the first node, 10.77.0.1:6060-6069: connection refused")
        runs["n3"] = self.start_there("n3", *roles())
        runs["n1"] = self.start_there("n1", *roles())
        self.assert_all_end(runs, 0)
        self.assert_environments()
        self.assert_logs()
        for host, shown in {"n1": "server.0", "n2": "worker.0", "n3": "server.1"}.items():
            lines = [line for line in runs[host].out.decode().splitlines() if " of 4 on " in line]
            self.assertEqual(lines, [f"{shown} of 4 on {host}"], runs[host].told())
        for run in runs.values():
            self.assertNotIn("ABORT!!!", run.err)
        for name in ALL_WORKERS:
            self.assertEqual(self.read(f"reached.{name}"), "3\n")

    def assert_environments(self):
        self.assert_lists(3, 4)
        common = []
        for name in ALL_SERVERS + ALL_WORKERS:
            env = self.seen(name)
            self.assertEqual(env["PADDLE_PSERVERS_IP_PORT_LIST"], ",".join(SERVERS))
            self.assertEqual(env["PADDLE_TRAINER_ENDPOINTS"], ",".join(WORKERS))
            self.assertEqual(env["PADDLE_NNODES"], "3")
            common.append({key: env[key] for key in SAME_EVERYWHERE})
        self.assertEqual([env for env in common if env != common[0]], [])
        host, port = common[0]["PADDLE_GLOO_HTTP_ENDPOINT"].split(":")
        self.assertEqual(host, "10.77.0.1")
        self.assertNotIn(int(port), (6270, 6272))

    def assert_logs(self):
        endpoints = "\n".join(["PADDLE_TRAINER_ENDPOINTS:", *WORKERS, "PADDLE_PSERVERS_IP_PORT_LIST:", *SERVERS, ""])
        for host, local in HERE.items():
            self.assertEqual(sorted(os.listdir(self.dir / f"log.{host}")),
                             ["endpoints.log", *(name.replace(".", "log.") for name in local)])
            self.assertEqual(self.read(f"log.{host}/endpoints.log"), endpoints)
            for name in local:
                self.assertIn(f"{name} of 4 on {host}\n", self.read(f"log.{host}/{name.replace('.', 'log.')}"))

    def test_workers_start_when_the_servers_of_all_nodes_listen(self):
        runs = self.start_job("--server_wait=600", *roles("server.1=shy:go"))
        self.wait_told(runs["n1"], "waiting for servers to listen: server 1 (10.77.0.3:6271)")
        self.assert_none_started()
        self.let_go()
        self.assert_all_end(runs, 0)
        for server in ALL_SERVERS:
            for worker in ALL_WORKERS:
                self.assertLess(self.moment("listens", server), self.moment("started", worker))

    def test_a_server_of_another_node_that_stays_silent_is_told_there(self):
        runs = self.start_job("--server_wait=0.5", *roles("server.1=deaf"))
        self.assert_all_end(runs, 0)
        self.assert_told(runs["n3"], "server 1 (10.77.0.3:6271) does not listen after 0.5 s")

    def test_the_port_for_gloo_is_the_given_one(self):
        self.assert_all_end(self.start_job("--http_port=7123", *roles()), 0)
        self.assertEqual({self.seen(name)["PADDLE_GLOO_HTTP_ENDPOINT"] for name in ALL_SERVERS + ALL_WORKERS},
                         {"10.77.0.1:7123"})

    def test_with_gloo_no_worker_waits_for_a_silent_server_of_another_node(self):
        runs = self.start_job("--with_gloo=1", "--server_wait=600", *roles("server.1=deaf"))
        self.assert_all_end(runs, 0)

    def test_workers_without_ports_get_them_by_their_place(self):
        workers = [endpoint.split(":")[0] for endpoint in WORKERS]
        self.assert_all_end(self.start_job(*roles(), lists=self.lists(workers=workers)), 0)
        self.assert_lists(3, 4)
        self.assertEqual(self.seen("server.1")["PADDLE_TRAINER_ENDPOINTS"],
                         ",".join(f"{host}:{6173 + place}" for place, host in enumerate(workers)))

    def test_host_names_stand_in_the_lists_as_typed(self):
        named = [[re.sub(r"10\.77\.0\.", "n", endpoint) for endpoint in endpoints] for endpoints in (SERVERS, WORKERS)]
        self.assert_all_end(self.start_job(*roles(), lists=self.lists(*named)), 0)
        self.assert_lists(3, 4)
        self.assertEqual(self.seen("worker.3")["PADDLE_PSERVERS_IP_PORT_LIST"], "n1:6270,n3:6271,n1:6272")

    def test_the_hub_may_have_workers_and_the_others_servers(self):
        lists = self.lists(("10.77.0.3:6271", "10.77.0.1:6270"), WORKERS)
        runs = self.start_job(*roles(), lists=lists)
        self.assert_all_end(runs, 0)
        self.assert_lists(2, 4)
        self.assertEqual({self.seen(name)["PADDLE_GLOO_HTTP_ENDPOINT"].split(":")[0] for name in ALL_WORKERS},
                         {"10.77.0.3"})

    def test_heterogeneous_workers_on_all_hosts(self):
        """n4 has nothing else."""
        runs = self.start_job("--heter_workers=10.77.0.4:6290;10.77.0.1:6291,10.77.0.3:6292", "--heter_devices=cpu;cpu",
                              *roles(*KEPT), hosts=self.names)
        self.wait_roles(names("heter", 3))
        self.let_go()
        self.assert_all_end(runs, 0)
        self.assert_lists(3, 4, 3)
        first, last = self.seen("heter.0"), self.seen("heter.2")
        self.assertEqual((first["STAGE_ID"], last["STAGE_ID"], last["STAGE_NUM"]), ("2", "3", "3"))
        self.assertEqual(last["PADDLE_PREVIOUS_HETER_TRAINER_IP_PORT_LIST"], "10.77.0.4:6290")
        self.assertEqual(self.seen("worker.1")["PADDLE_NEXT_HETER_TRAINER_IP_PORT_LIST"], "10.77.0.4:6290")
        for host, name in {"n4": "heter.0", "n1": "heter.1", "n3": "heter.2"}.items():
            self.assertIn(f"{name} of 4 on {host}\n", self.read(f"log.{host}/{name.replace('.', 'log.')}"))
            self.assertGreater(self.moment("stopped", name), max(self.moment("ended", one) for one in ALL_WORKERS))

    def test_every_port_is_free_for_its_process(self):
        """Also where the hub of the job would listen itself, if it were free."""
        lists = self.lists(("10.77.0.1:6060", "10.77.0.3:6060"), ("10.77.0.2:6060", "10.77.0.1:6061"))
        for options in ((), ("--http_port=6062",)):
            with self.subTest(options=options):
                self.assert_all_end(self.start_job(*options, sys.executable, "-IS", "-c", LISTEN, lists=lists), 0)

    def test_check_tries_the_network_and_starts_nothing(self):
        runs = self.start_job("--check", *roles())
        self.assert_all_end(runs, 0)
        self.assertEqual(len({run.out for run in runs.values()}), 1, self.all_told(runs))
        table = runs["n1"].out.decode()
        for host, count in {"n1": 2, "n2": 2, "n3": 3}.items():
            self.assertRegex(table, rf"(?m)^ +\d  {self.hosts.address(host)} +{host} +{count} processes +clock ")
        self.assertIn("all 6 links work", table)
        self.assert_none_started("*")


class RefusalTest(ServersCase):
    def test_a_machine_without_an_entry(self):
        run = self.start_there("n4", *roles())
        run.wait()
        self.assert_status(run, 2)
        self.assert_told(run, "--servers", "--workers", "this machine (n4, which has ", "10.77.0.4")

    def test_a_machine_that_stands_in_the_lists_in_two_ways(self):
        run = self.start_there("n1", *roles(), lists=self.lists(("n1:6270",), ("10.77.0.2:6280", "10.77.0.1:6281")))
        run.wait()
        self.assert_status(run, 2)
        self.assert_told(run, "n1 (place 0), 10.77.0.1 (place 2)", "write it in one way")

    def test_lists_that_differ_are_refused_with_both(self):
        other = (WORKERS[1], WORKERS[0], *WORKERS[2:])
        runs = {host: self.start_there(host, *roles(), lists=self.lists(workers=other if host == "n3" else WORKERS))
                for host in NODES}
        self.assert_all_end(runs, 1)
        self.assert_all_told(runs, "--workers=" + ",".join(WORKERS), "--workers=" + ",".join(other))
        self.assert_none_started("*")

    def test_a_node_that_runs_another_kind_of_job(self):
        runs = self.start_job(*roles(), hosts=("n1", "n2"))
        runs["n3"] = self.start_on("n3", "--ips=10.77.0.1,10.77.0.3,10.77.0.2", "--log_dir=log.n3", *roles())
        self.assert_all_end(runs, 1)
        self.assert_all_told(runs, "a collective job", "--servers=" + ",".join(SERVERS))
        self.assert_none_started("*")

    def test_a_port_in_use_on_one_node_ends_all_and_names_its_owner(self):
        read, write = os.pipe()
        owner = self.hosts.run("n3", [sys.executable, "-IS", "-c", OWNER], stdin=read, cwd=self.dir)
        os.close(read)
        try:
            wait_until(lambda: (self.dir / "taken").exists(), "the port taken")
            runs = self.start_job(*roles())
            self.assert_all_end(runs, 1)
        finally:
            os.close(write)
            owner.wait()
        self.assert_all_told(runs, f"port 6271 of server 1 (--servers) is in use by process {owner.pid}")
        for host in ("n1", "n2"):
            self.assert_told(runs[host], "10.77.0.3 (n3): ")
        self.assert_none_started("*")


class DebianNamesTest(ServersCase):
    HOSTS = {"debian_names": True}

    def test_a_name_that_is_loopback_on_its_own_host_is_told(self):
        runs = self.start_job(*roles(), hosts=("n1", "n2"), lists=self.lists(["n1:6270"], ["n2:6280"]))
        self.assert_all_end(runs, 0)
        self.assert_told(runs["n1"], "server 0 (n1:6270) listens where only this machine reaches it")
        self.assertEqual(self.read("reached.worker.0"), "0\n")


if __name__ == "__main__":
    unittest.main()
