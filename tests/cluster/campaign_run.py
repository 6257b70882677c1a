# SPDX-License-Identifier: Apache-2.0
"""One run of a campaign: a job of some mode, a fault of some kind, and the verdict. Its key, SEED-NUMBER:MODE:FAULT, is
all that it depends on, but for what the machine does meanwhile."""

import contextlib
import dataclasses
import pathlib
import random
import shutil
import signal
import tempfile
import time
import traceback

import campaign_check
import campaign_modes
from campaign_ground import SEEN_BY_ALL
from campaign_job import Job
from campaign_list import FAULTS

LIVES = (0.0, 0.1, 0.4, 0.8, 0.8, 1.5, 1.5)  # seconds that a trainer works
HABITS = ("mortal", "mortal", "saves", "stubborn")


@dataclasses.dataclass
class Result:
    key: str
    seconds: float
    problems: list
    notes: list  # what was hit, and how the launchers ended
    folder: str = ""


def play(ground, key, trainer):
    """The folder is kept where something is wrong."""
    _, mode, kind = key.split(":")
    chance = random.Random(key)
    folder = pathlib.Path(tempfile.mkdtemp(prefix="campaign-", dir=SEEN_BY_ALL))
    began = time.monotonic()
    fault = FAULTS[kind].make(chance)
    try:
        found = _play(Job(ground, mode, folder, trainer), fault, chance)
    except Exception:  # of the campaign itself: a bad run like others, told in full
        found = [traceback.format_exc()]
    if found:
        ground.down()
        (folder / "problems").write_text("\n".join([key, *fault.notes, *found, ""]))
    else:
        shutil.rmtree(folder, ignore_errors=True)
    return Result(key, time.monotonic() - began, found, fault.notes, str(folder) if found else "")


def _play(job, fault, chance):
    job.life = chance.choice(LIVES)
    job.habit = chance.choice(HABITS)
    try:
        fault.prepare(job)
        campaign_modes.start(job, chance)
        fault.happen(job)
        found = campaign_check.wait_for_end(job, fault)
    finally:
        fault.cease(job)
        with contextlib.suppress(OSError):
            commands = [f"{name}: {' '.join(words)}" for name, words in job.commands.items()]
            (job.folder / "commands").write_text("\n".join(commands))
    found += campaign_check.leftovers(job)
    killed = job.ground.clear()
    for run in job.runs.values():
        run.wait(30)
    fault.note("ended with", *(f"{name} {status}" for name, status in job.statuses().items()))
    if campaign_check.failed_by_scheduler(job):
        fault.note(campaign_check.FAILED_BY_SCHEDULER)
    found += campaign_check.problems(job, fault.expect(job))
    # Nobody takes the keys away where every launcher was killed: they stay until their lease ends (--elastic_ttl).
    all_killed = set(job.statuses().values()) == {-signal.SIGKILL}
    leaves_keys = all_killed or fault.may_leave_keys(job)
    if job.mode == "elastic" and not leaves_keys:
        found += [f"left in etcd: {key}" for key in job.ground.keys_left(job.folder.name)]
    if killed or leaves_keys:  # the next run is to find what this one found
        job.ground.down()
    return found
