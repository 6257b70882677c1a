# SPDX-License-Identifier: Apache-2.0
"""Nodes of one job need not be started alike: other arguments, another path of the script, another user."""

import os
import shutil
import unittest

from cluster_case import PER_NODE
from test_hosts import HOSTS

from harness import OTHER_UID, Launch, binary
from start_test import StartCase

SCRIPT = """#!/bin/sh
env >env.$PADDLE_TRAINER_ID
echo rank $PADDLE_TRAINER_ID of $PADDLE_TRAINERS_NUM on $(hostname)
"""


class JobIdentityTest(StartCase):
    def setUp(self):
        super().setUp()
        self.script = self.write("train", SCRIPT, 0o755)

    def start_as_other_user(self, host, *args):
        program = self.base / "paddle-launch"
        shutil.copy(binary(), program)
        program.chmod(0o755)
        os.chown(self.dir, OTHER_UID, OTHER_UID)
        user = ["setpriv", f"--reuid={OTHER_UID}", f"--regid={OTHER_UID}", "--clear-groups"]
        return Launch(self, [*self.usual(host), *args], program=str(program),
                      prefix=[*HOSTS, "run", "--name", self.hosts.name, host, *user])

    def test_other_paths_and_users_meet_at_once_and_other_arguments_after_a_while(self):
        runs = {"n1": self.start_node("n1", "./train", "--out", "a"),
                "n2": self.start_node("n2", self.script, "--out", "a"),
                "n3": self.start_as_other_user("n3", "./train", "--out", "a"),
                "n4": self.start_node("n4", "./train", "--out", "b")}
        self.wait_all_told({host: runs[host] for host in ("n1", "n2", "n3")}, "waiting for 1 of 4 nodes: 10.77.0.4 (")
        self.wait_told(runs["n4"], "train of user root (process ")
        self.assert_told(runs["n4"], ") at 10.77.0.1, with these nodes and another command")
        self.assert_one_world(runs)
        self.assert_all_told(runs, "10.77.0.1 (n1) runs `./train --out a`, 10.77.0.4 (n4) runs `./train --out b`",
                             f"10.77.0.2 (n2) runs `{self.script} --out a`")
        self.assertEqual(runs["n1"].err.count("the nodes run different commands"), 2, runs["n1"].told())

    def test_under_a_master_all_are_one_job(self):
        runs = {host: self.start_on(host, "--master=10.77.0.1:7000", "--nnodes=4", f"--rank={place}",
                                    f"--nproc_per_node={PER_NODE}", "--bootstrap_timeout=9", f"--log_dir=log.{host}",
                                    "./train", "--out", host) for place, host in enumerate(self.names)}
        self.assert_one_world(runs)
        self.assert_all_told(runs, "10.77.0.4 (n4) runs `./train --out n4`")

    def test_another_script_of_the_same_name_is_a_warning(self):
        runs = {}
        for host in self.names:
            (self.dir / host).mkdir()
            self.write(f"{host}/train.py", SCRIPT + ("# changed\n" if host == "n3" else ""), 0o755)
            runs[host] = self.start_node(host, "--python=/bin/sh", "train.py", cwd=self.dir / host)
        self.assert_all_end(runs, 0)
        self.assert_all_told(runs, "the script on 10.77.0.3 (n3) is not the one on 10.77.0.1 (n1): what is in the two "
                             "files differs")
        self.assertEqual(runs["n1"].err.count("is not the one on"), 1, runs["n1"].told())

    def test_whoever_finds_no_place_goes_on_looking_and_disturbs_nobody(self):
        gate = self.gate()
        text = "exec 3<gate; read _ <&3 || :"
        runs = self.start_nodes("/bin/sh", "-c", text)
        self.wait_told(runs["n1"], "Local start")
        other = self.start_node("n2", "--bootstrap_timeout=14", "/bin/sh", "-c", text, "other")
        other.wait()
        self.assert_status(other, 75)
        self.assert_told(other, "Met another job there: sh of user root (process ",
                         ") at 10.77.0.1, with these nodes and another command. ")
        gate.open()
        self.assert_all_end(runs, 0)
        for run in runs.values():
            self.assertNotIn("other", run.err)


if __name__ == "__main__":
    unittest.main()
