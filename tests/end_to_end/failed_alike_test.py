# SPDX-License-Identifier: Apache-2.0
"""Who failed and who was only stopped, told the same way every time: all ranks with one error, two that end in one
moment, one that takes three neighbours with it. PADDLE_LAUNCH_TEST_REPEATS says how often each is tried; without it ten times,
or as often as half a minute allows."""

import os
import re
import shutil
import sys
import time
import unittest

from harness import DEADLINE, MANY_SECONDS, LauncherCase

WISH = os.environ.get("PADDLE_LAUNCH_TEST_REPEATS")
REPEATS = int(WISH or "10")


def again_and_again():
    end = time.monotonic() + 30
    for number in range(REPEATS):
        if WISH or number < 2 or time.monotonic() < end:
            yield number


# What the trainers of these tests share: wait() for files of others, done() to say something to them.
SHARED = """
import atexit, os, pathlib, signal, sys, time
rank, round = os.environ["PADDLE_TRAINER_ID"], os.environ["PADDLE_LAUNCH_ROUND"]

def done(what):
    pathlib.Path(f"{what}.{round}.{rank}").touch()

def wait(what, *ranks):
    while not all(os.path.exists(f"{what}.{round}.{other}") for other in ranks):
        time.sleep(0.001)

def is_dying(pid):  # PF_EXITING: the kernel takes it apart
    try:
        with open(f"/proc/{pid}/stat") as stat:
            text = stat.read()
    except OSError:
        return True
    return int(text[text.rindex(")"):].split()[7]) & 4 != 0
"""

# A CUDA context takes longer to end than all ranks to tell of their errors: here they wait for each other.
OUT_OF_MEMORY = SHARED + """
def linger():  # runs after the traceback was written
    done("said")
    wait("said", *"0123")

def forward():
    raise RuntimeError("CUDA out of memory. Tried to allocate 2.00 GiB")

atexit.register(linger)
forward()
"""

# Rank 2 ends when the kernel has begun to take rank 3 apart, which has more memory to give back.
ONE_MOMENT = SHARED + """
if sys.argv[1:] == ["catch"]:
    signal.signal(signal.SIGTERM, lambda *_: os._exit(1))
if rank == "3":
    ballast = b"x" * 300_000_000
    pathlib.Path("pid.tmp").write_text(str(os.getpid()))
    os.rename("pid.tmp", "pid")
    wait("ready", *"012")
    os._exit(1)
done("ready")
if rank == "2":
    while not os.path.exists("pid"):
        time.sleep(0.001)
    pid = pathlib.Path("pid").read_text()
    while not is_dying(pid):
        pass
    os._exit(1)
time.sleep(1000)
"""

# Rank 1 fails and takes three neighbours with it, who say so, each as quickly as it can.
THREE_VICTIMS = SHARED + """
import socket
address = f"\\0{os.getcwd()} {round}"
with socket.socket(socket.AF_UNIX) as one:
    if rank == "1":
        one.bind(address)
        one.listen()
        done("listens")
        lines = [one.accept()[0] for _ in range(3)]
        for line in lines:
            line.sendall(b"x")
        raise ValueError("the loss is not a number")
    wait("listens", "1")
    one.connect(address)
    one.recv(1)
    if one.recv(1) == b"":
        raise ConnectionError("the neighbour is gone")
"""

# Rank 1 ends with code 7 when rank 0 is where the test wants it.
STOPPED = SHARED + """
if rank == "1":
    wait("ready", "0")
    os._exit(7)
"""


