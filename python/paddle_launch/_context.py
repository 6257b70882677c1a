# SPDX-License-Identifier: Apache-2.0
"""A spawned job, seen from its parent."""

import atexit
import json
import os
import pickle
import signal
import subprocess
import sys
import threading

from ._errors import SpawnError, failure_of

_running = set()


class SpawnedProcess:
    """One process of the job on this node. exitcode is None while the job runs, and -S when signal S ended it."""

    def __init__(self, job, local_rank):
        self._job = job
        self._local_rank = local_rank
        self._numbers = None
        self.exitcode = None

    def _look(self):
        if self._numbers is None:
            told = self._job.directory.read(f"process.{self._local_rank}")
            self._numbers = tuple(map(int, told.split())) if told else None
        return self._numbers or (None, None)

    @property
    def pid(self):
        """None before the process runs Python."""
        return self._look()[0]

    @property
    def rank(self):
        return self._look()[1]

    def is_alive(self):
        return self.exitcode is None


class ReturnQueue:
    """What the function returned in one process, under the name that Paddle has for it."""

    def __init__(self, job):
        self._job = job
        self.data = None

    def empty(self):
        return self.data is None

    def get(self):
        """Waits for the end of the job."""
        self._job.wait()
        if self.data is None:
            raise EOFError("this process ended without a result; join() of the job tells why")
        return pickle.loads(self.data)


class Job:
    """The launcher and the thread that started it. The kernel tells the launcher when that thread is gone, so it lives
    as long as the launcher does, whichever thread called spawn."""

    def __init__(self, command, directory, nprocs, daemon, stderr):
        self.directory = directory
        self.daemon = daemon
        self.processes = [SpawnedProcess(self, local_rank) for local_rank in range(nprocs)]
        self.return_queues = [ReturnQueue(self) for _ in range(nprocs)]
        self.failure = None
        self._owner = os.getpid()
        self._launcher = None
        self._problem = None
        self._lock = threading.Lock()
        self._started = threading.Event()
        self._ended = threading.Event()
        thread = threading.Thread(target=self._run, args=(command, stderr), name="paddle_launch job", daemon=True)
        _running.add(self)
        try:
            thread.start()
        except BaseException:  # no thread is left
            _running.discard(self)
            raise
        try:
            self._started.wait()
        except BaseException:  # an interrupt just now
            self._started.wait()
            if self._launcher:
                self.stop()
            raise
        if self._problem:
            raise self._problem

    def _run(self, command, stderr):
        """Whatever is raised here is for the caller: nobody may wait in vain."""
        try:
            self._launcher = subprocess.Popen(command, stdin=subprocess.DEVNULL, stderr=stderr)
        except BaseException as error:
            self._problem = error  # who called spawn removes the directory
        else:
            self._started.set()
            self._see_through()
        finally:
            _running.discard(self)
            self._ended.set()
            self._started.set()

    def _see_through(self):
        try:
            self._account_for(self._wait_for_launcher())
        except BaseException as error:
            self.failure = SpawnError(f"the job has ended, but its account cannot be read: {error!r}; look into its "
                                      "output, or run it again with log_dir")
            self.failure.__cause__ = error
            self._fill_exit_codes(None)
        self.directory.remove()

    def _wait_for_launcher(self):
        """Its exit status; None if somebody else has taken it."""
        try:
            # A zombie keeps its number, so that signal() cannot meet another process.
            os.waitid(os.P_PID, self._launcher.pid, os.WEXITED | os.WNOWAIT)
        except ChildProcessError:
            pass
        with self._lock:
            return self._launcher.wait()

    def _account_for(self, status):
        tracebacks = {}
        for local_rank, (process, queue) in enumerate(zip(self.processes, self.return_queues)):
            queue.data = self.directory.read(f"result.{local_rank}")
            text = self.directory.read(f"traceback.{process.rank}")
            if text is not None:
                tracebacks[process.rank] = text.decode()
        try:
            report = json.loads(self.directory.read("report") or b"null")
        except ValueError:
            report = None
        if report is None:
            words = (self.directory.read("launcher") or b"").decode(errors="replace").strip()
            text = f"the launcher ended with status {status} and left no report{words and ': '}{words}"
            self.failure = SpawnError(text, tracebacks=tracebacks)
        elif report["kind"] != "completed":
            self.failure = failure_of(report, tracebacks)
        self._fill_exit_codes(report)

    def _fill_exit_codes(self, report):
        """The report has those that failed. Of the others, whoever had returned before the end ended well."""
        ends = {one["rank"]: -one["signal_number"] or one["code"] for one in (report or {}).get("failures", [])}
        for process, queue in zip(self.processes, self.return_queues):
            ended_well = not self.failure or queue.data is not None
            process.exitcode = ends.get(process.rank, 0 if ended_well else -signal.SIGTERM)

    def wait(self, timeout=None):
        return self._ended.wait(timeout)

    def signal(self, number):
        with self._lock:
            if self._launcher.returncode is None:
                self._launcher.send_signal(number)

    def stop(self):
        """Returns when nothing of the job is left. Interrupts go to the launcher, which hurries after the second."""
        number = signal.SIGTERM
        while True:
            try:
                self.signal(number)
                self.wait()
                return
            except KeyboardInterrupt:
                number = signal.SIGINT

    def is_ours(self):
        """False in a process that was forked from the parent."""
        return self._owner == os.getpid()


class SpawnContext:
    """What spawn returns. processes and return_queues have one element for each process on this node."""

    def __init__(self, job):
        self._job = job
        self.processes = job.processes
        self.return_queues = job.return_queues

    def join(self, timeout=None):
        """True when all processes have ended well, False when the time is over before. SpawnError tells a failure."""
        try:
            ended = self._job.wait(timeout)
        except KeyboardInterrupt:
            self._job.stop()
            raise
        if ended and self._job.failure:
            raise self._job.failure
        return ended

    def stop(self):
        """Ends the job: SIGTERM, and after the grace SIGKILL. Returns when no process is left."""
        self._job.stop()


@atexit.register
def _at_exit():
    for job in [job for job in _running if job.is_ours()]:
        if job.daemon:
            job.stop()
            continue
        try:
            SpawnContext(job).join()
        except SpawnError as error:
            sys.stderr.write(f"{error}\n")
        except KeyboardInterrupt:
            pass  # it is stopped
