# SPDX-License-Identifier: Apache-2.0
"""Twenty runs of the campaign, others for each commit; `./campaign --runs 2000` for more. And its judge notices."""

import subprocess
import types
import unittest

import campaign_check
import campaign_series
from campaign_faults import Expectation, together
from campaign_list import FAULTS
from campaign_modes import MODES
from etcd_server import require_etcd
from mpi_run import require_mpich, require_openmpi
from slurm_cluster import require_slurm
from test_hosts import HERE, require_test_hosts

RUNS = 20
AT_ONCE = 2


def seed():
    """The commit; a copy without a history has always the same runs."""
    told = subprocess.run(["git", "-C", str(HERE), "rev-parse", "HEAD"], capture_output=True, text=True)
    return told.stdout.strip()[:12] if told.returncode == 0 else "no-history"


class CampaignTest(unittest.TestCase):
    def test_random_faults_end_every_job_as_they_should(self):
        for require in (require_test_hosts, require_slurm, require_openmpi, require_mpich, require_etcd):
            require()
        results = campaign_series.Series(AT_ONCE).run(campaign_series.keys(seed(), RUNS, MODES, list(FAULTS)))
        print(campaign_series.table(results), flush=True)
        self.assertEqual(len(results), RUNS)
        self.assertEqual([result.key for result in results if result.problems], [])


class FakeJob:
    """What the judge looks at."""
    restarts = 0
    joins_statuses = is_front = False

    def __init__(self, statuses, told="", aborted=None):
        self.runs, self._told, self._aborted = dict(statuses), told, aborted

    def statuses(self):
        return self.runs

    def told(self, _):
        return self._told

    def aborted(self, _):
        return self._aborted

    def marked(self, *_):
        return []

    def marks(self):
        return []

    folder = types.SimpleNamespace(glob=lambda _: [])


class JudgeTest(unittest.TestCase):
    RANK = frozenset(["worker.1"])

    def problems(self, job, *expected, **more):
        return campaign_check.problems(job, Expectation(*expected, **more))

    def test_a_wrong_status_is_bad(self):
        self.assertEqual(self.problems(FakeJob({"n1": 0, "n2": 0})), [])
        self.assertTrue(self.problems(FakeJob({"n1": 1, "n2": 1})))
        self.assertTrue(self.problems(FakeJob({"n1": -11, "n2": 75}), {75}, None, {"n1": {-9}}))

    def test_nodes_that_end_differently_are_bad(self):
        self.assertTrue(self.problems(FakeJob({"n1": 0, "n2": 75}), {0, 75}))
        self.assertEqual(self.problems(FakeJob({"n1": -9, "n2": 75}), {75}, None, {"n1": {-9}}), [])

    def test_a_wrong_rank_is_bad(self):
        told = FakeJob({"n1": 137}, "ABORT", self.RANK)
        self.assertEqual(self.problems(told, {137}, [self.RANK]), [])
        self.assertTrue(self.problems(told, {137}, [frozenset(["worker.0"])]))
        self.assertTrue(self.problems(FakeJob({"n1": 137}), {137}, [self.RANK]))
        self.assertTrue(self.problems(FakeJob({"n1": 0}, "ABORT", self.RANK)))
        self.assertTrue(self.problems(FakeJob({"n1": 143}, "ABORT", self.RANK), {143}, [None]))

    def test_words_of_a_crash_are_bad(self):
        self.assertTrue(self.problems(FakeJob({"n1": 0}, "terminate called after throwing")))

    def test_a_scheduler_that_cannot_connect_its_own_processes_is_not_the_launchers_affair(self):
        job = FakeJob({"front": 137}, "mpi/pmix_v4: pmixp_dconn_connect: Cannot establish direct connection to n1 (0)")
        self.assertTrue(self.problems(job))
        job.is_front = True
        self.assertEqual(self.problems(job), [])

    def test_two_faults_are_harmless_only_where_both_are(self):
        harm, none, perhaps = Expectation({137}), Expectation({0}), Expectation({0, 75})
        self.assertEqual(together(harm, none).statuses, {137})
        self.assertEqual(together(harm, perhaps).statuses, {137, 75})
        self.assertEqual(together(none, perhaps).statuses, {0, 75})


if __name__ == "__main__":
    unittest.main()
