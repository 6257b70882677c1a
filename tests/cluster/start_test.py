# SPDX-License-Identifier: Apache-2.0
"""Four nodes meet and start: order, ranks, logs, consoles, names, and several jobs on the same hosts."""

import os
import re
import signal
import unittest

from cluster_case import PER_NODE, ClusterCase

from harness import SH

RECORD = "env >env.$PADDLE_TRAINER_ID; echo rank $PADDLE_TRAINER_ID of $PADDLE_TRAINERS_NUM on $(hostname); "
INTERRUPTED = (130, -signal.SIGINT)
LINE = re.compile(r"(?m)^rank (\d+) of (\d+) on (\w+)$")


class StartCase(ClusterCase):
    def endpoints(self, log_dir):
        lines = self.read(f"{log_dir}/endpoints.log").splitlines()
        self.assertEqual(lines[0], "PADDLE_TRAINER_ENDPOINTS:")
        return lines[1:]

    def logs_in(self, log_dir):
        return sorted(name for name in os.listdir(self.dir / log_dir) if name.startswith("workerlog."))

    def assert_one_world(self, runs, names=None):
        """Ranks, endpoints, logs and consoles of a job of all four hosts that ran RECORD and ended well."""
        self.assert_all_end(runs, 0)
        whole = self.endpoints("log.n1")
        self.assertEqual([endpoint.split(":")[0] for endpoint in whole],
                         [name for name in names or self.addresses for _ in range(PER_NODE)])
        self.assertEqual(len(set(whole)), len(whole))
        for host, run in runs.items():
            ranks = self.ranks_of(host)
            self.assertEqual(self.endpoints(f"log.{host}"), whole)
            self.assertEqual(self.logs_in(f"log.{host}"), [f"workerlog.{rank}" for rank in ranks])
            self.assertEqual(LINE.findall(run.out.decode()), [(str(ranks[0]), "8", host)], run.told())
            for place, rank in enumerate(ranks):
                env = self.environment_of(rank)
                self.assertEqual(env["PADDLE_TRAINER_ENDPOINTS"], ",".join(whole))
                self.assertEqual(env["PADDLE_CURRENT_ENDPOINT"], whole[rank])
                self.assertEqual((env["PADDLE_RANK_IN_NODE"], env["PADDLE_NNODES"]), (str(place), "4"))
                self.assertEqual(env["PADDLE_MASTER"].split(":")[0], whole[0].split(":")[0])


