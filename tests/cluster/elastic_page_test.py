# SPDX-License-Identifier: Apache-2.0
"""docs/elastic.md, word by word: every block of commands is typed on the hosts that the page says, and what the page
says comes of it. A block that is not in BLOCKS fails the test."""

import json
import pathlib
import re
import unittest

from cluster_case import ClusterCase
from etcd_server import EtcdServer, require_etcd, shared_etcd

from harness import SH, Launch, binary, wait_until
from page import Page
from rounds_table import only_table, tables_in
from test_hosts import HOSTS

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
# The page's hosts n1, … are 192.168.0.1, …; the test's are 10.77.0.1, …
PAGE = (ROOT / "docs" / "elastic.md").read_text(encoding="utf-8").replace("192.168.0.", "10.77.0.")
# Its blocks by a word of their own; the order is the page's.
BLOCKS = {"restart": "--fail_step=20", "causes": "--restart_on=", "again": "--ips=", "etcd": "etcd --data-dir",
          "job": "--np=2:4", "hook": "--elastic_pre_hook", "master": "--master=etcd://",
          "variables": "export PADDLE_ELASTIC_SERVER", "keys": "etcdctl", "status": "--status=json", "scale": "--scale=2",
          "stop": "--stop"}
page = Page(PAGE, ["sh"], BLOCKS)
block, recording_after = page.block, page.recording_after


class PageEtcd(EtcdServer):
    """Started as the page says."""

    def command(self):
        return [SH, "-c", f"exec {block('etcd')}"]


