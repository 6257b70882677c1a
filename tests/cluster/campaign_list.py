# SPDX-License-Identifier: Apache-2.0
"""All faults of a campaign by name, and the modes in which each makes sense."""

import dataclasses
import typing

from campaign_etcd import Etcd
from campaign_faults import Fault
from campaign_links import BadLink, Cut, Strangers
from campaign_modes import MODES
from campaign_processes import (KillConsole, KillGuard, KillHelper, KillKeeper, KillLauncher, KillTrainer, Pause,
                                SignalLauncher, StandStill, TypedAgain)
from campaign_things import Clock, Disk, Limits, StuckDisk, UnreadConsole
from campaign_two import Two

TYPED = ("solo", "solo+r", "ips", "ips+r", "servers", "servers+r", "elastic")  # by a person on each node
SCHEDULED = tuple(mode for mode in MODES if mode not in TYPED)
SEVERAL = tuple(mode for mode in MODES if not mode.startswith("solo"))  # nodes


@dataclasses.dataclass(frozen=True)
class Kind:
    make: typing.Callable
    modes: tuple = tuple(MODES)


FAULTS = {
    "none": Kind(Fault),
    "kill-trainer": Kind(KillTrainer),
    "kill-launcher": Kind(KillLauncher),
    "typed-again": Kind(TypedAgain, ("ips+r", "servers+r")),
    "kill-guard": Kind(KillGuard),
    "kill-console": Kind(KillConsole),
    "signal-launcher": Kind(SignalLauncher),
    "pause": Kind(Pause),
    "stand-still": Kind(StandStill),
    "kill-helper": Kind(KillHelper, SCHEDULED),
    "kill-keeper": Kind(KillKeeper, ("elastic",)),
    "two-at-once": Kind(Two),
    "cut": Kind(Cut, SEVERAL),
    "bad-link": Kind(BadLink, SEVERAL),
    "strangers": Kind(Strangers),
    "disk": Kind(Disk),
    "stuck-disk": Kind(StuckDisk),
    "unread-console": Kind(UnreadConsole, TYPED),
    "clock": Kind(Clock, TYPED),  # not MUNGE's: its letters have a date
    "limits": Kind(Limits),
    "etcd": Kind(Etcd, ("elastic",)),
}


def pairs(modes, faults):
    """All (mode, fault) that make sense."""
    return [(mode, name) for mode in modes for name in faults if mode in FAULTS[name].modes]
