# SPDX-License-Identifier: Apache-2.0
"""The private directory through which a parent and its spawned processes speak: the function and its arguments go
in, process numbers, tracebacks and results come out."""

import fcntl
import glob
import io
import os
import pickle
import shutil
import sys
import tempfile
import time
from multiprocessing import context, reduction, resource_sharer, resource_tracker, spawn

PREFIX = "paddle-launch-spawn-"
OLD = 60.0  # seconds; a younger directory may not be locked yet


class Directory:
    """Locked as long as its owner lives: what killed ones leave is found by that, and removed by the next."""

    def __init__(self):
        _remove_abandoned()
        self.path = tempfile.mkdtemp(prefix=PREFIX)
        self._lock = os.open(self.path, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        fcntl.flock(self._lock, fcntl.LOCK_SH)

    def file(self, name):
        return os.path.join(self.path, name)

    def read(self, name):
        """Its bytes, or None if there is no such file."""
        try:
            with open(self.file(name), "rb") as file:
                return file.read()
        except FileNotFoundError:
            return None

    def remove(self):
        shutil.rmtree(self.path, ignore_errors=True)
        if self._lock is not None:
            os.close(self._lock)
            self._lock = None


def _remove_abandoned():
    for path in glob.glob(os.path.join(glob.escape(tempfile.gettempdir()), PREFIX + "*")):
        try:
            found = os.lstat(path)
            if found.st_uid != os.getuid() or time.time() - found.st_mtime < OLD:
                continue
            lock = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)
        except OSError:
            continue
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            shutil.rmtree(path, ignore_errors=True)
        except OSError:
            pass  # its owner lives
        finally:
            os.close(lock)


class _Handover:
    """Stands where multiprocessing has its Popen while it pickles, so that its queues, pipes, locks and shared memory
    can be arguments. The launcher passes no descriptors on: children fetch them from this process."""

    DupFd = resource_sharer.DupFd

    def __init__(self):
        self.has_descriptors = False

    def duplicate_for_child(self, descriptor):
        self.has_descriptors = True
        return descriptor


def _pickled(func, args):
    """The bytes, and whether they serve one child only."""
    preparation = spawn.get_preparation_data("")
    handover = _Handover()
    stream = io.BytesIO()
    context.set_spawning_popen(handover)
    try:
        tracker = resource_tracker._resource_tracker._fd
        reduction.dump((preparation, None if tracker is None else reduction.DupFd(tracker)), stream)
        reduction.dump((func, args), stream)
    finally:
        context.set_spawning_popen(None)
    return stream.getvalue(), handover.has_descriptors


def check_can_be_found(func):
    """Children import the main program anew: they need a file of it, or its name."""
    main = sys.modules["__main__"]
    if getattr(func, "__module__", None) == "__main__" and not (
            getattr(main, "__file__", None) or getattr(main, "__spec__", None)):
        raise ValueError(f"spawn({func.__qualname__}): the function was typed, or lies in a notebook, where new "
                         "processes cannot find it; write it into a file, and import it from there")


def write_payload(directory, func, args, nprocs):
    check_can_be_found(func)
    for local_rank in range(nprocs):
        try:
            data, is_for_one = _pickled(func, args)
        except (AttributeError, TypeError, pickle.PicklingError) as error:
            name = getattr(func, "__qualname__", func)
            raise pickle.PicklingError(
                f"spawn({name}) cannot hand over the function or its arguments: {error}; use a function at the top "
                "level of a file, and arguments that pickle can write") from error
        with open(directory.file(f"payload.{local_rank}" if is_for_one else "payload"), "wb") as file:
            file.write(data)
        if not is_for_one:
            return
