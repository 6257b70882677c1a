# SPDX-License-Identifier: Apache-2.0
"""Jobs of a sweep share their nodes and differ in their arguments; sweeps.py tries it more often."""

import unittest

from harness import LauncherCase, binary, free_port_run
from sweeps import sweeps


class SweepTest(LauncherCase):
    def test_two_jobs_whose_nodes_come_in_any_order_do_not_mix(self):
        self.assertEqual(sweeps(binary(), free_port_run(60), times=6, within=6, at_once=6), {"apart": 6})


if __name__ == "__main__":
    unittest.main()
