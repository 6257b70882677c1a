# SPDX-License-Identifier: Apache-2.0
"""A job that failed is started again: how often, after what, how soon; what its rounds have in common and what not."""

import os
import re
import resource
import signal
import socket
import sys
import time
import unittest

from harness import SH, LauncherCase, Terminal, children, free_port_run, pending, stat_fields, wait_until
from roles_case import RolesMixin, names, roles

QUICK = 20.0  # seconds: far more than a loaded machine needs to end a job, far less than the pauses below
LONG_PAUSE = "--restart_pause=600"
NO_PAUSE = "--restart_pause=0"

# What a trainer of these tests does first: "ready.ROUND.RANK" has its pid, "env.ROUND.RANK" its environment.
ARRIVE = ("me=$PADDLE_LAUNCH_ROUND.$PADDLE_TRAINER_ID; env >env.$me; echo $$ >.tmp.$me; mv .tmp.$me ready.$me; ")
# Rank 1 fails once rank 0 has arrived; the others stay until they are stopped.
FAIL = ("if [ $PADDLE_TRAINER_ID != 1 ]; then exec sleep 1000; fi; "
        "until [ -e ready.$PADDLE_LAUNCH_ROUND.0 ]; do sleep 0.01; done; exit {code}; ")
TABLE = re.compile(r"(?m)^Rounds of this job, as this node saw them:\n"
                   r"  round +restarts +nodes +trainers +lasted +ended by\n((?:  .*\n)+)")
ROW = re.compile(r"  (\d+) +(\d+) +(\d+) +(\d+) +([\d.]+ s|\d+ min \d+ s) +(.*)")


def fails_before(last, code=7, then=""):
    """Every round but the last one fails."""
    return ARRIVE + f"if [ $PADDLE_LAUNCH_ROUND -lt {last} ]; then " + FAIL.format(code=code) + "fi; " + then


def failed_by_rank_1(what="exit code 7"):
    return f"rank 1 failed: {what}"


class RestartCase(LauncherCase):
    def start_again(self, *args, count=2, **how):
        return self.start(f"--nproc_per_node={count}", *args, **how)

    def run_again(self, *args, **how):
        run = self.start_again(*args, **how)
        run.wait()
        return run

    def environment_of(self, round, rank):
        return dict(line.split("=", 1) for line in self.read(f"env.{round}.{rank}").splitlines() if "=" in line)

    def rounds_of(self, rank=0):
        """The numbers of the rounds in which this rank arrived."""
        found = [re.fullmatch(rf"ready\.(\d+)\.{rank}", name) for name in os.listdir(self.dir)]
        return sorted(int(match.group(1)) for match in found if match)

    def wait_round(self, number, ranks=2):
        """The pids of its trainers."""
        return {rank: int(self.wait_file(f"ready.{number}.{rank}")) for rank in range(ranks)}

    def wait_told(self, run, text):
        def look():
            if not run.running() and text not in run.err:
                raise AssertionError(f"the launcher ended and did not say {text!r}\n{run.told()}")
            return text in run.err
        wait_until(look, lambda: f"{text!r} in\n{run.told()}")

    def table(self, run):
        """(round, restarts, nodes, trainers, how it ended) of every round."""
        tables = TABLE.findall(run.err)
        self.assertEqual(len(tables), 1, run.told())
        rows = [ROW.fullmatch(line) for line in tables[0].splitlines()]
        self.assertTrue(all(rows), run.told())
        return [(*map(int, row.group(1, 2, 3, 4)), row.group(6)) for row in rows]

    def assert_one_round(self, run):
        self.assertEqual(self.rounds_of(), [0], run.told())
        self.assertNotIn("starting again", run.err)
        self.assertNotIn("Rounds of this job", run.err)


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

    def test_a_job_of_one_trainer(self):
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


