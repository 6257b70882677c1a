# SPDX-License-Identifier: Apache-2.0
"""--console direct: the processes write straight to the launcher's own output; --stop_with_parent."""

import os
import re
import signal
import subprocess
import sys
import unittest

from harness import HOLD, READY, SH, LauncherCase, binary, kill_quietly, wait_until


class DirectConsoleTest(LauncherCase):
    def test_every_process_writes_to_both_streams_and_there_are_no_files(self):
        run = self.run_launcher("--nproc_per_node=3", "--console=direct", "--quiet", SH, "-c",
                                "echo out $PADDLE_TRAINER_ID; echo err $PADDLE_TRAINER_ID >&2")
        self.assert_status(run, 0)
        self.assertEqual(sorted(run.out.decode().splitlines()), ["out 0", "out 1", "out 2"])
        self.assertEqual(sorted(run.err.splitlines()), ["err 0", "err 1", "err 2"])
        self.assertEqual(os.listdir(self.dir), [])

    def test_the_environment_names_no_log_directory(self):
        run = self.run_launcher("--nproc_per_node=1", "--console=direct", "--quiet", SH, "-c",
                                "echo ${PADDLE_LOG_DIR-none}")
        self.assertEqual(run.out, b"none\n")

    def test_our_own_lines_go_to_stderr(self):
        run = self.run_launcher("--nproc_per_node=1", "--console=direct", SH, "-c", "echo out")
        self.assertEqual(run.out, b"out\n")
        self.assert_told(run, "Configuration Arguments", re.compile(r"(?m)^log_dir: None$"))

    def test_no_line_of_a_process_is_lost_or_torn(self):
        run = self.run_launcher("--nproc_per_node=2", "--console=direct", "--quiet", SH, "-c",
                                "i=0; while [ $i -lt 2000 ]; do echo $PADDLE_TRAINER_ID line $i; i=$((i+1)); done")
        lines = run.out.decode().splitlines()
        for rank in "01":
            self.assertEqual([line for line in lines if line[0] == rank],
                             [f"{rank} line {number}" for number in range(2000)])

    def test_a_failure_report_says_that_there_is_no_log(self):
        run = self.run_launcher("--nproc_per_node=2", "--console=direct", SH, "-c",
                                READY + "[ $PADDLE_TRAINER_ID = 1 ] && exit 7; sleep 60", cwd=self.with_gate())
        self.assert_status(run, 7)
        self.assert_abort_line(run, 2, [1])
        self.assert_told(run, "log       none: it wrote straight to the console (--console=direct)")
        self.assertNotIn("cannot be read", run.err)
        self.assertNotIn("could not be written", run.err)

    def with_gate(self):
        self.gate()
        return self.dir

    def test_rounds_write_to_the_same_console(self):
        run = self.run_launcher("--nproc_per_node=1", "--console=direct", "--max_restart=1", "--restart_pause=0", SH,
                                "-c", "echo round $PADDLE_LAUNCH_ROUND; [ $PADDLE_LAUNCH_ROUND = 1 ]")
        self.assert_status(run, 0)
        self.assertEqual(run.out, b"round 0\nround 1\n")

    def test_servers_and_workers_write_there_too(self):
        run = self.run_launcher("--server_num=1", "--worker_num=2", "--server_wait=0", "--console=direct", SH, "-c",
                                'echo $TRAINING_ROLE; [ $TRAINING_ROLE = TRAINER ] || { echo >server; sleep 60; }; '
                                'while [ ! -e server ]; do sleep 0.02; done')
        self.assert_status(run, 0)
        self.assertEqual(sorted(run.out.split()), [b"PSERVER", b"TRAINER", b"TRAINER"])
        self.assertEqual(os.listdir(self.dir), ["server"])

    def test_whoever_reads_the_output_sees_its_end_with_the_launcher(self):
        run = self.start("--nproc_per_node=2", "--console=direct", "--quiet", SH, "-c", "echo hello",
                         stdout=subprocess.PIPE)
        self.assertEqual(run.process.stdout.read(), b"hello\nhello\n")
        run.process.stdout.close()
        run.wait()

    def test_the_guard_holds_no_copy_of_the_output_while_trainers_run(self):
        self.gate()
        run = self.start("--nproc_per_node=2", "--console=direct", "--quiet", SH, "-c", HOLD, stdout=subprocess.PIPE)
        self.wait_ready(2)
        guard = run.guard()
        pipe = os.readlink(f"/proc/{run.trainers(2)[0]}/fd/1")
        def holds():
            return pipe in [os.readlink(f"/proc/{guard}/fd/{name}") for name in os.listdir(f"/proc/{guard}/fd")]
        wait_until(lambda: not holds(), "the guard lets go of the output")
        run.send(signal.SIGTERM)
        run.wait()
        run.process.stdout.close()


class StopWithParentTest(LauncherCase):
    SCRIPT = ("import os, subprocess, sys, time\n"
              "subprocess.Popen(sys.argv[1:])\n"
              "print(os.getpid(), flush=True)\n"
              "time.sleep(600)\n")

    def start_parent(self, *options):
        self.gate()
        trainer = "trap 'echo saved >saved.$PADDLE_TRAINER_ID; exit 0' TERM; " + READY + \
            "while :; do sleep 0.05; done"
        return self.start("-c", self.SCRIPT, binary(), "--nproc_per_node=2", *options, SH, "-c", trainer,
                          program=sys.executable)

    def test_the_job_ends_as_for_sigterm_when_the_parent_is_killed(self):
        parent = self.start_parent("--stop_with_parent", "--report=end.json")
        pids = self.wait_ready(2)
        parent.send(signal.SIGKILL)
        parent.wait()
        self.assert_gone(pids.values())
        wait_until((self.dir / "end.json").exists, "the report")
        self.assertIn("stopped by SIGTERM", self.read("end.json"))
        self.assertEqual(self.read("saved.0") + self.read("saved.1"), "saved\nsaved\n")

    def test_without_it_the_job_goes_on(self):
        parent = self.start_parent()
        pids = self.wait_ready(2)
        parent.send(signal.SIGKILL)
        parent.wait()
        self.assertFalse((self.dir / "saved.0").exists())
        for pid in pids.values():
            os.kill(pid, 0)
            kill_quietly(pid)
        self.assert_gone(pids.values())


if __name__ == "__main__":
    unittest.main()