class ElasticPageTest(ClusterCase):
    HOSTS = {"count": 5}

    @classmethod
    def setUpClass(cls):
        require_etcd()
        super().setUpClass()
        cls.etcd = shared_etcd(lambda: PageEtcd(cls.hosts, "n5"))

    def setUp(self):
        super().setUp()
        self.path = self.python_on_path()
        (self.base / "bin" / "paddle-launch").symlink_to(binary())

    def leftovers(self):
        return [row for row in super().leftovers() if row[1] not in EtcdServer.pids]

    def type(self, name, *hosts):
        """{host: Launch} of the block, in a directory of its own which all hosts see."""
        before, launch, after = block(name).rpartition("paddle-launch ")
        script = f"set -e\n{before}{'exec ' if launch else ''}{launch}{after}"  # so that signals reach the launcher
        folder = self.dir / name
        if not folder.exists():
            folder.mkdir()
            (folder / "examples").symlink_to(ROOT / "examples")
        return {host: Launch(self, ["-c", script], program=SH, cwd=folder, env={"PATH": self.path},
                             prefix=[*HOSTS, "run", "--name", self.hosts.name, host]) for host in hosts}

    def order(self, name):
        """What a block prints that does not stay."""
        run = self.type(name, "n5")["n5"]
        run.wait()
        self.assert_status(run, 0)
        return run.out.decode()

    def wait_step(self, run, step):
        wait_until(lambda: f"step {step}\n".encode() in run.out, lambda: f"step {step}\n{run.told()}")

    def assert_table(self, run, text):
        self.assertEqual([only_table(self, run)], tables_in(text), run.told())

    def test_every_block_of_the_page_is_tried(self):
        page.assert_every_block_is_known(self)

    def test_the_restarts_of_the_page_go_as_it_says(self):
        again = self.type("again", "n1", "n2")
        others = {**self.type("restart", "n3"), **self.type("causes", "n4")}
        self.wait_step(again["n1"], 20)
        self.kill_launcher(again.pop("n2"))
        self.wait_told(again["n1"], "waiting for 1 of 2 nodes: 10.77.0.2")
        again.update(self.type("again", "n2"))
        self.assert_all_end(again, 0)
        for line in recording_after("again").splitlines():
            self.assert_told(again["n1"], line.split("] ")[1].split(" (1 s)")[0])
        self.assertEqual(self.wait_all(others), {"n3": 0, "n4": 1}, self.all_told(others))
        self.assert_table(others["n3"], recording_after("restart"))
        self.assertRegex(self.read("restart/log/workerlog.1"), r"(?m)^==== paddle-launch .* round 1, rank 1 of 4: .* ====$")
        self.assert_told(others["n4"], "not started again: --restart_on does not name this cause")

    def test_the_other_spellings_and_the_hook_work_as_the_page_says(self):
        hook = self.type("hook", "n1", "n2")
        runs = [*hook.items(), *self.type("master", "n1", "n2").items(), *self.type("variables", "n3", "n4").items()]
        for host, run in runs:
            run.wait()
            self.assertEqual(run.status, 0, f"{host}\n{run.told()}")
            self.assert_told(run, "Local processes completed.")
        for run in hook.values():
            for line in recording_after("hook").splitlines():
                text = line.split("] ")[1]
                self.assert_told(run, text.split("cannot access")[0])  # the rest is the words of ls
        self.assertEqual(self.etcd.keys(), [])

    def test_the_elastic_job_of_the_page_goes_as_it_says(self):
        runs = self.type("job", "n1")
        self.wait_told(runs["n1"], "waiting for 1 of 2 nodes")
        runs.update(self.type("job", "n2", "n3"))
        self.wait_step(runs["n1"], 20)
        self.kill_launcher(runs.pop("n1"))
        self.wait_all_told(runs, "round 1 begins: 2 processes here, 4 trainers on 2 nodes in all")
        newcomer = self.type("job", "n4")
        self.wait_all_told(runs, "round 2 begins: 2 processes here, 6 trainers on 3 nodes in all")
        self.assert_status_as_shown()
        self.assert_keys_as_shown()
        self.assertEqual(self.order("scale"), "job job1: 2 nodes from now on, after 2:4\n")
        self.assertIn("`job job1: 2 nodes from now on, after 2:4`", PAGE)
        self.assert_all_end(newcomer, 0)
        self.assert_all_told(newcomer, "this node is no longer needed")
        self.wait_all_told(runs, "round 3 begins: 2 processes here, 4 trainers on 2 nodes in all")
        self.assertEqual(self.order("stop"), "job job1: stopped\n")
        self.assert_all_end(runs, 143)
        for run in runs.values():
            self.assert_table(run, recording_after("stop"))
        self.assertEqual(self.etcd.keys(), [])
        gone = self.type("stop", "n5")
        self.assert_all_end(gone, 1)

    def assert_status_as_shown(self):
        """Nodes 2 and 3 may have changed places."""
        text, _, rest = self.order("status").partition("{")
        shown = recording_after("status").partition("{")[0].splitlines()
        lines = text.splitlines()
        self.assertEqual(lines[0].split(" up ")[0], shown[0].split(" up ")[0])
        self.assertEqual(lines[0].split(", ")[2], shown[0].split(", ")[2])
        self.assertEqual(lines[2].split(), shown[2].split())
        for column in range(2):
            self.assertEqual(sorted(line.split()[column] for line in lines[3:]),
                             sorted(line.split()[column] for line in shown[3:]), text)
        self.assertRegex(lines[1], r"^round   2, running for \d+ s, restarts used 0; held together by 10\.77\.0\.[23]$")
        status = json.loads("{" + rest)
        self.assertEqual([list(status)[:3], status["wanted"], len(status["nodes"])],
                         [["job_id", "wanted", "created"], "2:4", 3])

    def assert_keys_as_shown(self):
        """The same keys with the same fields; a pod's name is its own."""
        def outline(text):
            keys, values = text.splitlines()[::2], map(json.loads, text.splitlines()[1::2])
            return [(re.sub("(?<=/pods/).*", "NAME", key), list(value), [list(pod) for pod in value.get("pods", [])])
                    for key, value in zip(keys, values)]
        self.assertEqual(outline(self.order("keys")), outline(recording_after("keys")))


if __name__ == "__main__":
    unittest.main()
