# SPDX-License-Identifier: Apache-2.0
"""A job that failed is started again: how often, how soon, and what its rounds have in common and what not."""

import os
import re
import resource
import socket
import sys
import unittest

from harness import SH, children, free_port_run, wait_until
from rounds_case import ARRIVE, FAIL, NO_PAUSE, RestartCase, failed_by_rank_1, fails_before


class RestartTest(RestartCase):
    def test_a_job_that_fails_twice_and_then_completes(self):
        run = self.run_again("--max_restart=3", "--restart_pause=0.1", SH, "-c", fails_before(2))
        self.assert_status(run, 0)
        cause = failed_by_rank_1()
        self.assert_told(run, f"round 0 failed: {cause}; starting again in 0.1 s (restart 1 of 3)",
                         f"round 1 failed: {cause}; starting again in 0.2 s (restart 2 of 3)",
                         "round 1 begins: 2 processes here, 2 trainers on 1 node in all",
                         "round 2 begins: 2 processes here, 2 trainers on 1 node in all",
                         "Local processes completed.")
        self.assertEqual(self.table(run), [(0, 0, 1, 2, cause), (1, 1, 1, 2, cause), (2, 2, 1, 2, "completed")])
        self.assertEqual(run.err.count("ABORT!!!"), 2, run.told())
        self.assertEqual(run.err.count("Configuration Arguments"), 1, run.told())

    def test_every_round_has_its_numbers_and_new_ports(self):
        run = self.run_again("--max_restart=2", NO_PAUSE, SH, "-c", fails_before(2),
                             env={"PADDLE_RESTART_COUNT": "77", "PADDLE_LAUNCH_ROUND": "78"})
        self.assert_status(run, 0)
        ports = set()
        for number in range(3):
            for rank in range(2):
                env = self.environment_of(number, rank)
                self.assertEqual((env["PADDLE_LAUNCH_ROUND"], env["PADDLE_RESTART_COUNT"]), (str(number),) * 2)
                self.assertEqual(env["PADDLE_TRAINER_ENDPOINTS"].split(",")[rank], env["PADDLE_CURRENT_ENDPOINT"])
                ports.add(env["PADDLE_CURRENT_ENDPOINT"])
            ports.add(self.environment_of(number, 0)["PADDLE_MASTER"])
        self.assertEqual(len(ports), 9)
        self.assertEqual({self.environment_of(number, 0)["POD_NAME"] for number in range(3)},
                         {self.environment_of(0, 0)["POD_NAME"]})

    def test_used_up_restarts_leave_the_last_failures_status(self):
        text = ARRIVE + FAIL.format(code="$((10 + PADDLE_LAUNCH_ROUND))")
        run = self.run_again("--max_restart=2", NO_PAUSE, SH, "-c", text)
        self.assert_status(run, 12)
        self.assertEqual(self.rounds_of(), [0, 1, 2])
        self.assert_told(run, "not started again: no restart is left (--max_restart=2)")
        self.assertEqual([row[-1] for row in self.table(run)],
                         [failed_by_rank_1(f"exit code {code}") for code in (10, 11, 12)])

    def test_without_max_restart_nothing_is_started_again(self):
        for options in ((), ("--max_restart=0",)):
            with self.subTest(options=options):
                run = self.run_again(*options, SH, "-c", fails_before(1))
                self.assert_status(run, 7)
                self.assert_one_round(run)
                self.assertNotIn("not started again", run.err)

    def test_a_job_that_completes_has_no_table(self):
        run = self.run_again("--max_restart=3", SH, "-c", ARRIVE)
        self.assert_status(run, 0)
        self.assert_one_round(run)

    def test_the_variable_allows_restarts_as_well(self):
        run = self.run_again(NO_PAUSE, SH, "-c", fails_before(1), env={"PADDLE_MAX_RESTART": "1"})
        self.assert_status(run, 0)
        self.assertEqual(self.rounds_of(), [0, 1])

    def test_deaf_trainers_and_their_children_are_gone_before_the_next_round(self):
        # Each writes down who is to be gone in the next round, and looks for those of the round before.
        text = ("trap '' TERM; sleep 1000 & echo $$ $! >pids.$PADDLE_LAUNCH_ROUND.$PADDLE_TRAINER_ID; "
                "for pid in $(cat pids.$((PADDLE_LAUNCH_ROUND - 1)).* 2>/dev/null); do "
                "echo $pid >>looked; kill -0 $pid 2>/dev/null && echo $pid >>alive; done; ")
        run = self.run_again("--max_restart=3", NO_PAUSE, "--grace=0.2", SH, "-c",
                             text + fails_before(3, then="kill -KILL $!"))
        self.assert_status(run, 0)
        self.assertEqual(len(set(self.read("looked").split())), 3 * 2 * 2)
        self.assertFalse((self.dir / "alive").exists(), run.told())

    def test_a_job_of_one_trainer_is_started_again(self):
        run = self.run_again("--max_restart=1", NO_PAUSE, SH, "-c",
                             ARRIVE + "[ $PADDLE_LAUNCH_ROUND = 1 ] || kill -SEGV $$", count=1)
        self.assert_status(run, 0)
        self.assertEqual(self.table(run)[0], (0, 0, 1, 1, "rank 0 failed: killed by SIGSEGV"))

    def test_trainers_of_every_round_get_the_limit_on_open_files_that_the_launcher_was_given(self):
        def few():
            resource.setrlimit(resource.RLIMIT_NOFILE, (200, 300))
        run = self.run_again("--max_restart=1", NO_PAUSE, SH, "-c", "ulimit -Sn; exit $((1 - PADDLE_LAUNCH_ROUND))",
                             count=1, preexec_fn=few)
        self.assert_status(run, 0)
        self.assertEqual(run.out, b"200\n200\n")

    def test_launchers_do_not_grow_from_round_to_round(self):
        run = self.start_again("--max_restart=6", NO_PAUSE, SH, "-c",
                               ARRIVE + "until [ -e go.$PADDLE_LAUNCH_ROUND ]; do sleep 0.01; done; exit 7")
        counts = []
        for number in range(7):
            self.wait_round(number)
            wait_until(lambda: len(children(run.pid)) == 2, run.told)
            counts.append(len(os.listdir(f"/proc/{run.pid}/fd")))
            self.write(f"go.{number}", "")
        run.wait()
        self.assert_status(run, 7)
        self.assertEqual(len(set(counts[1:])), 1, counts)

    def test_dry_run_shows_the_first_round_and_starts_nothing(self):
        run = self.run_again("--max_restart=3", "--dry_run", SH, "-c", ARRIVE)
        self.assert_status(run, 0)
        self.assertRegex(run.out.decode(), r"PADDLE_RESTART_COUNT\W+0\b")
        self.assertRegex(run.out.decode(), r"PADDLE_LAUNCH_ROUND\W+0\b")
        self.assertEqual(self.rounds_of(), [])

    def test_a_script_that_vanished_ends_the_job_with_its_reason(self):
        self.write("train.sh", "#!/bin/sh\n" + ARRIVE + "rm -f train.sh; exit 7\n", 0o755)
        run = self.run_again("--max_restart=5", NO_PAUSE, "./train.sh", count=1)
        self.assertNotEqual(run.status, 0)
        self.assert_told(run, re.compile(r"paddle-launch: error: .*train\.sh.*No such file"))
        self.assertEqual(self.rounds_of(), [0])


