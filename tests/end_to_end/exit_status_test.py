# SPDX-License-Identifier: Apache-2.0
"""The launcher's exit status is the first failing trainer's own."""

import concurrent.futures
import os
import signal
import sys
import unittest

from harness import HOLD, SH, LauncherCase, alive, binary, state, wait_until

NOT_TERMINATING = {signal.SIGSTOP, signal.SIGTSTP, signal.SIGTTIN, signal.SIGTTOU, signal.SIGCHLD, signal.SIGURG,
                   signal.SIGWINCH, signal.SIGCONT}


class ExitStatusTest(LauncherCase):
    def run_many(self, scripts):
        """Runs one single-trainer job for each (key, shell text); returns {key: Launch}."""
        def one(item):
            key, text = item
            return key, self.run_launcher(f"--log_dir=log.{key}", "--nproc_per_node=1", SH, "-c", text, seconds=120)
        with concurrent.futures.ThreadPoolExecutor(4) as pool:
            return dict(pool.map(one, scripts))

    def test_every_exit_code_of_a_trainer_is_the_launchers(self):
        runs = self.run_many((code, f"exit {code}") for code in range(256))
        self.assertEqual({code: run.status for code, run in runs.items()}, {code: code for code in range(256)})
        for code, run in runs.items():
            if code == 0:
                self.assertNotIn("ABORT", run.err)
                self.assertNotIn("failed", run.err)
            else:
                self.assert_told(run, f"rank 0 failed: exit code {code}")
                self.assert_abort_line(run, 1, [0])

    def test_every_signal_that_ends_a_trainer_gives_128_and_its_number(self):
        numbers = [number for number in range(1, 32) if number not in NOT_TERMINATING] + [34, 40, 64]
        runs = self.run_many((number, f"kill -{number} $$; exit 99") for number in numbers)
        self.assertEqual({number: run.status for number, run in runs.items()},
                         {number: 128 + number for number in numbers})
        for number, run in runs.items():
            name = signal.Signals(number).name if number < 32 else "SIGRT"
            self.assert_told(run, "rank 0 failed: killed by")
            if number != signal.SIGPOLL:  # two names for one number
                self.assert_told(run, f"killed by {name}")
            self.assert_abort_line(run, 1, [0])
        self.assertEqual([name for name in os.listdir(self.dir) if name.startswith("core")], [])

    def test_whoever_started_us_may_ignore_sigchld(self):
        # Python resets nothing but SIGPIPE for its children, so an ignored signal stays ignored there.
        text = ("import os, signal, sys; signal.signal(signal.SIGCHLD, signal.SIG_IGN); "
                "os.execv(sys.argv[1], sys.argv[1:])")
        run = self.run_launcher("--nproc_per_node=1", sys.executable, "-c", text, binary(), "--quiet",
                                "--log_dir=inner", "--nproc_per_node=2", SH, "-c", "exit 7")
        self.assert_status(run, 7)

    def test_ranks_that_failed_before_our_sigterm_are_all_named_in_ascending_order(self):
        gate = self.gate()
        text = HOLD + "case $PADDLE_TRAINER_ID in 1|4|6) exit 1$PADDLE_TRAINER_ID;; esac; exec sleep 1000"
        run = self.start("--nproc_per_node=8", SH, "-c", text)
        pids = self.wait_ready(8)
        guard = run.guard()
        # While the guard stands still all three end, so none of them can have had its SIGTERM.
        os.kill(guard, signal.SIGSTOP)
        wait_until(lambda: state(guard) == "T", "the guard to stand still")
        gate.open()
        wait_until(lambda: not any(alive(pids[rank]) for rank in (1, 4, 6)), "three ranks to end")
        os.kill(guard, signal.SIGCONT)
        run.wait()
        self.assertIn(run.status, (11, 14, 16), run.told())
        self.assert_abort_line(run, 8, [1, 4, 6])

    def test_the_first_failures_code_wins_over_later_ones(self):
        gate = self.gate()
        text = ("trap 'exit 9' TERM; " + HOLD +
                "if [ $PADDLE_TRAINER_ID = 2 ]; then exit 5; fi; while :; do sleep 0.05; done")
        run = self.start("--nproc_per_node=4", SH, "-c", text)
        self.wait_ready(4)
        gate.open()
        run.wait()
        self.assert_status(run, 5)
        self.assert_abort_line(run, 4, [2])

    def test_a_signal_beats_the_codes_of_those_it_stops(self):
        gate = self.gate()
        text = HOLD + "if [ $PADDLE_TRAINER_ID = 1 ]; then kill -SEGV $$; fi; exec sleep 1000"
        run = self.start("--nproc_per_node=3", SH, "-c", text)
        self.wait_ready(3)
        gate.open()
        run.wait()
        self.assert_status(run, 128 + signal.SIGSEGV)
        self.assert_abort_line(run, 3, [1])

    def test_a_trainer_killed_by_somebody_else_is_a_failure_even_with_sigterm(self):
        self.gate()
        run = self.start("--nproc_per_node=3", SH, "-c", HOLD)
        pids = self.wait_ready(3)
        os.kill(pids[1], signal.SIGTERM)
        run.wait()
        self.assert_status(run, 128 + signal.SIGTERM)
        self.assert_told(run, "rank 1 failed: killed by SIGTERM; stopping 2 others")
        self.assert_abort_line(run, 3, [1])

    def test_a_trainer_that_ends_early_with_0_is_fine(self):
        gate = self.gate()
        early = ("me=$PADDLE_TRAINER_ID; if [ $me != 2 ]; then echo $$ >.early.$me; mv .early.$me early.$me; exit 0; "
                 "fi; ")
        text = early + HOLD + "echo late"
        run = self.start("--nproc_per_node=3", SH, "-c", text)
        pids = [int(self.wait_file(f"early.{rank}")) for rank in range(2)]
        self.wait_ready([2])
        self.assert_gone(pids)
        self.assertTrue(run.running(), run.told())
        gate.open()
        run.wait()
        self.assert_status(run, 0)
        self.assertEqual(self.trainer_bytes(2), b"late\n")
        self.assertNotIn("ABORT", run.err)

    def test_a_failure_after_others_ended_with_0_counts(self):
        gate = self.gate()
        text = "if [ $PADDLE_TRAINER_ID = 0 ]; then exit 0; fi; " + HOLD + "exit 33"
        run = self.start("--nproc_per_node=2", SH, "-c", text)
        self.wait_ready([1])
        gate.open()
        run.wait()
        self.assert_status(run, 33)
        self.assert_abort_line(run, 2, [1])

    def test_an_interpreter_that_is_not_there_is_127(self):
        script = self.write("train", "#!/no/such/interpreter\n", 0o755)
        run = self.run_launcher("--nproc_per_node=2", script)
        self.assert_status(run, 127)
        self.assert_told(run, str(script))

    def test_a_program_the_kernel_cannot_execute_is_126(self):
        script = self.write("train", "neither ELF nor script\n", 0o755)
        run = self.run_launcher("--nproc_per_node=2", script)
        self.assert_status(run, 126)
        self.assert_told(run, str(script))

    def test_success_is_0_with_many_trainers(self):
        run = self.run_launcher("--nproc_per_node=16", SH, "-c", "exit 0")
        self.assert_status(run, 0)


if __name__ == "__main__":
    unittest.main()