class FailedAlikeTest(LauncherCase):
    def train(self, world, script, *args, options=(), seconds=MANY_SECONDS):
        """One run, in a folder without traces of the one before."""
        shutil.rmtree(self.dir)
        self.dir.mkdir()
        self.write("train.py", script)
        return self.run_launcher(f"--nproc_per_node={world}", *options, sys.executable, "-IS", "train.py", *args,
                                 seconds=seconds)

    def stopped_because(self, rank):
        return b"was stopped because" in self.log(rank)

    def test_all_ranks_with_the_same_error_have_failed(self):
        for _ in again_and_again():
            run = self.train(4, OUT_OF_MEMORY)
            self.assert_status(run, 1)
            self.assert_abort_line(run, 4, [0, 1, 2, 3])
            self.assertNotRegex(run.err, r"(?m)^  (also|stopped|probably) ", run.told())
            first = int(re.search(r"(?m)^  rank +(\d)", run.err)[1])
            others = {0: "1-3", 1: "0,2-3", 2: "0-1,3", 3: "0-2"}[first]
            self.assert_told(run, f"\n  same      rank {others} have the same error\n")
            self.assertFalse(any(map(self.stopped_because, range(4))), run.told())

    def test_two_that_end_in_one_moment_are_both_named(self):
        for options in ((), ("--console=direct",)):
            for catch in ((), ("catch",)):
                with self.subTest(options=options, catch=catch):
                    for _ in again_and_again():
                        run = self.train(4, ONE_MOMENT, *catch, options=options)
                        self.assert_status(run, 1)
                        self.assert_abort_line(run, 4, [2, 3])
                        self.assert_told(run, "\n  stopped   because of it: rank 0-1\n")

    def test_one_failure_with_three_victims_is_told_the_same_in_every_round(self):
        run = self.train(4, THREE_VICTIMS, options=(f"--max_restart={REPEATS - 1}", "--restart_pause=0"),
                         seconds=DEADLINE + 10 * REPEATS)
        self.assert_status(run, 1)
        self.assertEqual(re.findall(r"rank=\[(.*)\]", run.err), ["1"] * REPEATS, run.told())
        self.assertEqual(re.findall(r"(?m)^  stopped +(.*)", run.err), ["because of it: rank 0,2-3"] * REPEATS)
        self.assertNotRegex(run.err, r"(?m)^  (also|same|probably) ")

    def test_who_answers_sigterm_with_an_exit_code_or_an_exception_was_stopped(self):
        exits = "signal.signal(signal.SIGTERM, lambda *_: os._exit(1))\n"
        raises = "signal.signal(signal.SIGTERM, lambda *_: 1 / 0)\n"
        for answer in (exits, raises):
            for options in ((), ("--console=direct",)):
                with self.subTest(answer=answer, options=options):
                    run = self.train(2, STOPPED + answer + "done('ready')\ntime.sleep(1000)\n", options=options)
                    self.assert_status(run, 7)
                    self.assert_abort_line(run, 2, [1])
                    self.assert_told(run, "\n  stopped   because of it: rank 0\n")

    def test_an_error_from_before_the_stop_is_a_failure_whatever_signal_ends_it(self):
        linger = "def linger():\n    done('ready')\n    time.sleep(1000)\natexit.register(linger)\n"
        # As Paddle does: words of its own on SIGTERM, then the signal's death.
        tells = ("def tell(*_):\n    os.write(2, b'FatalError: `Termination signal` is detected\\n')\n"
                 "    signal.signal(signal.SIGTERM, signal.SIG_DFL)\n    os.kill(os.getpid(), signal.SIGTERM)\n"
                 "signal.signal(signal.SIGTERM, tell)\n")
        for before in ("", tells):
            with self.subTest(before=before):
                run = self.train(3, STOPPED + before + "if rank == '2':\n    time.sleep(1000)\n" + linger
                                 + "raise MemoryError('no room for the batch')\n")
                self.assert_status(run, 7)
                self.assert_abort_line(run, 3, [0, 1])
                self.assert_told(run, "\n  also      rank 0: an error of its own, before it was stopped; log ",
                                 "\n  stopped   because of it: rank 2\n")
                self.assertEqual([self.stopped_because(rank) for rank in range(3)], [False, False, True])

    def test_an_error_that_was_caught_is_none(self):
        steps = "for step in range({}):\n    print('step', step, flush=True)\n"
        caught = "import traceback\ntry:\n    [][0]\nexcept IndexError:\n    traceback.print_exc()\n"
        run = self.train(2, STOPPED + steps.format(3) + caught + steps.format(9) + "done('ready')\ntime.sleep(1000)\n")
        self.assert_status(run, 7)
        self.assert_abort_line(run, 2, [1])
        self.assert_told(run, "\n  stopped   because of it: rank 0\n")

    def test_who_only_complains_after_another_has_told_of_an_error_was_stopped(self):
        """The verdict complained, and nobody was dead within a second; yet a rank had said why."""
        run = self.train(4, SHARED + """
if rank == "2":
    atexit.register(lambda: (done("ready"), time.sleep(1000)))
    raise ValueError("broken sample")
wait("ready", "2")
if rank == "3":
    time.sleep(1000)
raise ConnectionError("the neighbour is gone")
""")
        self.assert_status(run, 1)
        first = re.search(r"(?m)^  rank +(\d)", run.err)[1]
        self.assertIn(first, "01", run.told())
        self.assert_abort_line(run, 4, [int(first), 2])
        self.assert_told(run, f"\n  stopped   because of it: rank {1 - int(first)},3\n",
                         "\n  probably  rank 2 began it, with an error of its own; log ")


if __name__ == "__main__":
    unittest.main()