class CauseTest(RestartCase):
    def test_causes_that_restart_on_does_not_name_end_the_job_at_once(self):
        for causes, how, status in (("signal", "exit 7", 7), ("8,9,SIGKILL", "exit 7", 7), ("lost_node", "exit 1", 1),
                                    ("code", "kill -KILL $$", 137), ("SIGSEGV,9", "kill -KILL $$", 137)):
            with self.subTest(causes=causes, how=how):
                run = self.run_again("--max_restart=3", f"--restart_on={causes}", SH, "-c",
                                     ARRIVE + f"[ $PADDLE_TRAINER_ID = 0 ] && {how}; exec sleep 1000")
                self.assert_status(run, status)
                self.assert_one_round(run)
                self.assert_told(run, "not started again: --restart_on does not name this cause")

    def test_causes_that_restart_on_names(self):
        for causes, how in (("7", "exit 7"), ("code", "exit 7"), ("SIGKILL,9", "kill -KILL $$"),
                            ("SIGKILL,9", "exit 9"), ("KILL", "kill -KILL $$"), ("signal", "kill -SEGV $$"),
                            ("any", "exit 255")):
            with self.subTest(causes=causes, how=how):
                run = self.run_again("--max_restart=1", NO_PAUSE, f"--restart_on={causes}", SH, "-c",
                                     ARRIVE + f"[ $PADDLE_LAUNCH_ROUND = 1 ] || {how}", count=1)
                self.assert_status(run, 0)
                self.assertEqual(len(self.table(run)), 2)

    def test_exit_code_102_goes_round_more_often_than_max_restart(self):
        run = self.run_again("--max_restart=1", NO_PAUSE, SH, "-c", fails_before(4, code=102))
        self.assert_status(run, 0)
        self.assertEqual([row[:2] for row in self.table(run)], [(number, 0) for number in range(5)])
        self.assertEqual({self.environment_of(number, 0)["PADDLE_RESTART_COUNT"] for number in range(5)}, {"0"})
        self.assert_told(run, "round 0 ended: rank 1 failed: exit code 102, which asks to be started again; "
                         "starting again\n")

    def test_exit_code_102_waits_for_no_pause_at_first(self):
        run = self.start_again("--max_restart=1", LONG_PAUSE, SH, "-c", fails_before(2, code=102))
        self.wait_told(run, "round 1 ended: rank 1 failed: exit code 102, which asks to be started again; "
                       "starting again in 10 min 0 s")
        self.assertEqual(self.rounds_of(), [0, 1])
        run.send(signal.SIGTERM)
        run.wait(QUICK)
        self.assert_status(run, 143)

    def test_exit_code_102_is_no_wish_where_there_are_no_restarts(self):
        run = self.run_again(SH, "-c", fails_before(1, code=102))
        self.assert_status(run, 102)
        self.assert_one_round(run)

    def test_a_killed_guard_is_a_reason_to_start_again(self):
        run = self.start_again("--max_restart=1", NO_PAUSE, SH, "-c",
                               ARRIVE + "[ $PADDLE_LAUNCH_ROUND = 1 ] || exec sleep 1000")
        first = self.wait_round(0)
        os.kill(run.guard(), signal.SIGKILL)
        run.wait()
        self.assert_status(run, 0)
        self.assert_gone(first.values())
        self.assertEqual([row[:2] for row in self.table(run)], [(0, 0), (1, 1)])

    def test_a_killed_guard_counts_as_sigkill(self):
        run = self.start_again("--max_restart=1", "--restart_on=code,SIGTERM", SH, "-c", ARRIVE + "exec sleep 1000")
        self.wait_round(0)
        os.kill(run.guard(), signal.SIGKILL)
        run.wait()
        self.assertNotEqual(run.status, 0)
        self.assert_one_round(run)
        self.assert_told(run, "not started again: --restart_on does not name this cause")


