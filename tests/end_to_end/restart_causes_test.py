# SPDX-License-Identifier: Apache-2.0
"""After which causes a failed job is started again: --restart_on, exit code 102, a guard that was killed."""

import os
import signal
import unittest

from harness import SH
from rounds_case import ARRIVE, LONG_PAUSE, NO_PAUSE, QUICK, RestartCase, fails_before


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

    def test_causes_that_restart_on_names_are_worth_another_round(self):
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


if __name__ == "__main__":
    unittest.main()
