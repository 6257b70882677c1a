# SPDX-License-Identifier: Apache-2.0
"""spawn(): a function in several processes, which the launcher starts, watches and ends."""

import os
import subprocess
import sys

from . import _options
from ._binary import find_binary
from ._context import Job, SpawnContext
from ._payload import Directory, write_payload

CHILD = os.path.join(os.path.dirname(os.path.abspath(__file__)), "_child.py")


def spawn(func, args=(), nprocs=-1, join=True, daemon=False, **options):
    """Calls func(*args) in nprocs processes, each with the environment of a launched trainer.

    nprocs=-1 means all visible cards, or as many processes as CPUs where there are none. With join the call returns
    when all have ended, else at once; both return a SpawnContext. A process that fails ends the others, and SpawnError
    tells the first cause. A program that ends without join waits for its processes, or with daemon stops them.

    Options of Paddle: gpus='4,5', xpus, ips, backend, print_config, start_method; and log_dir (files instead of the
    terminal) and grace (seconds between SIGTERM and SIGKILL).
    """
    if not callable(func):
        raise TypeError(f"func={func!r}: not a function; give the function itself, without parentheses")
    if not isinstance(args, (tuple, list)):
        raise TypeError(f"args={args!r}: not a tuple; write args=({args!r},)")
    _options.check_names(options)
    _options.check_start_method(options.get("start_method"))
    nprocs, arguments = _options.processes_and_arguments(_options.check_nprocs(nprocs), options)
    context = SpawnContext(_start(func, tuple(args), nprocs, daemon, arguments, options))
    if join:
        try:
            context.join()
        except BaseException:
            context.stop()  # nobody would hold it any more
            raise
    return context


def _start(func, args, nprocs, daemon, arguments, options):
    log_dir, is_talkative = options.get("log_dir"), options.get("print_config")
    directory = Directory()
    try:
        write_payload(directory, func, args, nprocs)
        command = [find_binary(), *arguments, f"--report={directory.file('report')}", "--stop_with_parent",
                   f"--log_dir={os.fspath(log_dir)}" if log_dir else "--console=direct",
                   *([] if is_talkative else ["--quiet"]),
                   _options.interpreter(), *subprocess._args_from_interpreter_flags(), CHILD, directory.path,
                   "logged" if log_dir else "direct"]
        for stream in (sys.stdout, sys.stderr):
            if stream:
                stream.flush()  # what was printed before comes before
        if not log_dir or is_talkative:
            return Job(command, directory, nprocs, daemon, stderr=None)
        # Its report of a failure shows the log's end, which the exception has already.
        with open(directory.file("launcher"), "wb") as words:
            return Job(command, directory, nprocs, daemon, stderr=words)
    except BaseException:
        directory.remove()
        raise
