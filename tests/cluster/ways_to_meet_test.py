# SPDX-License-Identifier: Apache-2.0
"""Other ways to say who the nodes are: PaddleCloud's variables, and --master; and --check."""

import re
import unittest

from cluster_case import ClusterCase

from harness import SH

RECORD = (SH, "-c", "env >env.$PADDLE_TRAINER_ID; hostname >host.$PADDLE_TRAINER_ID")


class CloudTest(ClusterCase):
    def cloud(self, host, **more):
        place = self.names.index(host)
        return {"PADDLE_TRAINERS": self.ips, "POD_IP": self.addresses[place], "PADDLE_TRAINER_ID": str(place),
                "TRAINER_PORTS_NUM": "2", "PADDLE_PORT": "7164", **more}

    def test_the_variables_replace_the_list(self):
        runs = {host: self.start_on(host, "--nproc_per_node=2", f"--log_dir=log.{host}", *RECORD, env=self.cloud(host))
                for host in self.names}
        self.assert_all_end(runs, 0)
        endpoints = [f"{address}:{port}" for address in self.addresses for port in (7164, 7165)]
        for host in self.names:
            self.assertEqual(self.read(f"log.{host}/endpoints.log").splitlines()[1:], endpoints)
            for rank in self.ranks_of(host):
                self.assertEqual(self.environment_of(rank)["PADDLE_TRAINER_ENDPOINTS"], ",".join(endpoints))
                self.assertEqual(self.read(f"host.{rank}"), f"{host}\n")

    def test_the_same_list_in_both_is_no_contradiction(self):
        runs = {host: self.start_node(host, *RECORD, env=self.cloud(host)) for host in self.names}
        self.assert_all_end(runs, 0)

    def test_a_list_that_disagrees_is_refused_with_both(self):
        run = self.start_node("n1", *RECORD, ips="10.77.0.1,10.77.0.3", env=self.cloud("n1"))
        run.wait()
        self.assert_status(run, 2)
        self.assert_told(run, "10.77.0.1,10.77.0.3", self.ips, "PADDLE_TRAINERS")

    def test_one_node_may_have_no_cards(self):
        run = self.start_on("n2", *RECORD, env=self.cloud("n2", PADDLE_TRAINERS="10.77.0.2", PADDLE_TRAINER_ID="0",
                                                         TRAINER_PORTS_NUM="1"))
        run.wait()
        self.assert_status(run, 0)
        self.assertEqual(self.environment_of(0)["PADDLE_TRAINER_ENDPOINTS"], "10.77.0.2:7164")

    def test_several_nodes_may_have_no_cards(self):
        runs = {host: self.start_on(host, f"--log_dir=log.{host}", *RECORD,
                                    env=self.cloud(host, TRAINER_PORTS_NUM="1")) for host in self.names}
        self.assert_all_end(runs, 0)
        self.assertEqual(self.environment_of(3)["PADDLE_TRAINERS_NUM"], "4")


