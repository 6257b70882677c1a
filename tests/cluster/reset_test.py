# SPDX-License-Identifier: Apache-2.0
"""Connections that are reset as soon as they are there (SO_LINGER 0, as load balancers and scanners do) change nothing,
at whatever port of a launcher and in whatever state of the job."""

import re
import signal
import sys
import unittest

from cluster_case import PER_NODE, ClusterCase
from elastic_case import ElasticCase
from test_hosts import HERE

from harness import HOLD, SH, wait_until

STRANGER = [sys.executable, "-IS", str(HERE / "stranger.py")]
TOKEN = {"PADDLE_LAUNCH_TOKEN": "0123456789abcdef-right"}
ENOUGH = 200
WORLD = 2 * PER_NODE
ONLY_ONCE = "[ $PADDLE_LAUNCH_ROUND = 0 ] || exit 0; "
# Rank 1 fails, in the first round alone; the others save for as long as a test likes when they are stopped.
FAILS_ONCE = ONLY_ONCE + HOLD + """
trap ': >stopping.$PADDLE_TRAINER_ID; until [ -e saved ]; do sleep 0.05; done; exit 0' TERM
: >trapped.$PADDLE_TRAINER_ID
if [ $PADDLE_TRAINER_ID = 1 ]; then until [ -e fail ]; do sleep 0.05; done; exit 7; fi
while :; do sleep 0.05; done"""
# Rank 0 opens its store when the test says so; the others are there before.
STORE = """
import os, socket, time
rank, (host, port) = int(os.environ["PADDLE_TRAINER_ID"]), os.environ["PADDLE_MASTER"].split(":")
if rank:
    link = socket.create_connection((host, int(port)))
    link.sendall(b"honest")
    open(f"knocked.{rank}", "w").write(f"{host}:{port}")
    assert link.makefile("rb").read() == b"hello", "no answer"
else:
    while not os.path.exists("serve"):
        time.sleep(0.01)
    with socket.create_server(("0.0.0.0", int(port))) as store:
        honest = 0
        while honest < int(os.environ["PADDLE_TRAINERS_NUM"]) - 1:
            with store.accept()[0] as guest:
                if guest.recv(100) == b"honest":
                    guest.sendall(b"hello")
                    honest += 1
"""


class Resets:
    """Of a test case with hosts: strangers on its last host."""

    def ports_of(self, host, run):
        """Where the launcher itself listens."""
        rows = self.hosts.output(host, ["ss", "-Hltnp"]).splitlines()
        return [int(row.split()[3].rsplit(":", 1)[1]) for row in rows if f"pid={run.pid}," in row]

    def wait_ports(self, host, run, count=1):
        return wait_until(lambda: self.ports_of(host, run)[count - 1:] and self.ports_of(host, run), run.told)

    def reset(self, host, port, count=ENOUGH):
        done = self.hosts.output("n4", [*STRANGER, "reset", self.hosts.address(host), port, count], timeout=60)
        self.assertEqual(done, f"{count}\n")

    def assail(self, host, run, port=None):
        """While the launcher runs, and while it stands still: then all of them are gone before it accepts them."""
        for port in [port] if port else self.wait_ports(host, run):
            self.reset(host, port)
            run.send(signal.SIGSTOP)
            try:
                self.reset(host, port, 20)
            finally:
                run.send(signal.SIGCONT)
            self.assert_drained(host, run, port)

    def assert_drained(self, host, run, port):
        """Nobody waits at the port any more; and so the launcher has met all of them."""
        def look():
            self.assertTrue(run.running(), run.told())
            waiting = self.hosts.output(host, ["ss", "-Hltn", "sport", "=", f":{port}"]).split()
            return not waiting or waiting[1] == "0"
        wait_until(look, run.told)


