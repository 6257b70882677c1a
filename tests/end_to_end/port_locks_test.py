# SPDX-License-Identifier: Apache-2.0
"""Launchers of a host keep apart by names that any user may take. Whoever takes them all keeps nobody from starting."""

import re
import sys
import unittest

from harness import SH, LauncherCase

# Takes the names of these ports in a network of its own, then runs a command there.
HOLDER = r"""
import os, resource, socket, subprocess, sys
resource.setrlimit(resource.RLIMIT_NOFILE, (resource.getrlimit(resource.RLIMIT_NOFILE)[1],) * 2)
first, last, *command = sys.argv[1:]
# The ports that a launcher chooses from are those above; more than a process may hold of all the usual ones.
open("/proc/sys/net/ipv4/ip_local_port_range", "w").write("20000 64999")
held = []
for port in range(int(first), int(last) + 1):
    held.append(socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM))
    held[-1].bind(f"\0paddle-launch/port/{port}")
open("holder", "w").write(str(os.getpid()))
sys.exit(subprocess.run(command).returncode)
"""
COUNT = "echo $PADDLE_TRAINER_ENDPOINTS >endpoints.$PADDLE_TRAINER_ID"


class PortLocksTest(LauncherCase):
    def run_beside_holder(self, first, last, *args):
        self.need_root("has a network of its own")
        tool = self.need_namespace("--net")
        holder = self.write("holder.py", HOLDER)
        return self.run_launcher(*args, SH, "-c", COUNT,
                                 prefix=[tool, "--net", sys.executable, holder, first, last])

    def assert_warned(self, run):
        self.assert_status(run, 0)
        self.assert_told(run, re.compile(rf"WARNING .*port \d+ is reserved by process {self.read('holder')} \("))
        ports = re.findall(r":(\d+)", self.read("endpoints.0"))
        self.assertEqual(len(set(ports)), 2, ports)

    def test_a_process_that_takes_all_names_is_named_and_the_job_runs(self):
        self.assert_warned(self.run_beside_holder(65000, 65535, "--nproc_per_node=2"))

    def test_all_names_of_a_range(self):
        self.assert_warned(self.run_beside_holder(30000, 30099, "--nproc_per_node=2", "--port_range=30000:30099"))

    def test_while_there_is_a_choice_the_names_count(self):
        run = self.run_beside_holder(30000, 30099, "--nproc_per_node=2", "--port_range=30000:30109")
        self.assert_status(run, 0)
        self.assertNotIn("reserved", run.err)
        for port in re.findall(r":(\d+)", self.read("endpoints.0")):
            self.assertGreater(int(port), 30099)


if __name__ == "__main__":
    unittest.main()
