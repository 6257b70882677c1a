# SPDX-License-Identifier: Apache-2.0
"""The launcher receives the ranks at PADDLE_MASTER until rank 0's store is open, and passes everything on."""

import contextlib
import json
import os
import socket
import struct
import sys
import time
import unittest

from harness import LauncherCase, free_port_run, status_field, wait_until

# What the trainers of these tests have in common: a store in small, and those who use it.
TRAINER = r"""
import os, pathlib, signal, socket, sys, time
rank, size = int(os.environ["PADDLE_TRAINER_ID"]), int(os.environ["PADDLE_TRAINERS_NUM"])
master = os.environ["PADDLE_MASTER" if "PADDLE_MASTER" in os.environ else "PADDLE_MASTER_ENDPOINT"]
host, port = master.split(":")
round = os.environ["PADDLE_LAUNCH_ROUND"]
pathlib.Path(f"master.{round}.{rank}").write_text(master)

def wait_for(*names):
    while not all(os.path.exists(name) for name in names):
        time.sleep(0.01)

def touch(name):
    open(name, "w").close()

def knock():
    link = socket.create_connection((host, int(port)))
    link.sendall(b"%d\n" % rank)
    touch(f"knocked.{round}.{rank}")
    return link

def serve():
    with socket.create_server(("0.0.0.0", int(port))) as store:
        guests = [store.accept()[0] for _ in range(size - 1)]
        for guest in guests:
            guest.sendall(b"hello " + guest.makefile("rb").readline())

def everyone_knocked():
    wait_for(*(f"knocked.{round}.{other}" for other in range(1, size)))

def heard(link):
    try:
        return link.makefile("rb").read()
    except ConnectionResetError:
        return b""
"""


