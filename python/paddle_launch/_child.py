# SPDX-License-Identifier: Apache-2.0
"""One process of a spawned job: _child.py DIRECTORY direct|logged. Run as a file, so that it needs no package on a
path; the parent's sys.path comes with the payload."""

import os
import sys

if __name__ == "__main__":
    # Nothing of this folder may hide a module of the same name.
    sys.path = [entry for entry in sys.path if entry != os.path.dirname(os.path.abspath(__file__))]

import multiprocessing.process
import multiprocessing.resource_tracker
import multiprocessing.spawn
import pickle
import traceback


def load(directory, local_rank, rank):
    """The function and its arguments, in a process that looks like one of multiprocessing's method "spawn"."""
    own = os.path.join(directory, f"payload.{local_rank}")
    with open(own if os.path.exists(own) else os.path.join(directory, "payload"), "rb") as file:
        preparation, tracker = pickle.load(file)
        preparation["name"] = f"SpawnProcess-{int(rank) + 1}"
        current = multiprocessing.process.current_process()
        if tracker is not None:
            # The parent's: one of our own would remove shared memory at our end that others still use.
            current.authkey = preparation["authkey"]
            multiprocessing.resource_tracker._resource_tracker._fd = tracker.detach()
        current._inheriting = True  # a script without `if __name__ == "__main__"` is told so, instead of spawning again
        try:
            multiprocessing.spawn.prepare(preparation)
            return pickle.load(file)
        finally:
            del current._inheriting


def write(directory, name, data):
    """All of it or nothing: the parent may look at any time."""
    path = os.path.join(directory, name)
    with open(path + ".new", "wb") as file:
        file.write(data)
    os.rename(path + ".new", path)


def pickled(function, result):
    try:
        return pickle.dumps(result)
    except Exception as error:
        name = getattr(function, "__qualname__", function)
        raise TypeError(f"what {name} returned cannot be handed to the parent: {error}; return something that pickle "
                        "can write, or nothing") from error


def record(directory, rank, error, is_logged):
    # Without this file's own frame.
    text = "".join(traceback.format_exception(type(error), error, error.__traceback__.tb_next))
    try:
        write(directory, f"traceback.{rank}", text.encode("utf-8", "backslashreplace"))
    except OSError:
        is_logged = True  # the parent cannot show it
    if is_logged:
        sys.stderr.write(text)
    for stream in (sys.stdout, sys.stderr):
        if stream is not None:
            stream.flush()


def main(directory, output):
    for stream in (sys.stdout, sys.stderr):
        if stream is not None:
            stream.reconfigure(line_buffering=True)  # at once, and no line in the middle of another's
    rank, local_rank = os.environ["PADDLE_TRAINER_ID"], os.environ["PADDLE_LOCAL_RANK"]
    try:
        write(directory, f"process.{local_rank}", f"{os.getpid()} {rank}".encode())
        function, arguments = load(directory, local_rank, rank)
        write(directory, f"result.{local_rank}", pickled(function, function(*arguments)))
    except KeyboardInterrupt:
        pass  # as in Paddle: the parent was interrupted as well, and tells it
    except SystemExit:
        raise
    except BaseException as error:
        try:
            record(directory, rank, error, output == "logged")
        finally:
            # At once, as multiprocessing does: a neighbour that dies of connections which we close while we clear up
            # would look like the first cause.
            os._exit(1)


if __name__ == "__main__":
    main(*sys.argv[1:])
