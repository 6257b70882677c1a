# SPDX-License-Identifier: Apache-2.0
"""--report: the file that tells programs how the job ended."""

import json
import os
import signal
import unittest

from harness import HOLD, SH, LauncherCase, free_port_run


class ReportTest(LauncherCase):
    def report(self, name="end.json"):
        return json.loads(self.read(name))

    def test_a_job_that_completed_has_no_failures(self):
        run = self.run_launcher("--nproc_per_node=2", "--report=end.json", SH, "-c", ":")
        self.assert_status(run, 0)
        report = self.report()
        self.assertEqual((report["status"], report["kind"], report["first"]), (0, "completed", None))
        self.assertEqual((report["failures"], report["stopped"], report["restarts"]), ([], [], 0))

    def test_the_first_failure_and_those_who_were_stopped(self):
        self.gate()
        run = self.run_launcher("--nproc_per_node=3", "--report=end.json", SH, "-c",
                                "[ $PADDLE_TRAINER_ID = 1 ] && exit 7; " + HOLD)
        self.assert_status(run, 7)
        report = self.report()
        self.assertEqual((report["status"], report["kind"]), (7, "worker_failed"))
        self.assertEqual(report["text"], "rank 1 failed: exit code 7")
        first = report["first"]
        self.assertEqual((first["role"], first["rank"], first["code"], first["signal"]), ("trainer", 1, 7, None))
        self.assertEqual(first["log"], str(self.dir / "log" / "workerlog.1"))
        self.assertGreater(first["pid"], 0)
        self.assertEqual(report["failures"], [first])
        self.assertEqual(sorted(one["rank"] for one in report["stopped"]), [0, 2])

    def test_a_signal_has_its_name(self):
        run = self.run_launcher("--nproc_per_node=1", "--console=direct", "--report=end.json", SH, "-c", "kill -KILL $$")
        self.assert_status(run, 137)
        first = self.report()["first"]
        self.assertEqual((first["code"], first["signal"], first["signal_number"]), (0, "SIGKILL", 9))
        self.assertEqual((first["core_dumped"], first["log"]), (False, None))

    def test_an_interrupt_is_nobodys_failure(self):
        self.gate()
        run = self.start("--nproc_per_node=2", "--report=end.json", SH, "-c", HOLD)
        self.wait_ready(2)
        run.send(signal.SIGTERM)
        run.wait()
        report = self.report()
        self.assertEqual((report["status"], report["kind"], report["first"]), (143, "interrupted", None))

    def test_a_program_that_cannot_be_executed_is_named(self):
        broken = self.write("broken", "no #! line", 0o755)
        run = self.run_launcher("--report=end.json", str(broken))
        self.assert_status(run, 126)
        report = self.report()
        self.assertEqual((report["status"], report["kind"]), (126, "not_started"))
        self.assertIn("broken", report["text"])

    def test_a_lost_guard_is_told(self):
        self.gate()
        run = self.start("--nproc_per_node=2", "--report=end.json", SH, "-c", HOLD)
        self.wait_ready(2)
        os.kill(run.guard(), signal.SIGKILL)
        run.wait()
        report = self.report()
        self.assertEqual((report["status"], report["kind"]), (1, "guard_lost"))

    def test_every_node_writes_its_own_with_the_same_verdict(self):
        self.gate()
        port = free_port_run(10)
        runs = [self.start("--ips=127.0.0.2,127.0.0.3", f"--host={node}", f"--bootstrap_port={port}",
                           "--nproc_per_node=1", "--console=direct", f"--report={node}.json", SH, "-c",
                           "[ $PADDLE_TRAINER_ID = 1 ] || { until [ -e ready.1 ]; do sleep .05; done; exit 7; }; " + HOLD)
                for node in ("127.0.0.2", "127.0.0.3")]
        for run in runs:
            run.wait()
            self.assert_status(run, 7)
        first, second = self.report("127.0.0.2.json"), self.report("127.0.0.3.json")
        self.assertEqual(first, second)
        self.assertEqual((first["first"]["rank"], first["stopped"]), (0, [{"role": "trainer", "rank": 1}]))

    def test_restarts_are_counted(self):
        run = self.run_launcher("--nproc_per_node=1", "--max_restart=2", "--restart_pause=0", "--report=end.json", SH,
                                "-c", "exit 3")
        self.assert_status(run, 3)
        report = self.report()
        self.assertEqual((report["restarts"], report["first"]["code"]), (2, 3))

    def test_wrong_use_is_reported_too(self):
        run = self.run_launcher("--report=end.json", "--console=nonsense", SH, "-c", ":")
        self.assert_status(run, 2)
        report = self.report()
        self.assertEqual((report["status"], report["kind"], report["restarts"]), (2, "launch_failed", None))
        self.assertIn("--console=nonsense", report["text"])
        self.assertIn(report["text"], run.err)

    def test_a_script_that_is_not_there_is_a_failed_launch(self):
        run = self.run_launcher("--report=end.json", "none.py")
        self.assert_status(run, 2)
        self.assertEqual(self.report()["kind"], "launch_failed")

    def test_a_file_that_cannot_be_written_is_told_before_anything_starts(self):
        for name, reason in (("no/such/end.json", "No such file or directory"), (".", "is a directory"),
                             ("/dev/null", "is not a regular file")):
            run = self.run_launcher(f"--report={name}", SH, "-c", "echo >started")
            self.assert_status(run, 2)
            self.assert_told(run, f"--report={name}" if name != "." else "--report=", reason, "name a file")
        self.assertEqual(os.listdir(self.dir), [])
        self.assertFalse(os.path.isfile("/dev/null"))

    def test_the_file_is_replaced_also_behind_a_link(self):
        self.write("old.json", "old")
        os.symlink("old.json", self.dir / "end.json")
        self.run_launcher("--report=end.json", "--console=direct", SH, "-c", ":")
        self.assertTrue((self.dir / "end.json").is_symlink())
        self.assertEqual(self.report("old.json")["kind"], "completed")
        self.assertEqual(sorted(os.listdir(self.dir)), ["end.json", "old.json"])


if __name__ == "__main__":
    unittest.main()
