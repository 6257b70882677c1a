# SPDX-License-Identifier: Apache-2.0
"""A job that may be started again ends when it is interrupted: in any round, between two, at a terminal."""

import os
import signal
import unittest

from harness import SH, Terminal, children, pending, stat_fields, wait_until
from rounds_case import ARRIVE, LONG_PAUSE, NO_PAUSE, QUICK, RestartCase, fails_before


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
        # The console is given up after 5 s; then it is the pause in which the signal comes.
        run = self.start_again("--max_restart=3", LONG_PAUSE, SH, "-c", ARRIVE + flood + fail, stdout=write)
        os.close(write)
        guard = run.guard()
        self.assert_gone([*self.wait_round(0).values(), guard])  # nobody reads what they wrote
        self.assertTrue(run.running(), run.told())

        def is_ended():  # the first signal may come before the launcher knows that all are gone
            run.send(signal.SIGTERM)
            return not run.running()
        wait_until(is_ended, run.told, QUICK)
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

    def test_ctrl_z_between_two_rounds_puts_off_the_next_one(self):
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


if __name__ == "__main__":
    unittest.main()
