# SPDX-License-Identifier: Apache-2.0
"""How a spawned job failed, in Paddle's words."""

RULE = "-" * 46


class CardsError(RuntimeError, ValueError):
    """Cards that do not fit. Paddle raises RuntimeError or ValueError for it, depending on its version."""

    __module__ = "paddle_launch"


class SpawnError(Exception):
    """The first cause of a job's end. What does not apply is None.

    rank, exit_code, signal ("SIGKILL") and traceback (text) are those of the process that failed first; tracebacks has
    those of all processes here that raised something, by rank; report is the launcher's own account.
    """

    __module__ = "paddle_launch"  # where users find it

    def __init__(self, text, rank=None, exit_code=None, signal=None, traceback=None, tracebacks=None, report=None):
        super().__init__(text)
        self.rank = rank
        self.exit_code = exit_code
        self.signal = signal
        self.traceback = traceback
        self.tracebacks = tracebacks or {}
        self.report = report

    def __reduce__(self):
        return type(self), (str(self), self.rank, self.exit_code, self.signal, self.traceback, self.tracebacks,
                            self.report)


def failure_of(report, tracebacks):
    """The SpawnError for a report of a job that did not complete."""
    first = report.get("first")
    if report["kind"] != "worker_failed" or not first:
        return SpawnError(f"the processes were stopped: {report['text']}", tracebacks=tracebacks, report=report)
    rank, signal = first["rank"], first["signal"]
    traceback = tracebacks.get(rank)
    if traceback is not None:
        text = f"\n\n{RULE}\nProcess {rank} terminated with the following error:\n{RULE}\n\n{traceback}"
    elif signal:
        text = f"Process {rank} terminated with signal {signal}."
    else:
        text = f"Process {rank} terminated with exit code {first['code']}."
    for other in sorted(set(tracebacks) - {rank}):
        text += f"\n\nProcess {other} raised an error as well:\n\n{tracebacks[other]}"
    return SpawnError(text, rank, None if signal else first["code"], signal, traceback, tracebacks, report)
