# SPDX-License-Identifier: Apache-2.0
"""Lists of names that are not the hosts' own names, as clusters have them: how often is a name server asked?"""

import pathlib
import subprocess
import sys
import unittest

from cluster_case import ClusterCase
from test_hosts import HOSTS

from harness import SH, Launch

HERE = pathlib.Path(__file__).resolve().parent
DOMAIN = "cluster.test"
TRAINER = (SH, "-c", "hostname >host.$PADDLE_TRAINER_ID")


class NamesTest(ClusterCase):
    def start_server(self, host, known):
        """Launchers that are started on this host ask it; it knows these names."""
        self.write("resolv.conf", f"nameserver {self.hosts.address(host)}\n")
        self.write("nsswitch.conf", "hosts: files dns\n")
        self.write("asked", "")
        server = self.hosts.run(host, [sys.executable, HERE / "name_server.py", self.hosts.address(host),
                                       self.dir / "asked", *(f"{name}={at}" for name, at in known.items())],
                                stdout=subprocess.PIPE, text=True, cwd=self.dir)
        self.addCleanup(server.stdout.close)
        self.addCleanup(server.wait)
        self.addCleanup(server.kill)
        self.assertEqual(server.stdout.readline(), "there\n")
        self.server = server

    def tearDown(self):
        self.server.kill()
        self.server.wait()
        super().tearDown()

    def start_named(self, host, *args):
        """A launcher that asks the name server instead of the machine's."""
        setup = "mount --bind resolv.conf /etc/resolv.conf && mount --bind nsswitch.conf /etc/nsswitch.conf"
        return Launch(self, args, prefix=[*HOSTS, "run", "--name", self.hosts.name, host, "unshare", "--mount", SH,
                                          "-c", f'{setup} && exec "$@"', "sh"])

    def asked(self):
        return self.read("asked").split()

    def everybody(self, last):
        """So many nodes, of which the first four are there."""
        known = {f"n{number}.{DOMAIN}": f"10.77.1.{number}" for number in range(1, last + 1)}
        known.update({f"{name}.{DOMAIN}": self.hosts.address(name) for name in self.names})
        return known

    def test_a_node_finds_itself_in_a_long_list_by_one_question(self):
        known = self.everybody(200)
        self.start_server("n1", known)
        names = sorted(known, reverse=True)
        run = self.start_named("n2", "--dry_run", f"--ips={','.join(names)}", *TRAINER)
        run.wait()
        self.assert_status(run, 0)
        self.assertEqual(self.asked(), [f"n2.{DOMAIN}"])

    def test_a_node_of_another_name_stops_asking_when_it_has_found_itself(self):
        known = {f"rack{number}.{DOMAIN}": f"10.77.1.{number}" for number in range(200)}
        known[f"rack40.{DOMAIN}"] = self.hosts.address("n2")
        self.start_server("n1", known)
        run = self.start_named("n2", "--dry_run", f"--ips={','.join(known)}", *TRAINER)
        run.wait()
        self.assert_status(run, 0)
        self.assertLess(len(self.asked()), 100)

    def test_the_name_of_the_master_is_asked_for_once(self):
        self.start_server("n1", self.everybody(4))
        runs = {host: self.start_named(host, f"--master=n1.{DOMAIN}:7000", "--nnodes=2", f"--log_dir=log.{host}",
                                       *TRAINER) for host in ("n1",)}
        self.wait_told(runs["n1"], "waiting for")
        self.assertEqual(self.asked(), [f"n1.{DOMAIN}"])
        runs["n2"] = self.start_named("n2", f"--master=n1.{DOMAIN}:7000", "--nnodes=2", "--log_dir=log.n2", *TRAINER)
        self.assert_all_end(runs, 0)
        # The other node asks whether it is the master, and then where that is.
        self.assertEqual(self.asked(), [f"n1.{DOMAIN}"] * 3)


if __name__ == "__main__":
    unittest.main()
