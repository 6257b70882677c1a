# SPDX-License-Identifier: Apache-2.0
"""Two faults at once."""

import copy
import threading

from campaign_faults import Fault, together
from campaign_processes import KillConsole, KillGuard, KillLauncher, KillTrainer, Pause, SignalLauncher


class Two(Fault):
    """Two of them, at once or one after the other."""
    OF = (KillTrainer, KillTrainer, KillLauncher, KillGuard, KillConsole, SignalLauncher, Pause)

    def __init__(self, chance):
        super().__init__(chance)
        self.both = [chance.choice(self.OF)(chance) for _ in range(2)]

    def happen(self, job):
        threads = [threading.Thread(target=one.happen, args=[job]) for one in self.both]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        for one in self.both:
            self.notes += one.notes

    def expect(self, job):
        expected = together(*(one.expect(job) for one in self.both))
        if job.restarts and any(isinstance(one, SignalLauncher) and one.victim for one in self.both):
            # What came just before the signal is the cause then, and no restart mends it.
            without = copy.copy(job)
            without.restarts = 0
            expected.statuses |= together(*(one.expect(without) for one in self.both)).statuses - {0}
            expected.aborted = None
        return expected

    def cease(self, job):
        for one in self.both:
            one.cease(job)