class PortsOfRoundsTest(RestartCase):
    # Rank 0 listens at its endpoint and closes a connection first, so that the kernel remembers it; rank 1 fails.
    TRAINER = """
import os, signal, socket, sys
number, rank = int(os.environ["PADDLE_LAUNCH_ROUND"]), int(os.environ["PADDLE_TRAINER_ID"])
endpoints = [text.rsplit(":", 1) for text in os.environ["PADDLE_TRAINER_ENDPOINTS"].split(",")]
with open(f"endpoints.{number}", "w") as file:
    file.write(os.environ["PADDLE_TRAINER_ENDPOINTS"])
with socket.create_server((endpoints[rank][0], int(endpoints[rank][1]))) as listener:
    if rank == 0:
        listener.accept()[0].close()
        if number < 2:
            signal.pause()
    else:
        while True:
            try:
                line = socket.create_connection((endpoints[0][0], int(endpoints[0][1])))
                break
            except ConnectionRefusedError:
                pass
        line.recv(1)
        line.close()
sys.exit(7 if number < 2 else 0)
"""

    def test_start_port_is_the_same_in_every_round(self):
        self.write("train.py", self.TRAINER)
        start = free_port_run(2)
        run = self.run_again("--max_restart=2", NO_PAUSE, f"--start_port={start}", sys.executable, "-IS", "train.py")
        self.assert_status(run, 0)
        for number in range(3):
            self.assertEqual(self.read(f"endpoints.{number}"), f"127.0.0.1:{start},127.0.0.1:{start + 1}")

    def test_a_port_that_somebody_took_between_the_rounds_ends_the_job(self):
        start = free_port_run(2)
        run = self.start_again("--max_restart=2", "--restart_pause=1", f"--start_port={start}", SH, "-c",
                               fails_before(2))
        self.wait_told(run, "starting again in 1 s")
        with socket.create_server(("127.0.0.1", start + 1)):
            run.wait()
        self.assert_status(run, 1)
        self.assert_told(run, str(start + 1), str(os.getpid()))
        self.assertEqual(self.rounds_of(), [0])


if __name__ == "__main__":
    unittest.main()