class MasterTest(ClusterCase):
    MASTER = "10.77.0.1:7000"

    def start_master(self, counts, options=None, master=None):
        return {host: self.start_on(host, f"--master={master or self.MASTER}", "--nnodes=4",
                                    f"--nproc_per_node={count}", f"--log_dir=log.{host}",
                                    *(options or {}).get(host, []), *RECORD)
                for host, count in counts.items()}

    def assert_places(self, order, counts):
        """Nodes have their ranks in this order, and everyone has the same endpoints."""
        rank = 0
        for host in order:
            for _ in range(counts[host]):
                self.assertEqual(self.read(f"host.{rank}"), f"{host}\n")
                rank += 1
        hosts = [self.hosts.address(host) for host in order for _ in range(counts[host])]
        texts = {self.read(f"log.{host}/endpoints.log") for host in order}
        self.assertEqual(len(texts), 1, texts)
        self.assertEqual([line.split(":")[0] for line in texts.pop().splitlines()[1:]], hosts)

    def test_nodes_with_equal_counts_follow_their_addresses(self):
        counts = dict.fromkeys(self.names, 2)
        self.assert_all_end(self.start_master(counts), 0)
        self.assert_places(self.names, counts)

    def test_nodes_may_have_unequal_counts(self):
        counts = {"n1": 1, "n2": 3, "n3": 2, "n4": 1}
        self.assert_all_end(self.start_master(counts), 0)
        self.assert_places(self.names, counts)
        self.assertEqual(self.environment_of(3)["PADDLE_LOCAL_SIZE"], "3")
        self.assertEqual(self.environment_of(3)["PADDLE_TRAINERS_NUM"], "7")

    def test_explicit_ranks_come_first_and_the_hub_is_next(self):
        counts = {"n1": 1, "n2": 2, "n3": 1, "n4": 1}
        self.assert_all_end(self.start_master(counts, {"n4": ["--rank=0"], "n2": ["--rank=3"]}), 0)
        self.assert_places(["n4", "n1", "n3", "n2"], counts)

    def test_the_hub_is_first_wherever_it_is(self):
        counts = dict.fromkeys(self.names, 1)
        self.assert_all_end(self.start_master(counts, master="10.77.0.3:7000"), 0)
        self.assert_places(["n3", "n1", "n2", "n4"], counts)

    def test_sort_ip_orders_all_by_address(self):
        counts = dict.fromkeys(self.names, 1)
        self.assert_all_end(self.start_master(counts, dict.fromkeys(self.names, ["--sort_ip=True"]), "10.77.0.3:7000"),
                            0)
        self.assert_places(self.names, counts)

    def test_two_launchers_with_one_rank_are_refused(self):
        runs = self.start_master(dict.fromkeys(self.names, 1), {"n2": ["--rank=1"], "n3": ["--rank=1"]})
        self.assert_all_end(runs, 1)
        self.assert_all_told(runs, "two launchers claim --rank=1: process ", " on n2", " on n3")

    def test_a_master_that_never_comes_is_told(self):
        runs = self.start_master({"n2": 1, "n3": 1}, {"n2": ["--bootstrap_timeout=2"], "n3": ["--bootstrap_timeout=2"]})
        self.assert_all_end(runs, 75)
        self.assert_all_told(runs, "the first node, 10.77.0.1:7000, was not reached within 2 s")

    def test_a_trainer_that_dies_among_unequal_counts_ends_all_with_its_code(self):
        trainer = (SH, "-c", "[ $PADDLE_TRAINER_ID = 4 ] && exit 9; exec sleep 1000")
        runs = {host: self.start_on(host, f"--master={self.MASTER}", "--nnodes=4", f"--nproc_per_node={place + 1}",
                                    f"--log_dir=log.{host}", *trainer) for place, host in enumerate(self.names)}
        self.assert_all_end(runs, 9)
        for run in runs.values():
            self.assert_abort_line(run, 10, [4])
        self.assert_told(runs["n1"], "log.n3/workerlog.4")


class CheckTest(ClusterCase):
    def check(self, *options, status):
        runs = self.start_nodes("--check", *options, SH, "-c", "echo started >>started")
        self.assert_all_end(runs, status)
        self.assertFalse((self.dir / "started").exists())
        tables = {run.out.decode() for run in runs.values()}
        self.assertEqual(len(tables), 1, self.all_told(runs))
        return tables.pop()

    def test_a_good_network_is_a_table_and_0(self):
        table = self.check(status=0)
        for place, host in enumerate(self.names):
            self.assertRegex(table, rf"(?m)^ +{place}  {self.hosts.address(host)} +{host} +2 trainers +clock ")
        self.assertRegex(table, r"(?m)^all 12 links work, the slowest took [\d.]+ ms \(")
        self.assertEqual(len(re.findall(r"(?m)^ +\d(?: +(?:-|[\d.]+)){4}$", table)), 4, table)

    def test_blocked_pairs_are_named_with_what_to_do(self):
        ways = {("n2", "n3"): "no route to host", ("n2", "n4"): "no answer in 5 s"}
        for pair, why in ways.items():
            self.hosts.block(*pair, reject=why == "no route to host")
            self.addCleanup(self.hosts.unblock, *pair)
        table = self.check(status=1)
        for pair, why in ways.items():
            for source, target in (pair, pair[::-1]):
                link = re.escape(f"{self.hosts.address(source)} -> {self.hosts.address(target)}")
                self.assertRegex(table, rf"(?m)^ +\d -> \d: {link}, port \d+: {why}$")
        self.assertEqual(table.count("FAIL"), 4, table)
        self.assertIn("4 of 12 links failed", table)
        self.assertIn("what to do:", table)
        self.assertIn("administrator", table)

    def test_a_pair_of_which_one_is_the_hub_never_meets(self):
        self.hosts.block("n1", "n3", reject=True)
        self.addCleanup(self.hosts.unblock, "n1", "n3")
        runs = self.start_nodes("--check", "--bootstrap_timeout=3", SH, "-c", "echo started >>started")
        self.assert_all_end(runs, 75)
        self.assert_told(runs.pop("n3"), "the first node, 10.77.0.1:6060-6069, was not reached within 3 s. The last "
                         "try ended with: no route to host (")
        self.assert_all_told(runs, "1 of 4 nodes did not come within 3 s: 10.77.0.3. The last try ended with: "
                             "10.77.0.3: no route to host (")


if __name__ == "__main__":
    unittest.main()