class ResetTest(Resets, ClusterCase):
    def start_two(self, *words, **how):
        ips = ",".join(self.addresses[:2])
        return self.start_nodes(*words, hosts=["n1", "n2"], ips=ips, env=TOKEN, **how)

    def wait_files(self, runs, *names):
        wait_until(lambda: all((self.dir / name).exists() for name in names), lambda: self.all_told(runs))

    def begin_failing(self, *options):
        """A job that runs, and of which rank 1 fails when there is a file "fail"."""
        gate = self.gate()
        runs = self.start_two(*options, "--grace=60", SH, "-c", FAILS_ONCE)
        self.wait_all_ready(runs, WORLD)
        gate.open()
        self.wait_files(runs, *(f"trapped.{rank}" for rank in range(WORLD)))
        return runs

    def test_a_hub_that_waits_for_a_node(self):
        ips = ",".join(self.addresses[:2])
        runs = {"n1": self.start_node("n1", SH, "-c", "true", ips=ips, env=TOKEN)}
        self.wait_told(runs["n1"], "waiting for 1 of 2 nodes")
        self.assail("n1", runs["n1"])
        runs["n2"] = self.start_node("n2", SH, "-c", "true", ips=ips, env=TOKEN)
        self.assert_all_end(runs, 0)
        self.assertRegex(runs["n1"].err, r"a stranger at 10\.77\.0\.4:\d+ was turned away: connection reset")

    def test_a_job_that_runs(self):
        gate = self.gate()
        runs = self.start_two(SH, "-c", HOLD)
        self.wait_all_ready(runs, WORLD)
        self.assail("n1", runs["n1"])
        gate.open()
        self.assert_all_end(runs, 0)

    def test_a_job_that_stops(self):
        runs = self.begin_failing()
        self.write("fail", "")
        self.wait_files(runs, *(f"stopping.{rank}" for rank in range(WORLD) if rank != 1))
        self.assail("n1", runs["n1"])
        self.write("saved", "")
        self.assert_all_end(runs, 7)
        for run in runs.values():
            self.assert_abort_line(run, WORLD, [1])

    def test_between_two_rounds(self):
        runs = self.begin_failing("--max_restart=1", "--restart_pause=6")
        self.write("saved", "")
        self.write("fail", "")
        self.wait_all_told(runs, "(restart 1 of 1)")
        self.assail("n1", runs["n1"])
        self.assert_all_end(runs, 0)

    def test_a_hub_that_waits_for_a_lost_node(self):
        gate = self.gate()
        trainer = (SH, "-c", ONLY_ONCE + HOLD + "exec sleep 1000")
        runs = self.start_two("--max_restart=1", "--restart_pause=0", *trainer)
        self.wait_all_ready(runs, WORLD)
        self.kill_launcher(runs.pop("n2"))
        self.wait_told(runs["n1"], "waiting for 1 of 2 nodes")
        self.assail("n1", runs["n1"])
        gate.open()
        runs["n2"] = self.start_node("n2", "--max_restart=1", *trainer, ips=",".join(self.addresses[:2]), env=TOKEN)
        self.assert_all_end(runs, 0)

    def test_the_door_of_the_store(self):
        self.write("store.py", STORE)
        runs = self.start_two("--python", sys.executable, "store.py")
        self.wait_files(runs, *(f"knocked.{rank}" for rank in range(1, WORLD)))
        host, port = self.read("knocked.1").split(":")
        self.assertEqual(host, self.addresses[0])
        self.assail("n1", runs["n1"], int(port))
        self.write("serve", "")
        self.assert_all_end(runs, 0)

    def test_the_ports_that_a_check_opens(self):
        """Two nodes that do not hear each other hold it up for 5 s, and one of them stands still meanwhile."""
        self.hosts.block("n2", "n3")
        self.addCleanup(self.hosts.unblock, "n2", "n3")
        names = ["n1", "n2", "n3"]
        runs = self.start_nodes("--check", SH, "-c", "true", hosts=names, ips=",".join(self.addresses[:3]), env=TOKEN)
        self.wait_ports("n3", runs["n3"], PER_NODE)
        runs["n3"].send(signal.SIGSTOP)
        try:
            ports = self.wait_ports("n2", runs["n2"], PER_NODE)
            for port in ports:
                self.reset("n2", port, 20)
        finally:
            runs["n3"].send(signal.SIGCONT)
        self.assert_all_end(runs, 1)
        for run in runs.values():
            self.assertIn("2 of 6 links failed", run.out.decode(), run.told())


class ElasticResetTest(Resets, ElasticCase):
    def test_whoever_takes_over_was_assailed_before(self):
        runs = self.start_elastic(["n1"], np="1:3", env=TOKEN)
        self.wait_round(0, 1, runs)
        runs.update(self.start_elastic(["n2", "n3"], np="1:3", env=TOKEN))
        number, _ = self.wait_round_or_later(1, 3, runs)
        for host in ("n2", "n3"):
            ports = self.wait_ports(host, runs[host])
            self.assertEqual(len(ports), 1)
            self.reset(host, ports[0], 20)
            self.assert_drained(host, runs[host], ports[0])
            self.reset(host, ports[0], 20)
        self.kill_launcher(runs.pop("n1"))
        number, ranks = self.wait_round_or_later(number + 1, 2, runs)
        self.assertEqual(sorted(self.hosts_of(ranks)), ["n2", "n3"])
        hub = self.hub(runs)
        self.assail(hub, runs[hub])
        self.kill_launcher(runs.pop(hub))
        self.wait_round_or_later(number + 1, 1, runs)
        self.assert_completes(runs)

    def hub(self, runs):
        """The host whose launcher the others are connected to."""
        for host, run in runs.items():
            for port in self.wait_ports(host, run):  # the store relay has one, too, where rank 0 is
                ends = self.hosts.output(host, ["ss", "-Htn", "state", "established", "sport", "=", f":{port}"])
                if re.search(r"10\.77\.0\.[1-4]:\d+ *$", ends, re.MULTILINE):
                    return host
        raise AssertionError(self.all_told(runs))


if __name__ == "__main__":
    unittest.main()
