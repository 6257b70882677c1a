# SPDX-License-Identifier: Apache-2.0
"""--log_dir=auto: a directory for each job, and the link to the last one."""

import json
import os
import re
import unittest

from harness import SH, LauncherCase

NAME = re.compile(r"\d{8}-\d{6}-sh(-\d+)?")


class NamedLogsTest(LauncherCase):
    def auto(self, *options, text="echo hello; echo $PADDLE_LOG_DIR >where"):
        return self.run_launcher("--log_dir=auto", "--nproc_per_node=2", *options, SH, "-c", text)

    def named(self):
        return sorted(name for name in os.listdir(self.dir / "log") if name != "latest")

    def test_each_job_has_a_directory_and_latest_is_the_last(self):
        for count in range(1, 4):
            run = self.auto()
            self.assert_status(run, 0)
            self.assertEqual(run.out, b"hello\n")
            self.assertEqual(len(self.named()), count)
            where = self.read("where").strip()
            latest = os.readlink(self.dir / "log/latest")
            self.assertRegex(latest, NAME)
            self.assertEqual(where, str(self.dir / "log" / latest))
            self.assertEqual(sorted(os.listdir(where)), ["endpoints.log", "workerlog.0", "workerlog.1"])
            self.assert_told(run, where)

    def test_jobs_of_one_second_have_different_ones(self):
        runs = [self.start("--log_dir=auto", "--nproc_per_node=1", SH, "-c", "echo hello") for _ in range(4)]
        for run in runs:
            run.wait()
            self.assert_status(run, 0)
        self.assertEqual(len(self.named()), 4)

    def test_the_rounds_of_a_job_stay_in_one(self):
        run = self.auto("--max_restart=2", text="[ $PADDLE_RESTART_COUNT = 2 ] || exit 3; echo at last")
        self.assert_status(run, 0)
        self.assertEqual(len(self.named()), 1)
        self.assertEqual((self.dir / "log/latest/workerlog.0").read_text().count("rank 0 of 2: "), 3, run.told())

    def test_what_is_no_link_stays(self):
        (self.dir / "log").mkdir()
        self.write("log/latest", "mine")
        run = self.auto()
        self.assert_status(run, 0)
        self.assertEqual(self.read("log/latest"), "mine")
        self.assert_told(run, "log/latest")

    def test_a_dry_run_makes_nothing(self):
        run = self.auto("--dry_run=json")
        self.assert_status(run, 0)
        self.assertFalse((self.dir / "log").exists())
        self.assertRegex(json.dumps(json.loads(run.out)), r"/log/\d{8}-\d{6}-sh/workerlog\.0")

    def test_where_no_directory_can_be_made_the_use_is_wrong(self):
        self.write("log", "a file")
        run = self.auto()
        self.assert_status(run, 2)
        self.assert_told(run, "log")


if __name__ == "__main__":
    unittest.main()
