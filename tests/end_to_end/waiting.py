# SPDX-License-Identifier: Apache-2.0
"""A test waits for a condition, with a deadline, and never for a time."""

import time

DEADLINE = 60.0  # for conditions that must come true: generous, since sanitizers and loaded machines are slow
MANY_SECONDS = 45.0  # far more than a loaded machine needs to end a job, far less than what it may be held up by


def wait_until(condition, what, seconds=DEADLINE):
    """The first true value of condition(); AssertionError after the deadline."""
    end = time.monotonic() + seconds
    pause = 0.001
    while True:
        value = condition()
        if value:
            return value
        if time.monotonic() > end:
            raise AssertionError(f"waited {seconds:.0f} s in vain: {what() if callable(what) else what}")
        time.sleep(pause)
        pause = min(pause * 1.5, 0.05)
