# SPDX-License-Identifier: Apache-2.0
"""All faults of a campaign by name, and the modes in which each makes sense."""

import dataclasses
import threading
import typing

from campaign_faults import (Fault, KillConsole, KillGuard, KillLauncher, KillTrainer, Pause, SignalLauncher,
                             together)
from campaign_modes import MODES


class Two(Fault):
    """Two of the faults that strike processes, at once or one after the other."""
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
        return together(*(one.expect(job) for one in self.both))

    def cease(self, job):
        for one in self.both:
            one.cease(job)


@dataclasses.dataclass(frozen=True)
class Kind:
    make: typing.Callable
    modes: tuple = tuple(MODES)


FAULTS = {
    "none": Kind(Fault),
    "kill-trainer": Kind(KillTrainer),
    "kill-launcher": Kind(KillLauncher),
    "kill-guard": Kind(KillGuard),
    "kill-console": Kind(KillConsole),
    "signal-launcher": Kind(SignalLauncher),
    "pause": Kind(Pause),
    "two-at-once": Kind(Two),
}


def pairs(modes, faults):
    """All (mode, fault) that make sense."""
    return [(mode, name) for mode in modes for name in faults if mode in FAULTS[name].modes]