class StoreRelayTest(LauncherCase):
    def start_trainers(self, count, text, *options):
        self.write("trainer.py", TRAINER + text)
        return self.start(f"--nproc_per_node={count}", *options, "--python", sys.executable, "trainer.py")

    def run_trainers(self, *args):
        run = self.start_trainers(*args)
        run.wait()
        return run

    def masters(self, count, round=0):
        return [self.read(f"master.{round}.{rank}") for rank in range(count)]

    # Everyone is there before rank 0 listens, and each gets an answer of its own.
    MEETING = ("if rank: assert heard(knock()) == b'hello %d\\n' % rank, 'wrong answer'\n"
               "else: everyone_knocked(); serve()\n")

    def test_ranks_that_come_before_rank_0_meet_it(self):
        run = self.run_trainers(4, self.MEETING)
        self.assert_status(run, 0)
        masters = self.masters(4)
        self.assertEqual(len(set(masters)), 2)
        self.assertEqual(len(set(masters[1:])), 1)

    def test_ranks_of_rpc_that_come_before_rank_0_meet_it(self):
        run = self.run_trainers(3, self.MEETING, "--run_mode=rpc")
        self.assert_status(run, 0)
        self.assertEqual(len(set(self.masters(3))), 2)

    def test_each_round_has_a_relay_of_its_own(self):
        failing = "if round == '0' and rank == 1: sys.exit(7)\n"
        run = self.run_trainers(3, self.MEETING + failing, "--max_restart=1", "--restart_pause=0")
        self.assert_status(run, 0)
        self.assertEqual(len({*self.masters(3, 0), *self.masters(3, 1)}), 4)

    def test_rank_0_that_ends_without_a_store_keeps_nobody_waiting(self):
        run = self.run_trainers(3, "if rank: assert heard(knock()) == b''\nelse: everyone_knocked()\n")
        self.assert_status(run, 0)

    def test_rank_0_that_dies_keeps_nobody_waiting(self):
        run = self.run_trainers(2, "signal.signal(signal.SIGTERM, signal.SIG_IGN)\n"
                                   "if rank: heard(knock()); touch('closed')\n"
                                   "else: everyone_knocked(); os.kill(os.getpid(), signal.SIGKILL)\n", "--grace=600")
        self.assert_status(run, 137)
        self.assertTrue((self.dir / "closed").exists())
        self.assert_told(run, "rank=[0]")

    def test_without_the_relay_rank_0_has_the_master_to_itself(self):
        run = self.run_trainers(2, "if rank:\n"
                                   "    try: knock()\n"
                                   "    except ConnectionRefusedError: touch('refused')\n"
                                   "    wait_for('open'); knock(); touch('met')\n"
                                   "else:\n"
                                   "    wait_for('refused')\n"
                                   "    with socket.create_server((host, int(port))) as store:\n"
                                   "        touch('open'); store.accept(); wait_for('met')\n", "--store_door=off")
        self.assert_status(run, 0)
        self.assertEqual(len(set(self.masters(2))), 1)

    def test_alone_nobody_knocks_and_there_is_no_relay(self):
        run = self.run_trainers(1, "socket.create_server((host, int(port))).close()\n"
                                   "try: knock(); sys.exit(5)\n"
                                   "except ConnectionRefusedError: pass\n")
        self.assert_status(run, 0)

    def test_a_port_range_without_room_for_it_does_without(self):
        start = free_port_run(3)
        run = self.run_trainers(2, "", f"--port_range={start}:{start + 2}")
        self.assert_status(run, 0)
        self.assertEqual(len(set(self.masters(2))), 1)

    # Rank 0 opens its store only when it is told to; rank 1 shows where the relay listens.
    LATE = ("if rank: touch('shown'); wait_for('over')\n"
            "else:\n"
            "    wait_for('open')\n"
            "    with socket.create_server(('0.0.0.0', int(port))) as store:\n"
            "        guest = store.accept()[0]\n"
            "        guest.sendall(b'hello ' + guest.makefile('rb').read())\n"
            "    touch('over')\n")

    def start_late_store(self, **how):
        """A job whose store is not open yet, and the address of its relay."""
        self.write("trainer.py", TRAINER + self.LATE)
        run = self.start("--nproc_per_node=2", "--python", sys.executable, "trainer.py", **how)
        self.wait_file("shown")
        host, port = self.read("master.0.1").split(":")
        return run, (host, int(port))

    def descriptors(self, run):
        return len(os.listdir(f"/proc/{run.pid}/fd"))

    def wait_descriptors(self, run, most):
        wait_until(lambda: self.descriptors(run) <= most,
                   lambda: f"{self.descriptors(run)} descriptors, {most} before\n{run.told()}")

    def wake_ups(self, run):
        return int(status_field(run.pid, "voluntary_ctxt_switches"))

    def test_strangers_who_come_and_go_leave_nothing(self):
        run, relay = self.start_late_store()
        before = self.descriptors(run)
        for number in range(300):
            with socket.create_connection(relay) as stranger:
                if number % 3 == 0:  # a reset
                    stranger.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self.wait_descriptors(run, before)
        quiet = self.wake_ups(run)
        time.sleep(2)
        self.assertLess(self.wake_ups(run) - quiet, 40, "an attempt each 5 ms would be 400")
        # Rank 0 has a guest of whom it takes all that it says.
        with socket.create_connection(relay) as rank:
            rank.sendall(b"you")
            rank.shutdown(socket.SHUT_WR)
            self.write("open", "")
            self.assertEqual(rank.makefile("rb").read(), b"hello you")
        run.wait()
        self.assert_status(run, 0)
        self.assertNotIn("connections wait", run.err)

    def test_too_many_who_wait_are_told_once_and_served_all_the_same(self):
        run, relay = self.start_late_store(prefix=["prlimit", "--nofile=400:400"])
        before = self.descriptors(run)
        with contextlib.ExitStack() as strangers:
            for _ in range(250):
                strangers.enter_context(socket.create_connection(relay))
            self.wait_told(run, "100 connections wait at PADDLE_MASTER until rank 0 opens its store")
        self.wait_descriptors(run, before)
        with socket.create_connection(relay) as rank:
            rank.sendall(b"you")
            rank.shutdown(socket.SHUT_WR)
            self.write("open", "")
            self.assertEqual(rank.makefile("rb").read(), b"hello you")
        run.wait()
        self.assert_status(run, 0)
        self.assertEqual(run.err.count("connections wait"), 1, run.told())

    def test_the_plan_shows_both_addresses(self):
        self.write("train.py", "")
        run = self.run_launcher("--nproc_per_node=3", "--dry_run=json", "train.py")
        self.assert_status(run, 0)
        masters = [process["environment"]["PADDLE_MASTER"] for process in json.loads(run.out)["processes"]]
        self.assertEqual(len(set(masters)), 2)
        self.assertEqual(masters[1], masters[2])


if __name__ == "__main__":
    unittest.main()