class InterruptTest(RestartCase):
    # Rank 0 takes its time when it is stopped: until there is a file "saved".
    SAVES = ARRIVE + ("trap ': >stopping; until [ -e saved ]; do sleep 0.01; done; exit 0' TERM; "
                      ": >trapped.$PADDLE_TRAINER_ID; if [ $PADDLE_TRAINER_ID = 1 ]; then "
                      "until [ -e trapped.0 ]; do sleep 0.01; done; exit 7; fi; while :; do sleep 0.02; done")

    def test_a_signal_while_trainers_are_stopped_is_the_end(self):
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            with self.subTest(signal=number.name):
                run = self.start_again("--max_restart=3", NO_PAUSE, "--grace=600", SH, "-c", self.SAVES)
                self.wait_file("stopping")
                run.send(number)
                wait_until(lambda: not pending(run.pid, number), "the launcher to take the signal")
                self.write("saved", "")
                run.wait(QUICK)
                self.assert_status(run, 7)
                self.assert_one_round(run)
                self.assertNotIn("not started again", run.err)
                for name in ("stopping", "saved", "trapped.0", "trapped.1", "ready.0.0", "ready.0.1"):
                    (self.dir / name).unlink()

    def test_a_signal_while_the_console_is_waited_for_is_the_end(self):
        read, write = os.pipe()
        self.addCleanup(os.close, read)
        flood = "if [ $PADDLE_TRAINER_ID = 0 ]; then head -c 4000000 /dev/zero; : >flooded; fi; "
        fail = "until [ -e flooded ] && [ -e ready.0.0 ] && [ -e ready.0.1 ]; do sleep 0.01; done; exit 7"
        run = self.start_again("--max_restart=3", NO_PAUSE, SH, "-c", ARRIVE + flood + fail, stdout=write)
        os.close(write)
        self.assert_gone(self.wait_round(0).values())  # nobody reads what they wrote
        self.assertTrue(run.running(), run.told())
        run.send(signal.SIGTERM)
        time.sleep(1)
        if run.running():  # the signal came before the launcher knew that both are gone: the console is waited for once more
            run.send(signal.SIGTERM)
        run.wait(QUICK)
        self.assertIn(run.status, (143, 7), run.told())
        self.assertEqual(self.rounds_of(), [0])
        self.assert_nothing_left()

    def test_a_signal_between_two_rounds_is_the_end(self):
        for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGQUIT):
            with self.subTest(signal=number.name):
                run = self.start_again("--max_restart=3", LONG_PAUSE, SH, "-c", fails_before(3))
                self.wait_told(run, "starting again in 10 min 0 s (restart 1 of 3)")
                wait_until(lambda: not children(run.pid), "the first round to be gone")
                run.send(number)
                run.wait(QUICK)
                self.assert_status(run, 128 + number)
                self.assert_told(run, f"stopped by {number.name} between two rounds")
                self.assert_nothing_left()

    def test_other_signals_between_two_rounds_change_nothing(self):
        run = self.start_again("--max_restart=1", "--restart_pause=1", SH, "-c", fails_before(1))
        self.wait_told(run, "starting again in 1 s")
        wait_until(lambda: not children(run.pid), "the first round to be gone")
        for number in (signal.SIGUSR1, signal.SIGUSR2, signal.SIGCHLD):
            run.send(number)
        run.wait()
        self.assert_status(run, 0)

    def test_a_signal_in_a_later_round_is_the_end(self):
        run = self.start_again("--max_restart=3", NO_PAUSE, SH, "-c", fails_before(1, then="exec sleep 1000"))
        pids = self.wait_round(1)
        run.send(signal.SIGTERM)
        run.wait(QUICK)
        self.assert_status(run, 143)
        self.assertEqual(self.table(run)[1][-1], "the launcher was stopped by SIGTERM")
        self.assert_gone(pids.values())

    def test_a_launcher_killed_in_a_later_round_leaves_nothing(self):
        run = self.start_again("--max_restart=3", NO_PAUSE, SH, "-c", fails_before(1, then="exec sleep 1000"))
        pids = self.wait_round(1)
        run.send(signal.SIGKILL)
        run.wait()
        self.assert_gone(pids.values())
        self.assert_nothing_left()
        self.assertEqual(self.rounds_of(), [0, 1])

    def test_a_launcher_killed_between_two_rounds_leaves_nothing(self):
        run = self.start_again("--max_restart=3", LONG_PAUSE, SH, "-c", fails_before(3))
        self.wait_told(run, "starting again in 10 min 0 s")
        run.send(signal.SIGKILL)
        run.wait()
        self.assert_nothing_left()
        self.assertEqual(self.rounds_of(), [0])

    def test_ctrl_c_at_the_terminal_ends_a_later_round(self):
        terminal = Terminal(self, ["--nproc_per_node=2", "--max_restart=3", NO_PAUSE, SH, "-c",
                                   fails_before(1, then="exec sleep 1000")])
        self.wait_round(1)
        terminal.type(b"\x03")
        self.assertEqual(terminal.wait_event("exited"), ["exited", "130"])
        self.assertEqual(self.rounds_of(), [0, 1])

    def test_the_terminal_is_lent_in_every_round(self):
        terminal = Terminal(self, ["--nproc_per_node=1", "--max_restart=3", NO_PAUSE, SH, "-c",
                                   ARRIVE + "test -t 0 && read line && echo \"heard:$line\"; "
                                   "[ $PADDLE_LAUNCH_ROUND = 2 ] || exit 7"])
        for number in range(3):
            pid = self.wait_round(number, 1)[0]
            wait_until(lambda: terminal.foreground() == int(stat_fields(pid)[2]), terminal.told)
            terminal.type(b"line %d\n" % number)
            terminal.wait_screen(b"heard:line %d\n" % number)
        self.assertEqual(terminal.wait_event("exited"), ["exited", "0"])

    def test_ctrl_c_to_the_trainer_that_has_the_terminal_is_the_end(self):
        terminal = Terminal(self, ["--nproc_per_node=1", "--max_restart=3", NO_PAUSE, SH, "-c",
                                   ARRIVE + "exec sleep 1000"])
        pid = self.wait_round(0, 1)[0]
        wait_until(lambda: terminal.foreground() == int(stat_fields(pid)[2]), terminal.told)
        terminal.type(b"\x03")
        self.assertEqual(terminal.wait_event("exited"), ["exited", "130"])
        self.assertEqual(self.rounds_of(), [0])

    def test_ctrl_z_between_two_rounds(self):
        terminal = Terminal(self, ["--nproc_per_node=2", "--max_restart=1", "--restart_pause=1.5", SH, "-c",
                                   fails_before(1)])
        terminal.wait_screen(b"starting again in 1.5 s")
        wait_until(lambda: not children(terminal.pid), "the first round to be gone")
        terminal.type(b"\x1a")
        terminal.wait_event("stopped")
        terminal.order("fg")
        terminal.wait_event("continued")
        self.assertEqual(terminal.wait_event("exited"), ["exited", "0"])
        self.assertEqual(self.rounds_of(), [0, 1])


