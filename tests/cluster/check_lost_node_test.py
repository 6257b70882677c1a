# SPDX-License-Identifier: Apache-2.0
"""--check while a node is lost: everybody has a table, in which the lost node has its place, and ends with 75. n3 and n4
lose what they send to each other, so that a check lasts for as long as a try without an answer."""

import re
import time
import unittest

from cluster_case import ClusterCase

from harness import SH, wait_until

TRY = 5  # seconds until a try without an answer is given up
SLACK = 10  # of a loaded machine
SYN_SENT = "02"


class CheckLostNodeTest(ClusterCase):
    def setUp(self):
        super().setUp()
        self.hosts.block("n3", "n4")
        self.addCleanup(self.hosts.unblock, "n3", "n4")

    def start_check(self, *options):
        """Returns when n3 tries its links."""
        runs = self.start_nodes("--check", *options, SH, "-c", "echo started >>started")
        keeper = self.hosts.state["hosts"]["n3"]["pid"]
        to_n4 = "".join(f"{int(part):02X}" for part in reversed(self.hosts.address("n4").split(".")))
        def is_trying():
            with open(f"/proc/{keeper}/net/tcp", encoding="ascii") as file:
                rows = [line.split() for line in file]
            return any(row[2].startswith(to_n4) and row[3] == SYN_SENT for row in rows)
        wait_until(is_trying, lambda: self.all_told(runs))
        return runs

    def assert_lost(self, runs, host, seconds):
        """All of them end with 75 in that time, and have the host's place in their tables, which are returned."""
        began = time.monotonic()
        self.assert_all_end(runs, 75)
        self.assertLess(time.monotonic() - began, seconds, self.all_told(runs))
        self.assertFalse((self.dir / "started").exists())
        tables = {name: run.out.decode() for name, run in runs.items()}
        place, address = self.names.index(host), re.escape(self.hosts.address(host))
        for table in tables.values():
            self.assertRegex(table, rf"(?m)^ +{place}  {address} .* lost during the check$")
            self.assertRegex(table, rf"(?m)^lost during the check: {address}$")
            self.assertRegex(table, r"(?m); 1 node lost during the check$")
        return tables

    def row(self, table, host):
        """The cells of a node's row."""
        place = self.names.index(host)
        found = re.findall(rf"(?m)^ +{place} ((?: +(?:-|\?|FAIL|[\d.]+)){{4}})$", table)
        self.assertEqual(len(found), 1, table)
        return found[0].split()

    def assert_tried(self, table, host, failed=()):
        """The node tried all others, and only these failed."""
        for other, cell in zip(self.names, self.row(table, host)):
            if other != host:
                expected = r"FAIL" if other in failed else r"[\d.]+"
                self.assertRegex(cell, rf"^{expected}$", f"{host} -> {other} in\n{table}")

    def assert_one_table_without(self, runs, host, seconds):
        tables = self.assert_lost(runs, host, seconds)
        self.assertEqual(len(set(tables.values())), 1, self.all_told(runs))
        table = tables["n1"]
        self.assertEqual([cell for cell in self.row(table, host) if cell != "-"], ["?"] * 3, table)
        return table

    def test_a_node_whose_launcher_is_killed(self):
        runs = self.start_check()
        self.kill_launcher(runs.pop("n3"))
        table = self.assert_one_table_without(runs, "n3", TRY + SLACK)
        self.assert_tried(table, "n1")
        self.assert_tried(table, "n2")
        self.assert_tried(table, "n4", failed=["n3"])

    def test_a_node_whose_link_is_cut(self):
        runs = self.start_check("--heartbeat=3")
        self.hosts.cut("n3")
        self.addCleanup(self.hosts.restore, "n3")
        alone = runs.pop("n3")
        self.assert_tried(self.assert_one_table_without(runs, "n3", TRY + SLACK), "n2")
        own = self.assert_lost({"n3": alone}, "n1", 2 * TRY + SLACK)["n3"]
        self.assert_tried(own, "n3", failed=["n4"])

    def test_the_hub_is_killed(self):
        runs = self.start_check()
        self.kill_launcher(runs.pop("n1"))
        tables = self.assert_lost(runs, "n1", TRY + SLACK)
        for host, table in tables.items():
            self.assert_tried(table, host, failed={"n3": ["n4"], "n4": ["n3"]}.get(host, []))
            self.assertIn("here is only what this one found", table)


if __name__ == "__main__":
    unittest.main()
