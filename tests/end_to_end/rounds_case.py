# SPDX-License-Identifier: Apache-2.0
"""Jobs on one node that are started again. Their trainers write down in each round that they came and what they saw."""

import os
import re

from harness import LauncherCase, variables_in
from rounds_table import only_table

QUICK = 20.0  # seconds: far more than a loaded machine needs to end a job, far less than the pauses below
LONG_PAUSE = "--restart_pause=600"
NO_PAUSE = "--restart_pause=0"

# What a trainer of these tests does first: "ready.ROUND.RANK" has its pid, "env.ROUND.RANK" its environment.
ARRIVE = "me=$PADDLE_LAUNCH_ROUND.$PADDLE_TRAINER_ID; env >env.$me; echo $$ >.tmp.$me; mv .tmp.$me ready.$me; "
# Rank 1 fails once rank 0 has arrived; the others stay until they are stopped.
FAIL = ("if [ $PADDLE_TRAINER_ID != 1 ]; then exec sleep 1000; fi; "
        "until [ -e ready.$PADDLE_LAUNCH_ROUND.0 ]; do sleep 0.01; done; exit {code}; ")


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
        return variables_in(self.read(f"env.{round}.{rank}"))

    def rounds_of(self, rank=0):
        """The numbers of the rounds in which this rank arrived."""
        found = [re.fullmatch(rf"ready\.(\d+)\.{rank}", name) for name in os.listdir(self.dir)]
        return sorted(int(match.group(1)) for match in found if match)

    def wait_round(self, number, ranks=2):
        """The pids of its trainers."""
        return {rank: int(self.wait_file(f"ready.{number}.{rank}")) for rank in range(ranks)}

    def table(self, run):
        """(round, restarts, nodes, trainers, how it ended) of every round."""
        return only_table(self, run)

    def assert_one_round(self, run):
        self.assertEqual(self.rounds_of(), [0], run.told())
        self.assertNotIn("starting again", run.err)
        self.assertNotIn("Rounds of this job", run.err)
