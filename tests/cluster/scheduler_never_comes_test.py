# SPDX-License-Identifier: Apache-2.0
"""What the others say and do when one of the launchers that srun or mpirun started never comes."""

import re
import time
import unittest

from scheduler_case import SINGLE, SchedulerCase

PATIENCE = 5


class NeverComesTest(SchedulerCase):
    """n3 sleeps instead of coming. Nobody but whoever started it can end that: srun does so with --kill-on-bad-exit."""

    def run_without_n3(self, start):
        words = self.command("job", f"--bootstrap_timeout={PATIENCE}", "--nproc_per_node=4",
                             program=self.only_on("n3", "exec sleep 1000"))
        begin = time.monotonic()
        done = start(words)
        self.assertGreaterEqual(time.monotonic() - begin, PATIENCE)
        self.assertNotEqual(done.returncode, 0)
        self.assertEqual(self.environments("job"), {})
        return done

    def assert_step_and_host(self, done, starter):
        hosts = re.findall(rf"task \d of 4 on (n\d) is still gathering what the tasks offer through .* after {PATIENCE} s "
                           rf"\(--bootstrap_timeout\); .* or {starter} cannot connect its nodes", done.stderr)
        self.assertTrue(hosts and set(hosts) <= {"n1", "n2", "n4"} and len(set(hosts)) == len(hosts), done.stderr)

    def test_srun_ends_it_and_the_others_say_for_what_they_waited(self):
        done = self.run_without_n3(lambda words: self.srun("--kill-on-bad-exit=1", *SINGLE, *words))
        self.assert_step_and_host(done, "srun")

    def test_mpirun_ends_it_and_the_others_say_for_what_they_waited(self):
        done = self.run_without_n3(lambda words: self.openmpi(*words))
        self.assert_ended(done, 75)
        self.assert_step_and_host(done, "mpirun")

    def test_under_srun_without_pmix_the_missing_node_is_named(self):
        done = self.run_without_n3(lambda words: self.srun("--kill-on-bad-exit=1", "--mpi=none", *SINGLE, *words))
        self.assert_once(done, f"1 of 4 nodes did not come within {PATIENCE} s: n3. ")


if __name__ == "__main__":
    unittest.main()