class StartTest(StartCase):
    def test_nodes_start_in_any_order_and_seconds_apart(self):
        runs = {"n3": self.start_node("n3", SH, "-c", RECORD)}
        self.wait_told(runs["n3"], "waiting for the first node, 10.77.0.1:6060-6069: connection refused")
        runs["n1"] = self.start_node("n1", SH, "-c", RECORD)
        self.wait_all_told(runs, "waiting for 2 of 4 nodes: 10.77.0.2, 10.77.0.4 (")
        runs["n4"] = self.start_node("n4", SH, "-c", RECORD)
        self.wait_told(runs["n1"], "waiting for 1 of 4 nodes: 10.77.0.2 (")
        runs["n2"] = self.start_node("n2", SH, "-c", RECORD)
        self.assert_one_world(runs)

    def test_a_shared_log_directory_works(self):
        args = (f"--ips={self.ips}", "--nproc_per_node=2", "--log_dir=log", SH, "-c", RECORD)
        runs = {host: self.start_on(host, *args) for host in self.names}
        self.assert_all_end(runs, 0)
        self.assertEqual(sorted(os.listdir(self.dir / "log")),
                         sorted(["endpoints.log", *(f"workerlog.{rank}" for rank in range(8))]))
        self.assertEqual([endpoint.split(":")[0] for endpoint in self.endpoints("log")],
                         [address for address in self.addresses for _ in range(2)])
        for host, run in runs.items():
            self.assertEqual(LINE.findall(run.out.decode()), [(str(self.ranks_of(host)[0]), "8", host)])
            for rank in self.ranks_of(host):
                self.assertEqual(LINE.findall(self.trainer_bytes(rank).decode()), [(str(rank), "8", host)])

    def test_log_dir_auto_is_named_by_the_first_node(self):
        for shared in (True, False):
            with self.subTest(shared=shared):
                places = {host: self.dir / ("shared" if shared else f"own.{host}") for host in self.names}
                for place in places.values():
                    place.mkdir(exist_ok=True)
                runs = {host: self.start_on(host, f"--ips={self.ips}", "--nproc_per_node=2", "--log_dir=auto", SH, "-c",
                                            RECORD, cwd=place) for host, place in places.items()}
                self.assert_all_end(runs, 0)
                names = {os.readlink(place / "log/latest") for place in places.values()}
                self.assertEqual(len(names), 1, names)
                for host, place in places.items():
                    self.assertEqual(set(os.listdir(place / "log")), {"latest", *names})
                    for rank in self.ranks_of(host):
                        self.assertTrue((place / "log/latest" / f"workerlog.{rank}").is_file())

    def test_console_all_shows_the_own_ranks(self):
        runs = self.start_nodes("--console=all", SH, "-c", RECORD)
        self.assert_all_end(runs, 0)
        for host, run in runs.items():
            shown = re.findall(r"rank (\d+) of 8 on (\w+)", run.out.decode())
            self.assertEqual(sorted(shown), [(str(rank), host) for rank in self.ranks_of(host)], run.told())

    def test_different_cards_are_known_exactly_on_every_node(self):
        cards = {"n1": "0,1", "n2": "2,3", "n3": "4,6", "n4": "7,0"}
        runs = {host: self.start_on(host, f"--ips={self.ips}", f"--gpus={which}", f"--log_dir=log.{host}", SH, "-c",
                                    RECORD, env={"PADDLE_LAUNCH_ASSUME_GPUS": "1"}) for host, which in cards.items()}
        self.assert_one_world(runs)
        for rank in range(8):
            self.assertEqual(self.environment_of(rank)["PADDLE_WORLD_DEVICE_IDS"], "0,1,2,3,4,6,7,0")

    def test_host_names_meet_and_stand_in_the_endpoints(self):
        self.assert_one_world(self.start_nodes(SH, "-c", RECORD, ips="n1,n2,n3,n4"), self.names)

    def start_job(self, name, *options, text=None):
        """A job that holds at the gate; env.NAME.RANK is there when a trainer is."""
        text = text or f"exec 3<gate; env >env.{name}.$PADDLE_TRAINER_ID; read _ <&3 || :"
        return {host: self.start_on(host, f"--ips={self.ips}", "--nproc_per_node=1", f"--log_dir={name}.{host}",
                                    *options, SH, "-c", text) for host in self.names}

    def hub_port(self, name):
        """Where the hub of a job listens, as its host's kernel knows it."""
        pid = self.jobs[name]["n1"].pid
        listening = self.hosts.output("n1", ["ss", "-Hltnp"])
        return [int(port) for port in re.findall(rf"10\.77\.0\.1:(60\d\d) .*pid={pid},", listening)]

    def test_two_jobs_with_different_scripts_share_the_hosts(self):
        gate = self.gate()
        self.jobs = {"a": self.start_job("a")}
        self.wait_file("env.a.0")
        self.jobs["b"] = self.start_job("b")
        for name in self.jobs:
            for rank in range(4):
                self.wait_file(f"env.{name}.{rank}")
        self.assertEqual((self.hub_port("a"), self.hub_port("b")), ([6060], [6061]))
        gate.open()
        for name, runs in self.jobs.items():
            self.assert_all_end(runs, 0)
            self.assertEqual(len({self.read(f"{name}.{host}/endpoints.log") for host in self.names}), 1)
        self.assertFalse(set(self.endpoints("a.n1")) & set(self.endpoints("b.n1")))

    def test_two_jobs_of_one_command_are_told_apart_by_job_id(self):
        gate = self.gate()
        text = "exec 3<gate; env >env.$PADDLE_LAUNCH_JOB.$PADDLE_TRAINER_ID; read _ <&3 || :"
        jobs = {name: self.start_job(name, f"--job_id={name}", text=text) for name in ("one", "two")}
        for name in jobs:
            for rank in range(4):
                self.wait_file(f"env.{name}.{rank}")
        gate.open()
        for name, runs in jobs.items():
            self.assert_all_end(runs, 0)
            self.assertEqual([line.split(":")[0] for line in self.endpoints(f"{name}.n4")], self.addresses)
        self.assertFalse(set(self.endpoints("one.n1")) & set(self.endpoints("two.n1")))

    def test_other_arguments_under_one_job_id_are_a_warning(self):
        runs = {host: self.start_node(host, "--job_id=j", SH, "-c", RECORD, "sh", "same" if host != "n3" else "other")
                for host in self.names}
        self.assert_one_world(runs)
        self.assert_all_told(runs, "WARNING", "the nodes run different commands: 10.77.0.1 (n1)")

    def test_without_a_job_id_the_waiting_line_tells_of_the_other_job(self):
        runs = {host: self.start_node(host, "--bootstrap_timeout=4", SH, "-c", RECORD, "sh",
                                      "same" if host != "n3" else "other") for host in self.names}
        for host, other in (("n3", "10.77.0.1"), ("n1", "10.77.0.3")):
            self.wait_told(runs[host], "met another job there: sh of user root (process ")
            self.assert_told(runs[host], f") at {other}, with these nodes and another command (give both the same "
                             "--job_id to make them one)")
        self.assert_all_end(runs, 75)
        other = runs.pop("n3")
        self.assert_told(other, "Met another job there: sh of user root (process ", ") at 10.77.0.1, with these nodes")
        self.assertNotIn("PADDLE_LAUNCH_TOKEN", other.err)  # advice for those who have another token
        self.assert_all_told(runs, "1 of 4 nodes did not come within 4 s: 10.77.0.3. ",
                             "Met another job there: sh of user root (process ", ") at 10.77.0.3, with these")

    def test_a_node_is_interrupted_and_comes_back_while_the_others_still_wait(self):
        runs = self.start_nodes(SH, "-c", RECORD, hosts=["n1", "n2", "n3"])
        self.wait_all_told(runs, "waiting for 1 of 4 nodes: 10.77.0.4 (")
        first = runs.pop("n2")
        first.send(signal.SIGINT)
        self.assertIn(first.wait(), INTERRUPTED, first.told())
        self.wait_all_told(runs, "waiting for 2 of 4 nodes: 10.77.0.2, 10.77.0.4")
        for run in runs.values():
            self.assertTrue(run.running(), run.told())
            self.assertNotIn("rror", run.err)
        runs["n2"] = self.start_node("n2", SH, "-c", RECORD)
        self.wait_told(runs["n2"], "waiting for 1 of 4 nodes: 10.77.0.4")
        runs["n4"] = self.start_node("n4", SH, "-c", RECORD)
        self.assert_one_world(runs)
        for run in runs.values():
            self.assertNotIn("have come", run.err)

    def test_the_hub_starts_again_while_the_others_still_wait(self):
        runs = self.start_nodes(SH, "-c", RECORD, hosts=["n1", "n2", "n3"])
        self.wait_told(runs["n1"], "waiting for 1 of 4 nodes: 10.77.0.4 (")
        self.kill_launcher(runs.pop("n1"))
        self.wait_all_told(runs, "waiting for the first node")
        runs["n1"] = self.start_node("n1", SH, "-c", RECORD)
        runs["n4"] = self.start_node("n4", SH, "-c", RECORD)
        self.assert_one_world(runs)

    def test_an_interrupt_ends_the_waiting_at_once(self):
        runs = self.start_nodes(SH, "-c", RECORD, hosts=["n1", "n2"])
        self.wait_told(runs["n1"], "waiting for 2 of 4 nodes")
        for run in runs.values():
            run.send(signal.SIGINT)
        for run in runs.values():
            self.assertIn(run.wait(5), INTERRUPTED, run.told())


class DebianNamesTest(StartCase):
    HOSTS = {"debian_names": True}

    def test_a_name_that_is_127_0_1_1_at_home_works(self):
        self.assert_one_world(self.start_nodes(SH, "-c", RECORD, ips="n1,n2,n3,n4"), self.names)


if __name__ == "__main__":
    unittest.main()