class OutputOfRoundsTest(RestartCase):
    LINES = 3000
    # Rank 1 fails when rank 0 has written all; its own lines are all there as well.
    WRITES = ("me=$PADDLE_LAUNCH_ROUND.$PADDLE_TRAINER_ID; seq -f \"$me:%.0f\" 1 {lines}; : >written.$me; "
              "[ $PADDLE_LAUNCH_ROUND = 2 ] && exit 0; [ $PADDLE_TRAINER_ID = 1 ] || exec sleep 1000; "
              "until [ -e written.$PADDLE_LAUNCH_ROUND.0 ]; do sleep 0.01; done; exit 7").format(lines=LINES)

    def lines_of(self, rank, *rounds):
        return [f"{number}.{rank}:{n}" for number in rounds for n in range(1, self.LINES + 1)]

    def test_a_log_has_all_rounds_one_after_the_other(self):
        run = self.run_again("--max_restart=2", NO_PAUSE, SH, "-c", self.WRITES)
        self.assert_status(run, 0)
        for rank in range(2):
            lines = self.log(rank).decode().splitlines()
            own = [line for line in lines if line.startswith("==== paddle-launch ")]
            self.assertEqual([line for line in lines if line not in own], self.lines_of(rank, 0, 1, 2))
            starts = [line for line in own if f"rank {rank} of 2: " in line]
            self.assertEqual([re.search(r"round (\d+), ", line) and int(re.search(r"round (\d+), ", line).group(1))
                              for line in starts], [None, 1, 2])
            for number, line in enumerate(starts):
                self.assertEqual(lines[lines.index(line) + 1], f"{number}.{rank}:1")
            stops = [line for line in own if "was stopped because rank 1 failed: exit code 7" in line]
            self.assertEqual(len(stops), 2 if rank == 0 else 0, own)

    def test_log_overwrite_overwrites_before_the_first_round_only(self):
        (self.dir / "log").mkdir()
        for rank in range(2):
            self.write(f"log/workerlog.{rank}", "of an earlier job\n")
        run = self.run_again("--max_restart=2", NO_PAUSE, "--log_overwrite=1", SH, "-c", self.WRITES)
        self.assert_status(run, 0)
        for rank in range(2):
            self.assertNotIn(b"of an earlier job", self.log(rank))
            self.assertEqual(self.trainer_bytes(rank).decode().splitlines(), self.lines_of(rank, 0, 1, 2))

    def test_without_log_overwrite_an_earlier_job_stays(self):
        (self.dir / "log").mkdir()
        self.write("log/workerlog.0", "of an earlier job\n")
        run = self.run_again("--max_restart=2", NO_PAUSE, SH, "-c", self.WRITES)
        self.assert_status(run, 0)
        self.assertEqual(self.trainer_bytes(0).decode().splitlines(), ["of an earlier job", *self.lines_of(0, 0, 1, 2)])

    def test_rank_0_of_all_rounds_is_on_stdout_in_order(self):
        run = self.run_again("--max_restart=2", NO_PAUSE, SH, "-c", self.WRITES)
        self.assert_status(run, 0)
        self.assertEqual(run.out.decode().splitlines(), self.lines_of(0, 0, 1, 2))

    def test_all_ranks_of_all_rounds_with_console_all(self):
        run = self.run_again("--max_restart=2", NO_PAUSE, "--console=all", SH, "-c", self.WRITES)
        self.assert_status(run, 0)
        lines = run.out.decode().splitlines()
        for rank in range(2):
            self.assertEqual([line for line in lines if line.startswith(f"[{rank}] ")],
                             [f"[{rank}] {line}" for line in self.lines_of(rank, 0, 1, 2)])
        self.assertEqual(len(lines), 2 * 3 * self.LINES)

    def test_the_failure_report_shows_the_log_of_its_own_round(self):
        run = self.run_again("--max_restart=1", NO_PAUSE, SH, "-c",
                             "echo the words of round $PADDLE_LAUNCH_ROUND; exit 7", count=1)
        self.assert_status(run, 7)
        first, last = run.err.split("ABORT!!!")[1:]
        self.assertIn("\nthe words of round 0\n", first)
        self.assertNotIn("\nthe words of round 0\n", last)
        self.assertIn("\nthe words of round 1\n", last)

    def test_endpoints_log_is_of_the_last_round(self):
        run = self.run_again("--max_restart=1", NO_PAUSE, SH, "-c", fails_before(1))
        self.assert_status(run, 0)
        endpoints = self.environment_of(1, 0)["PADDLE_TRAINER_ENDPOINTS"].replace(",", "\n")
        self.assertEqual(self.read("log/endpoints.log"), f"PADDLE_TRAINER_ENDPOINTS:\n{endpoints}\n")

    def test_quiet_tells_failures_only(self):
        run = self.run_again("--max_restart=1", NO_PAUSE, "--quiet", SH, "-c", fails_before(1))
        self.assert_status(run, 0)
        self.assertNotRegex(run.err, r"(?m)^INFO ")


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

    def test_a_port_that_somebody_took_between_the_rounds(self):
        start = free_port_run(2)
        run = self.start_again("--max_restart=2", "--restart_pause=1", f"--start_port={start}", SH, "-c",
                               fails_before(2))
        self.wait_told(run, "starting again in 1 s")
        with socket.create_server(("127.0.0.1", start + 1)):
            run.wait()
        self.assert_status(run, 1)
        self.assert_told(run, str(start + 1), str(os.getpid()))
        self.assertEqual(self.rounds_of(), [0])


