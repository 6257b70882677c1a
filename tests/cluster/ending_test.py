# SPDX-License-Identifier: Apache-2.0
"""How a job on four hosts ends when a trainer, a launcher or a user ends it: everywhere, with one verdict, and with
nothing left."""

import os
import re
import signal
import sys
import time
import unittest

from cluster_case import PER_NODE, ClusterCase

from harness import ABORT, HOLD, READY, SH, alive, status_field, wait_until

WORLD = 4 * PER_NODE

# Rank 4 raises an exception and so closes its connection to rank 0, which dies of that, long before rank 4 has ended.
EXCEPTION = """
import atexit, os, socket, struct, time
endpoints = os.environ["PADDLE_TRAINER_ENDPOINTS"].split(",")
rank = int(os.environ["PADDLE_TRAINER_ID"])

def wait_for(name):
    while not os.path.exists(name):
        time.sleep(0.01)

def say_and_linger():  # runs after the traceback was written
    open("said", "w").close()
    time.sleep(1000)

def listen():
    with socket.create_server(("", int(endpoints[0].split(":")[1]))) as listener:
        open("listening", "w").close()
        with listener.accept()[0] as line:
            try:
                line.recv(1)
            finally:
                wait_for("said")

def compute():
    wait_for("listening")
    host, port = endpoints[0].split(":")
    with socket.create_connection((host, int(port))) as line:
        line.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))  # close() is a reset
        raise ValueError("the loss is not a number")

if rank == 4:
    atexit.register(say_and_linger)
{0: listen, 4: compute}.get(rank, lambda: time.sleep(1000))()
"""


