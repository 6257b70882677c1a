# SPDX-License-Identifier: Apache-2.0
"""What a person reads when a trainer fails: the notice, the ABORT line, the report, the victims' logs."""

import os
import re
import resource
import signal
import subprocess
import unittest

from harness import ABORT, FAIL_1, HOLD, SH, LauncherCase, alive, sanitizer_options, wait_until

NOTICE = re.compile(r"^(INFO|WARNING|ERROR) \d{4}-\d\d-\d\d \d\d:\d\d:\d\d,\d{3} paddle-launch\] rank ", re.M)


class FailureReportTest(LauncherCase):
    def fail_one(self, world, rank, how, before="", **options):
        """A job in which one rank runs the shell text `how` while all others sleep; returns (run, pids)."""
        gate = self.gate()
        text = f"{before}\n{HOLD}\nif [ $PADDLE_TRAINER_ID = {rank} ]; then {how}\nfi; exec sleep 1000"
        run = self.start(f"--nproc_per_node={world}", SH, "-c", text, **options)
        pids = self.wait_ready(world)
        gate.open()
        run.wait()
        return run, pids

    def report(self, run):
        """What stands after the ABORT line."""
        lines = run.err.split("\n")
        starts = [index for index, line in enumerate(lines) if line.startswith("ABORT!!!")]
        self.assertEqual(len(starts), 1, run.told())
        return "\n".join(lines[starts[0] + 1:])

    def test_rank_3_of_8_from_the_notice_to_the_report(self):
        run, pids = self.fail_one(8, 3, "echo the last words; exit 7")
        self.assert_status(run, 7)
        self.assert_told(run, "rank 3 failed: exit code 7; stopping 7 others")
        self.assert_abort_line(run, 8, [3])
        self.assertLess(run.err.index("rank 3 failed: exit code 7"), run.err.index("ABORT!!!"))
        self.assertRegex(run.err, NOTICE)
        report = self.report(run)
        self.assertRegex(report, r"(?m)^ *rank +3\b")
        self.assertRegex(report, rf"(?m)^ *node +.*({re.escape(os.uname().nodename)}|127\.0\.0\.1)")
        self.assertRegex(report, rf"(?m)^ *pid +{pids[3]}$")
        self.assertIn("exit code 7", report)
        self.assertIn("log/workerlog.3", report)
        self.assertIn("the last words", report)
        self.assertRegex(report, r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d")
        victims = re.search(r"(?m)^.*stopped.*$", report)
        self.assertIsNotNone(victims, report)
        named = set()
        for first, last in re.findall(r"(\d+)(?:-(\d+))?", victims.group(0).split("rank", 1)[-1]):
            named.update(range(int(first), int(last or first) + 1))
        self.assertLessEqual({0, 1, 2, 4, 5, 6, 7}, named, victims.group(0))

    def test_the_victims_logs_end_with_the_cause(self):
        run, _ = self.fail_one(4, 3, "exit 7")
        self.assert_status(run, 7)
        for rank in range(3):
            last = self.log(rank).decode().splitlines()[-1]
            self.assertTrue(last.startswith("==== paddle-launch"), last)
            self.assertIn("stopped because rank 3 failed: exit code 7", last)
            self.assertTrue(self.log(rank).endswith(b"\n"))
        self.assertNotIn(b"stopped because", self.log(3))

    def test_a_victims_unfinished_line_is_not_glued_to_ours(self):
        run, _ = self.fail_one(2, 1, "exit 7", before="printf 'half a line'")
        self.assert_status(run, 7)
        lines = self.log(0).decode().splitlines()
        self.assertIn("half a line", lines)
        self.assertTrue(lines[-1].startswith("==== paddle-launch"), lines)
        self.assertEqual(run.out.rstrip(b"\n"), b"half a line")

    def test_one_other_and_no_other(self):
        run, _ = self.fail_one(2, 0, "exit 3")
        self.assert_told(run, re.compile(r"rank 0 failed: exit code 3; stopping 1 other\b"))
        alone = self.run_launcher("--nproc_per_node=1", SH, "-c", "exit 3")
        self.assertTrue(any(line.endswith("] rank 0 failed: exit code 3") for line in alone.err.split("\n")),
                        alone.told())

    def test_a_signal_in_words(self):
        run, _ = self.fail_one(2, 1, "kill -SEGV $$;")
        self.assert_told(run, "rank 1 failed: killed by SIGSEGV; stopping 1 other")
        self.assertIn("killed by SIGSEGV", self.report(run))
        self.assertNotIn("core dumped", run.err)

    def test_a_core_dump_is_told(self):
        unlimited = lambda: resource.setrlimit(resource.RLIMIT_CORE, (hard, hard))
        hard = resource.getrlimit(resource.RLIMIT_CORE)[1]
        if hard == 0:
            self.skipTest("the hard limit of core files is 0")
        bare = subprocess.Popen([SH, "-c", "kill -SEGV $$"], cwd=self.dir, preexec_fn=unlimited)
        _, status = os.waitpid(bare.pid, 0)
        bare.returncode = 0
        if not os.WCOREDUMP(status):
            self.skipTest("the kernel writes no core file here (core_pattern)")
        run, _ = self.fail_one(2, 1, "kill -SEGV $$;", preexec_fn=unlimited,
                               env=sanitizer_options("disable_coredump=0"))
        self.assert_status(run, 139)
        self.assertIn("killed by SIGSEGV (core dumped)", self.report(run))

    def test_exit_code_137_is_probably_the_oom_killer(self):
        run, _ = self.fail_one(2, 1, "exit 137")
        self.assert_status(run, 137)
        self.assertIn("exit code 137: probably killed by the OOM killer", self.report(run))

    def test_the_last_20_lines_are_shown(self):
        loop = "for i in 1 2 3 4 5; do for j in 1 2 3 4 5 6 7 8 9 0; do echo line=$i$j=; done; done; "
        run, _ = self.fail_one(2, 1, loop + "exit 7")
        report = self.report(run)
        shown = re.findall(r"line=(\d+)=", report)
        everything = [f"{i}{j}" for i in range(1, 6) for j in (1, 2, 3, 4, 5, 6, 7, 8, 9, 0)]
        self.assertEqual(shown, everything[-20:], report)

    def test_a_python_traceback_is_shown_whole(self):
        depth = 30
        calls = "".join(f"def f{i}():\n    f{i + 1}()\n" for i in range(depth))
        self.write("train.py", "import os, sys\n"
                   + "for i in range(40): print('before', i, flush=True)\n"
                   + calls + f"def f{depth}():\n    raise ValueError('the reason\\nin two lines')\n"
                   + "if os.environ['PADDLE_TRAINER_ID'] == '1':\n    f0()\n"
                   + "import time\ntime.sleep(1000)\n")
        run = self.run_launcher("--nproc_per_node=2", "train.py", env={"PATH": self.python_on_path()})
        self.assert_status(run, 1)
        report = self.report(run)
        self.assertIn("Traceback (most recent call last):", report)
        for i in range(depth + 1):
            self.assertRegex(report, rf"in f{i}\b")
        self.assertIn("ValueError: the reason", report)
        self.assertIn("in two lines", report)
        self.assertNotIn("before 10", report)

    def test_a_chained_traceback_is_shown_from_its_first_cause(self):
        self.write("train.py", "def deep():\n    raise KeyError('root cause')\ntry:\n    deep()\n"
                   "except KeyError as error:\n    raise RuntimeError('what came of it') from error\n")
        run = self.run_launcher("--nproc_per_node=1", "train.py", env={"PATH": self.python_on_path()})
        self.assert_status(run, 1)
        report = self.report(run)
        self.assertIn("root cause", report)
        self.assertIn("what came of it", report)

    def test_control_bytes_and_invalid_utf8_do_not_reach_the_terminal(self):
        dirt = r"printf 'bad \377\376 utf8\n\033[2Jclear\007 \000nul\n\033]0;title\007end\n'; "
        run, _ = self.fail_one(2, 1, dirt + "exit 7")
        self.assert_status(run, 7)
        raw = run.err_path.read_bytes()
        report = raw[raw.index(b"ABORT!!!"):]
        for byte in (b"\033", b"\007", b"\000"):
            self.assertNotIn(byte, report)
        report.decode()  # valid UTF-8
        for text in (b"bad", b"utf8", b"clear", b"nul", b"end"):
            self.assertIn(text, report)

    def test_a_log_without_a_word(self):
        run, pids = self.fail_one(2, 1, "exit 7")
        report = self.report(run)
        self.assertRegex(report, rf"(?m)^ *pid +{pids[1]}$")
        self.assertIn("log/workerlog.1", report)

    def test_a_last_line_without_end_and_a_very_long_line(self):
        run, _ = self.fail_one(2, 1, "head -c 300000 /dev/zero | tr '\\0' x; echo; printf 'no end'; exit 7")
        self.assert_status(run, 7)
        self.assertIn("no end", self.report(run))

    def test_only_this_runs_lines_are_shown(self):
        for word in ("first", "second"):
            run = self.run_launcher("--nproc_per_node=1", SH, "-c", f"echo the {word} run; exit 7")
            self.assert_status(run, 7)
        report = self.report(run)
        self.assertIn("the second run", report)
        self.assertNotIn("the first run", report)

    def test_the_notice_comes_at_once_and_abort_when_all_are_gone(self):
        gate = self.gate()
        run = self.start("--nproc_per_node=2", "--grace=600", SH, "-c", "trap '' TERM; " + FAIL_1)
        pids = self.wait_ready(2)
        gate.open()
        wait_until(lambda: "rank 1 failed: exit code 7; stopping 1 other" in run.err, run.told)
        self.assertNotIn("ABORT", run.err)
        self.assertTrue(alive(pids[0]))
        os.kill(pids[0], signal.SIGKILL)
        run.wait()
        self.assert_status(run, 7)
        self.assert_abort_line(run, 2, [1])

    def test_quiet_still_reports(self):
        gate = self.gate()
        run = self.start("--quiet", "--nproc_per_node=2", SH, "-c",
                         HOLD + "[ $PADDLE_TRAINER_ID = 1 ] && echo why && exit 7; exec sleep 1000")
        self.wait_ready(2)
        gate.open()
        run.wait()
        self.assert_status(run, 7)
        self.assert_abort_line(run, 2, [1])
        self.assertIn("why", self.report(run))
        self.assertNotIn("Configuration Arguments", run.err)

    def test_the_report_names_the_log_in_another_directory(self):
        run = self.run_launcher("--nproc_per_node=1", "--log_dir=some/where", SH, "-c", "echo there; exit 7")
        self.assertIn("some/where/workerlog.0", self.report(run))
        self.assertEqual(self.trainer_bytes(0, "some/where"), b"there\n")

    def test_a_killed_trainer_is_named_with_its_signal(self):
        self.gate()
        run = self.start("--nproc_per_node=2", SH, "-c", HOLD)
        pids = self.wait_ready(2)
        os.kill(pids[0], signal.SIGKILL)
        run.wait()
        self.assert_status(run, 137)
        self.assertIn("killed by SIGKILL", self.report(run))
        self.assertIn(ABORT.format(2, "0"), run.err)


if __name__ == "__main__":
    unittest.main()
