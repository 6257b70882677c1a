# SPDX-License-Identifier: Apache-2.0
"""What the benchmarks in Python have in common: subjects take turns, in a new random order each turn."""
import os
import random
import sys


class Failed(Exception):
    """A subject that did not do what it was to do; shown as failed, never as a number."""


def take_turns(subjects, repetitions, run, times=None, failures=None):
    """run(subject) gives a list of what was measured. {subject: what was measured}, {subject: what went wrong}."""
    times = times or {subject: [] for subject in subjects}
    failures = failures or {subject: [] for subject in subjects}
    for turn in range(repetitions):
        for subject in random.sample(subjects, len(subjects)):
            try:
                times[subject] += run(subject)
            except Failed as error:
                failures[subject].append(str(error))
                print(subject, error, file=sys.stderr)
        print(f"turn {turn + 1} of {repetitions}, load {os.getloadavg()[0]:.1f}", file=sys.stderr, flush=True)
    return times, failures


def in_short(failures):
    return f"{len(failures)}: {failures[0]}" if failures else "0"


def ms(seconds):
    return f"{seconds * 1000:.0f}"
