# SPDX-License-Identifier: Apache-2.0
"""What the rounds of a job write: logs that go on, the console, the report of each failure."""

import re
import unittest

from harness import SH
from rounds_case import NO_PAUSE, RestartCase, fails_before


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
            self.assertEqual([re.findall(r"round (\d+), ", line) for line in starts], [[], ["1"], ["2"]])
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
        self.assert_told(run, "rank 1 failed: exit code 7")
        self.assertNotRegex(run.err, r"(?m)^INFO ")


if __name__ == "__main__":
    unittest.main()
