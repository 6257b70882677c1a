# SPDX-License-Identifier: Apache-2.0
"""What holds for every run of a campaign, whatever was done to it; and whether it ended as its fault allows."""

import re
import time

from campaign_faults import KILLED
from campaign_modes import GRACE, PATIENCE

from harness import describe

DEADLINE = PATIENCE + 60  # a job has ended by then; generous, since machines are loaded
LEFT = GRACE + 15  # what outlives the launchers is gone by then
# What srun, mpirun and mpiexec say when they cannot connect their own processes.
THEIR_TROUBLE = re.compile("HYDU_sock_connect|pmixp_dconn_|PMIX ERROR: UNREACHABLE")
FAILED_BY_SCHEDULER = "the scheduler could not connect its own processes"
BAD_WORDS = re.compile("terminate called|Sanitizer|runtime error:|pure virtual")


def wait_for_end(job, faults):
    """Problems: launchers that did not end in time. They are killed by whoever clears the ground."""
    end = time.monotonic() + DEADLINE
    while job.running() and time.monotonic() < end:
        time.sleep(0.01)
    hanging = [name for name, status in job.statuses().items() if status is None]
    if not hanging or failed_by_scheduler(job):
        return []
    return [f"did not end within {DEADLINE} s: {' '.join(hanging)}\n"
            + describe([pid for _, pid in job.ground.residents()])]


def failed_by_scheduler(job):
    """It could not even bring the launchers together: then its status, and whether it ends, is its own affair."""
    return job.is_front and not job.marked("begin") and any(THEIR_TROUBLE.search(job.told(name)) for name in job.runs)


def _left(job):
    """Of srun's and mpirun's own processes nobody is asked."""
    return [process.pid for process in job.processes()] if job.is_front else [pid for _, pid in job.ground.residents()]


def leftovers(job):
    end = time.monotonic() + LEFT
    while left := _left(job):
        if time.monotonic() > end:
            return [f"left after {LEFT} s:\n{describe(left)}"]
        time.sleep(0.02)
    return []


def problems(job, expected):
    if failed_by_scheduler(job):
        return [*_words(job)]
    return [*_statuses(job, expected), *_abort_lines(job, expected), *_words(job),
            *(_logs(job) if expected.has_logs else ())]


def _statuses(job, expected):
    found = job.statuses()
    for name, status in found.items():
        allowed = expected.own.get(name, expected.statuses)
        if job.joins_statuses and allowed != {0}:
            allowed = {one | two for one in allowed for two in allowed} | ({255, 9} if KILLED in allowed else set())
        if status is not None and status not in allowed:
            yield f"{name} ended with {status}, right would be {' or '.join(map(str, sorted(allowed)))}"
    others = {status for name, status in found.items() if name not in expected.own and status is not None}
    if len(others) > 1 and not expected.uneven:
        yield f"nodes ended differently: {found}"


def _abort_lines(job, expected):
    for name, status in job.statuses().items():
        if name in expected.own or status is None:
            continue
        named = job.aborted(name)
        if status == 0:
            if named and not job.restarts:
                yield f"{name} ended with 0 and names {sorted(named)}"
        elif expected.aborted is not None and not job.restarts and named not in expected.aborted:
            yield f"{name}: the ABORT line names {named and sorted(named)}, right would be {expected.aborted}"


def _words(job):
    for name in job.runs:
        found = BAD_WORDS.search(job.told(name))
        if found:
            yield f"{name} said {found[0]!r}"


def _logs(job):
    """Every process that began left its first line in its log."""
    texts = {}
    for path in job.folder.glob("log*/*log.*"):
        texts.setdefault(path.name, []).append(path.read_text(errors="replace"))
    for mark in job.marked("begin"):
        kind, place = mark.name.split(".")
        log = f"{kind}log.{place}"
        line = f"{mark.name} begins round"
        if not any(line in text for text in texts.get(log, [])):
            yield f"{log} has no line of {mark.name} in round {mark.round}"