class EndingTest(ClusterCase):
    def start_job(self, then, *options, before=""):
        """All trainers are at the gate; then each runs the shell text. Returns (runs, pids by rank)."""
        self.the_gate = self.gate()
        runs = self.start_nodes(*options, SH, "-c", before + HOLD + then)
        return runs, self.wait_all_ready(runs, WORLD)

    def again(self):
        for rank in range(WORLD):
            os.unlink(self.dir / f"ready.{rank}")

    def assert_abort(self, runs, ranks):
        for run in runs.values():
            self.assert_abort_line(run, WORLD, ranks)
            self.assertEqual(run.err.count("ABORT!!!"), 1, run.told())

    def assert_report(self, runs, where, *texts):
        """These launchers tell the report, the others only that it happened."""
        for host, run in runs.items():
            report = run.err[run.err.index("ABORT!!!"):].split("\n", 1)[1]
            if host not in where:
                self.assertEqual(report.strip(), "", run.told())
            for text in texts if host in where else ():
                self.assertRegex(report, text, run.told())

    def test_a_trainers_exit_code_is_everyones_on_whichever_host_it_dies(self):
        for host in ("n1", "n2", "n4"):
            with self.subTest(host=host):
                rank = self.ranks_of(host)[1]
                runs, pids = self.start_job(
                    f"[ $PADDLE_TRAINER_ID = {rank} ] && echo the last words && exit 7; exec sleep 1000")
                self.the_gate.open()
                self.assert_all_end(runs, 7)
                self.assert_abort(runs, [rank])
                address = self.hosts.address(host)
                self.assert_report(runs, {host, "n1"}, rf"(?m)^  rank +{rank} ", rf"(?m)^  node +{host} \({address}\)$",
                                   rf"(?m)^  pid +{pids[rank]}$", r"(?m)^  what +exit code 7$",
                                   rf"log\.{host}/workerlog\.{rank}", r"(?m)^the last words$",
                                   rf"stopped +because of it: rank {stopped(rank)}\n")
                self.assert_all_told(runs, f"rank {rank} on {address} failed: exit code 7; stopping")
                self.assertEqual(self.hosts.leftovers(), [])
                self.again()

    def test_a_trainers_signal_is_everyones(self):
        runs, pids = self.start_job("")
        rank = self.ranks_of("n3")[0]
        os.kill(pids[rank], signal.SIGSEGV)
        self.assert_all_end(runs, 128 + signal.SIGSEGV)
        self.assert_abort(runs, [rank])
        self.assert_report(runs, {"n3", "n1"}, r"killed by SIGSEGV", rf"(?m)^  pid +{pids[rank]}$")

    def test_an_exception_that_began_on_another_node_is_shown_where_its_echo_died_first(self):
        self.write("train.py", EXCEPTION)
        runs = self.start_nodes(sys.executable, "-IS", "train.py")
        self.assert_all_end(runs, 1)
        self.assert_abort(runs, [0, 4])
        self.assert_report(runs, {"n1"}, r"(?m)^  rank +0 ", r"(?m)^ConnectionResetError: ",
                           r"(?m)^  also +rank 4 on n3 .*: an error of its own, before it was stopped; log ")
        report = runs["n1"].err[runs["n1"].err.index("ABORT!!!"):]
        where = re.search(r"(?m)^  probably +rank 4 on n3 \(10\.77\.0\.3\) began it, .*; log (\S+), its end:$", report)
        self.assertTrue(where, report)
        self.assertTrue(where[1].endswith("log.n3/workerlog.4"), where[1])
        excerpt = report[where.end():]
        self.assertIn("Traceback (most recent call last):", excerpt)
        self.assertRegex(excerpt, r"(?m)^ValueError: the loss is not a number$")

    def test_a_killed_launcher_is_a_lost_node_on_whichever_host(self):
        for host in ("n1", "n2", "n4"):
            with self.subTest(host=host):
                runs, _ = self.start_job("exec sleep 1000")
                self.kill_launcher(runs.pop(host))
                self.assert_all_end(runs, 75)
                self.assert_abort(runs, self.ranks_of(host))
                address = re.escape(self.hosts.address(host))
                self.assert_report(runs, set(runs), rf"(?m)^  what +node {address}.* was lost: ",
                                   rf"(?m)^  lost +rank {self.ranks_of(host)[0]}-{self.ranks_of(host)[1]} ")
                self.wait_none_left()
                self.again()

    def test_an_interrupt_on_any_host_stops_the_job(self):
        for host, number in (("n1", signal.SIGINT), ("n2", signal.SIGTERM), ("n4", signal.SIGINT)):
            with self.subTest(host=host, number=number):
                runs, _ = self.start_job("exec sleep 1000")
                runs[host].send(number)
                self.assert_all_end(runs, 128 + number)
                self.assert_all_told(runs, f"the launcher on {self.hosts.address(host)} was stopped by {number.name}")
                for run in runs.values():
                    self.assertNotIn("ABORT", run.err)
                self.assertEqual(self.hosts.leftovers(), [])
                self.again()

    def assert_first_cause_stays(self, host, other):
        """Trainers of the host save for a while after a SIGTERM, in which the other node is lost."""
        self.gate()
        saves = "trap 'while [ ! -e saved ]; do sleep 0.05; done; exit 0' TERM; "
        runs = self.start_nodes("--grace=60", SH, "-c", saves + READY + "sleep 1000 & wait",
                                ips=",".join(map(self.hosts.address, ("n1", "n2"))), hosts=("n1", "n2"))
        self.wait_all_ready(runs, 2 * PER_NODE)
        tied = sockets_of(runs[host].pid)
        runs[host].send(signal.SIGTERM)
        self.wait_all_told(runs, "was stopped by SIGTERM")
        self.kill_launcher(runs[other])
        wait_until(lambda: sockets_of(runs[host].pid) < tied, "the loss to be noticed")
        self.write("saved", "")
        runs[host].wait()
        self.assert_status(runs[host], 128 + signal.SIGTERM)
        self.wait_none_left()

    def test_the_first_cause_stays_when_a_node_is_lost_while_trainers_save(self):
        self.assert_first_cause_stays("n1", "n2")

    def test_the_first_cause_stays_when_the_hub_is_lost_while_trainers_save(self):
        self.assert_first_cause_stays("n2", "n1")

    def test_a_second_interrupt_kills_deaf_trainers_everywhere(self):
        for host in ("n1", "n3"):
            with self.subTest(host=host):
                runs, pids = self.start_job("", "--grace=600", before="trap '' TERM; ")
                runs[host].send(signal.SIGINT)
                self.wait_all_told(runs, "was stopped by SIGINT")
                time.sleep(0.6)  # two interrupts within half a second are one
                self.assertEqual([rank for rank, pid in pids.items() if not alive(pid)], [], "not deaf")
                runs[host].send(signal.SIGINT)
                self.assert_gone(pids.values(), 10)  # far below the grace
                self.assert_all_end(runs, 130, 10)
                self.assert_told(runs[host], "interrupted again: killing what is left")
                self.again()

    def test_nodes_that_finish_early_wait_and_end_with_0_with_the_others(self):
        gate = self.gate()
        os.mkfifo(self.dir / "second")
        second = os.open(self.dir / "second", os.O_RDWR)
        runs = self.start_nodes(SH, "-c", "exec 4<second; " + HOLD + "[ $PADDLE_TRAINER_ID -lt 4 ] || read _ <&4 || :")
        self.wait_all_ready(runs, WORLD)
        gate.open()
        for host in ("n1", "n2"):
            self.wait_told(runs[host], "the processes of this node have ended; waiting for the other nodes to end")
        self.assertTrue(all(run.running() for run in runs.values()))
        os.close(second)
        self.assert_all_end(runs, 0)
        self.assert_all_told(runs, "Local processes completed.")

    def test_an_interrupt_on_a_node_that_finished_early_stops_the_job(self):
        for host in ("n1", "n2"):
            with self.subTest(host=host):
                low, high = (0, 1) if host == "n1" else (2, 3)
                runs, _ = self.start_job(f"case $PADDLE_TRAINER_ID in {low}|{high}) exit 0;; esac; exec sleep 1000")
                self.the_gate.open()
                self.wait_told(runs[host], "the processes of this node have ended")
                runs[host].send(signal.SIGINT)
                self.assert_all_end(runs, 130)
                self.assert_all_told(runs, f"the launcher on {self.hosts.address(host)} was stopped by SIGINT")
                self.again()

    def test_failures_on_two_nodes_at_once_are_one_verdict(self):
        runs, _ = self.start_job("case $PADDLE_TRAINER_ID in 3) exit 7;; 6) exit 9;; esac; exec sleep 1000")
        self.the_gate.open()
        ended = self.wait_all(runs)
        self.assertEqual(len(set(ended.values())), 1, self.all_told(runs))
        self.assertIn(ended["n1"], (7, 9))
        first = {7: 3, 9: 6}[ended["n1"]]
        lines = {re.search(r"ABORT!!!.*", run.err).group() for run in runs.values()}
        self.assertEqual(len(lines), 1, self.all_told(runs))
        self.assertIn(lines.pop(), [ABORT.format(WORLD, ranks) for ranks in ("3,6", str(first))])
        failing = {3: "n2", 6: "n4"}[first]
        self.assert_report(runs, {"n1", failing}, rf"(?m)^  rank +{first} ")

    def test_a_log_that_cannot_be_opened_stops_all_with_its_text(self):
        os.makedirs(self.dir / "log.n3" / "workerlog.5")  # a directory is in the way: found when the ranks are known
        runs = self.start_nodes(SH, "-c", "exec sleep 1000")
        ended = self.wait_all(runs)
        self.assertTrue(all(ended.values()), ended)
        self.assert_all_told(runs, "workerlog.5")
        self.assertEqual(set(ended.values()), {2}, self.all_told(runs))

    def test_a_program_that_is_missing_on_one_node_stops_all_with_its_text(self):
        for host in ("n1", "n2", "n4"):
            text = "printf '#!/bin/sh\\nexec sleep 1000\\n' >/tmp/train; chmod +x /tmp/train"
            self.hosts.output(host, ["sh", "-c", text])
        self.addCleanup(lambda: [self.hosts.output(host, ["rm", "-f", "/tmp/train"]) for host in self.names])
        runs = self.start_nodes("/tmp/train")
        ended = self.wait_all(runs)
        self.assertTrue(all(ended.values()), ended)
        self.assert_told(runs.pop("n3"), "training_script /tmp/train: No such file or directory")
        self.assert_all_told(runs, "10.77.0.3 (n3): training_script /tmp/train: No such file or directory")

    def test_an_idle_job_wakes_no_launcher(self):
        runs, _ = self.start_job("")
        def switches():
            return {host: int(status_field(run.pid, "voluntary_ctxt_switches")) for host, run in runs.items()}
        def quiet():
            before = switches()
            time.sleep(3)  # in which nothing happens
            return all(now - before[host] <= 2 for host, now in switches().items())
        wait_until(quiet, "three seconds in which no launcher wakes")
        self.the_gate.open()
        self.assert_all_end(runs, 0)


def sockets_of(pid):
    links = [os.path.join(f"/proc/{pid}/fd", name) for name in os.listdir(f"/proc/{pid}/fd")]
    return sum(os.path.realpath(link).split("/")[-1].startswith("socket:") for link in links)


def stopped(but):
    """All ranks of the job but one, as the report writes them."""
    ranges = [(0, but - 1), (but + 1, WORLD - 1)]
    return ",".join(str(low) if low == high else f"{low}-{high}" for low, high in ranges if low <= high)


if __name__ == "__main__":
    unittest.main()