class ServersTest(RolesMixin, RestartCase):
    def start_again(self, *args, **how):
        return self.start(*args, **how)

    def processes(self, *wishes):
        """roles.py, which does as `wishes` say in the first round only, with a copy of every environment."""
        program, *words = roles()
        text = ("echo $$ >>pids; env >env.$PADDLE_LAUNCH_ROUND.$TRAINING_ROLE.$PADDLE_PORT; "
                f"if [ $PADDLE_LAUNCH_ROUND = 0 ]; then exec \"$@\" {' '.join(wishes)}; fi; exec \"$@\"")
        return [SH, "-c", text, "sh", program, *words]

    def ports_of(self, number):
        prefix = f"env.{number}."
        return {name[len(prefix):] for name in os.listdir(self.dir) if name.startswith(prefix)}

    def test_a_worker_that_fails_once_restarts_servers_too(self):
        run = self.run_again("--server_num=1", "--worker_num=2", "--max_restart=1", NO_PAUSE,
                             *self.processes("worker.1=exit:7"))
        self.assert_status(run, 0)
        self.assertEqual([row[:2] for row in self.table(run)], [(0, 0), (1, 1)])
        self.assertEqual(len(self.ports_of(0)), 3)
        self.assertEqual(len(self.ports_of(1)), 3)
        self.assertEqual(self.ports_of(0) & self.ports_of(1), set())
        for name in ("server.0", *names("worker", 2)):
            self.assertEqual(self.seen(name)["PADDLE_LAUNCH_ROUND"], "1")
            self.assertEqual(self.seen(name)["PADDLE_RESTART_COUNT"], "1")
        self.assertEqual(self.read("reached.worker.1"), "1\n")
        self.assert_gone(map(int, self.read("pids").split()))
        self.assertEqual((self.dir / "log/serverlog.0").read_text().count("==== paddle-launch"), 4)

    def test_a_server_that_fails_once(self):
        self.gate()  # stays shut: the workers of the first round never end by themselves
        run = self.run_again("--server_num=2", "--worker_num=1", "--max_restart=1", NO_PAUSE,
                             *self.processes("server.1=exit:9", "worker.0=hold"))
        self.assert_status(run, 0)
        self.assertRegex(self.table(run)[0][-1], "server 1 failed: exit code 9")

    def test_named_servers_keep_their_ports(self):
        with socket.socket() as found:
            found.bind(("127.0.0.1", 0))
            first = min(found.getsockname()[1], 60000)
        lists = (f"--servers=127.0.0.1:{first}", f"--workers=127.0.0.1:{first + 1},127.0.0.1:{first + 2}")
        run = self.run_again(*lists, "--max_restart=1", NO_PAUSE, *self.processes("worker.0=exit:7"))
        self.assert_status(run, 0)
        self.assertEqual(self.ports_of(1), {f"PSERVER.{first}", f"TRAINER.{first + 1}", f"TRAINER.{first + 2}"})


if __name__ == "__main__":
    unittest.main()
