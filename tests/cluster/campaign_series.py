# SPDX-License-Identifier: Apache-2.0
"""Many runs, several at once, and the table of what came of them."""

import collections
import multiprocessing
import os
import pathlib
import queue
import random
import shutil
import subprocess
import sys
import tempfile
import time

from campaign_check import FAILED_BY_SCHEDULER
from campaign_ground import SEEN_BY_ALL, Ground, shares
from campaign_list import FAULTS, pairs
from campaign_modes import MODES
from campaign_run import play

from harness import TRAINERS

COMMAND = os.path.relpath(pathlib.Path(__file__).with_name("campaign"))


def choose(modes, faults):
    """Lists of names as they were typed; all where nothing was."""
    chosen = []
    for words, known in ((modes, MODES), (faults, FAULTS)):
        names = words.split(",") if words else list(known)
        for name in names:
            if name not in known:
                sys.exit(f"campaign: {name!r}: there is {' '.join(known)}")
        chosen.append(names)
    return chosen


def keys(seed, count, modes, faults):
    """Every pair of mode and fault as often as every other, in an order of the seed's."""
    chance = random.Random(f"{seed}")
    made, deck = [], []
    for number in range(count):
        if not deck:
            deck = pairs(modes, faults)
            chance.shuffle(deck)
        mode, fault = deck.pop()
        made.append(f"{seed}-{number}:{mode}:{fault}")
    return made


class Series:
    def __init__(self, jobs, *, stop_at=0, seconds=0, tells_all=False):
        """Ends early after so many bad runs, or after so long."""
        self._jobs, self._stop_at, self._seconds, self._tells_all = jobs, stop_at, seconds, tells_all

    def run(self, all_keys):
        """The results, in the order in which the runs ended; bad ones are told at once."""
        base = pathlib.Path(tempfile.mkdtemp(prefix="campaign-tools-", dir=SEEN_BY_ALL))
        trainer = base / "marking"
        subprocess.run(["cc", "-O1", "-o", trainer, TRAINERS / "marking.c"], check=True)
        subprocess.run(["cc", "-shared", "-fPIC", "-o", base / "clock.so", TRAINERS / "clock.c"], check=True)
        todo, done = multiprocessing.Queue(), multiprocessing.Queue()
        todo.cancel_join_thread()  # what was not begun need not be
        for key in all_keys:
            todo.put(key)
        workers = [multiprocessing.Process(target=_work, args=(todo, done, str(trainer)), daemon=True)
                   for _ in range(self._jobs)]
        for worker in workers:
            todo.put(None)
            worker.start()
        try:
            return self._gather(done, len(all_keys), workers)
        finally:
            for worker in workers:
                worker.terminate()
                worker.join()
            shutil.rmtree(base, ignore_errors=True)

    def _gather(self, done, count, workers):
        results, bad, began = [], 0, time.monotonic()
        while len(results) < count and not (self._stop_at and bad >= self._stop_at):
            if self._seconds and time.monotonic() > began + self._seconds:
                break
            try:
                result = done.get(timeout=1)
            except queue.Empty:
                if not any(worker.is_alive() for worker in workers):
                    break  # somebody ended them
                continue
            results.append(result)
            bad += bool(result.problems)
            if result.problems or self._tells_all:
                tell(result)
            elif len(results) % 50 == 0:
                print(f"{len(results)} of {count} runs, {bad} bad, {time.monotonic() - began:.0f} s", flush=True)
        return results


def _work(todo, done, trainer):
    ground = Ground(shares())
    try:
        while (key := todo.get()) is not None:
            done.put(play(ground, key, trainer))
    finally:
        ground.down()


def tell(result):
    word = "BAD" if result.problems else "good"
    print(f"{word} {result.key} after {result.seconds:.1f} s: {'; '.join(result.notes)}", flush=True)
    if not result.problems:
        return
    for problem in result.problems:
        print("  " + problem.replace("\n", "\n    "))
    print(f"  folder {result.folder}\n  again: {COMMAND} --only {result.key}", flush=True)


def table(results):
    """Modes × faults: how many runs, and of them how many were bad."""
    runs, bad = collections.Counter(), collections.Counter()
    for result in results:
        _, mode, fault = result.key.split(":")
        for cell in ((mode, fault), (mode, "all"), ("all", fault), ("all", "all")):
            runs[cell] += 1
            bad[cell] += bool(result.problems)
    modes = [mode for mode in [*MODES, "all"] if runs[mode, "all"]]
    faults = [fault for fault in [*FAULTS, "all"] if runs["all", fault]]
    rows = [["fault", *modes]]
    for fault in faults:
        cells = [f"{runs[mode, fault]}" + (f" ({bad[mode, fault]} bad)" if bad[mode, fault] else "") for mode in modes]
        rows.append([fault, *(cell if cell != "0" else "-" for cell in cells)])
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    text = "\n".join("  ".join(cell.ljust(width) for cell, width in zip(row, widths)).rstrip() for row in rows)
    seconds = sum(result.seconds for result in results) / max(1, len(results))
    missed = sum("no " in note and "was there" in note for result in results for note in result.notes[:1])
    theirs = sum(FAILED_BY_SCHEDULER in result.notes for result in results)
    words = (f"{bad['all', 'all']} bad, {missed} found nobody to strike, {theirs} failed by srun or mpirun alone; "
             f"{seconds:.1f} s a run")
    return f"{text}\n{len(results)} runs, {words}"
