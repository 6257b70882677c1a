# SPDX-License-Identifier: Apache-2.0
"""Whoever is interrupted, killed or ends: no process of a spawned job stays."""

import os
import signal
import sys
import time
import unittest

from harness import Terminal
from program_case import ProgramCase

HOLD = """\
def hold():
    ready()
    time.sleep(60)
def deaf():
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    hold()
"""
JOINED = f"{HOLD}MAIN\npaddle_launch.spawn(hold, nprocs=2)\n"


class StoppingTest(ProgramCase):
    def test_an_interrupt_of_the_parent_alone_ends_the_job(self):
        run = self.start_program(JOINED)
        pids = self.wait_ranks(2)
        run.send(signal.SIGINT)
        self.assertIn(run.wait(), (130, -signal.SIGINT))
        self.assertEqual([pid for pid in pids if os.path.exists(f"/proc/{pid}")], [])
        self.assertTrue(run.err.rstrip().endswith("KeyboardInterrupt"), run.told())

    def test_ctrl_c_ends_the_job(self):
        self.write_program(JOINED)
        terminal = Terminal(self, ["program.py"], program=sys.executable)
        pids = self.wait_ranks(2)
        terminal.type(b"\x03")
        terminal.wait_screen(b"KeyboardInterrupt")
        self.assertEqual([pid for pid in pids if os.path.exists(f"/proc/{pid}")], [])

    def test_a_second_interrupt_does_not_wait_for_the_deaf(self):
        run = self.start_program(f"{HOLD}MAIN\npaddle_launch.spawn(deaf, nprocs=2, grace=600)\n")
        self.wait_ranks(2)
        for _ in range(3):
            run.send(signal.SIGINT)
            time.sleep(0.7)
        self.assertIn(run.wait(20), (130, -signal.SIGINT))

    def test_a_killed_parent_takes_its_job_along(self):
        self.leaves_files = True
        run = self.start_program(JOINED)
        pids = self.wait_ranks(2)
        run.send(signal.SIGKILL)
        run.wait()
        self.assert_gone(pids)
        self.assert_nothing_left()
        # What it could not remove itself goes with the next job, once it is older than a minute.
        left, = self.tmp.iterdir()
        self.assertEqual(left.stat().st_mode & 0o777, 0o700)
        for age, remain in ((0, True), (100, False)):
            os.utime(left, (time.time() - age,) * 2)
            self.run_program("def nothing(): pass\nMAIN\npaddle_launch.spawn(nothing, nprocs=1)\n")
            self.assertEqual(left.exists(), remain)

    def test_a_directory_in_use_is_never_removed(self):
        run = self.start_program(JOINED)
        self.wait_ranks(2)
        used, = self.tmp.iterdir()
        os.utime(used, (time.time() - 100,) * 2)
        self.run_program("def nothing(): pass\nMAIN\npaddle_launch.spawn(nothing, nprocs=1)\n")
        self.assertTrue(used.exists())
        run.send(signal.SIGINT)
        run.wait()

    def test_a_job_of_a_thread_outlives_the_thread(self):
        run = self.run_program(f"""\
{HOLD}
def work():
    ready()
    while not os.path.exists("go"):
        time.sleep(0.01)
contexts = []
def begin():
    contexts.append(paddle_launch.spawn(work, nprocs=2, join=False))
MAIN
thread = threading.Thread(target=begin)
thread.start()
thread.join()
wait_ready(2)
time.sleep(0.3)
open("go", "w")
print(contexts[0].join())
""")
        self.assertEqual(run.out, b"True\n")

    def test_several_jobs_run_at_once(self):
        run = self.run_program("""\
def work(word):
    time.sleep(0.2)
    return word + RANK
MAIN
contexts = [paddle_launch.spawn(work, (word,), nprocs=2, join=False) for word in "abc"]
print([queue.get() for context in contexts for queue in context.return_queues])
""")
        self.assertEqual(run.out, b"['a0', 'a1', 'b0', 'b1', 'c0', 'c1']\n")

    def test_stop_ends_all_processes(self):
        run = self.run_program(f"""\
{HOLD}MAIN
context = paddle_launch.spawn(hold, nprocs=2, join=False)
wait_ready(2)
context.stop()
print([process.exitcode for process in context.processes], [os.path.exists(f"/proc/{{process.pid}}")
      for process in context.processes])
try:
    context.join()
except paddle_launch.SpawnError as error:
    print(error)
""")
        self.assertEqual(run.out.decode().splitlines()[0], "[-15, -15] [False, False]")
        self.assertIn("the processes were stopped: ", run.out.decode())

    def test_a_program_waits_for_its_job_at_its_end(self):
        run = self.run_program("""\
def work():
    time.sleep(0.5)
    print("done", RANK, flush=True)
MAIN
paddle_launch.spawn(work, nprocs=2, join=False)
print("end")
""")
        self.assertEqual(sorted(run.out.decode().splitlines()), ["done 0", "done 1", "end"])

    def test_a_failure_after_the_end_is_told(self):
        run = self.run_program("""\
def work():
    time.sleep(0.3)
    raise ValueError("late")
MAIN
paddle_launch.spawn(work, nprocs=1, join=False)
""")
        self.assert_told(run, "ValueError: late")

    def test_a_daemons_job_ends_with_the_program(self):
        run = self.run_program(f"""\
{HOLD}MAIN
paddle_launch.spawn(hold, nprocs=2, join=False, daemon=True)
wait_ready(2)
""")
        self.assertEqual(run.out, b"")

    def test_another_exception_in_join_ends_the_job(self):
        run = self.run_program(f"""\
{HOLD}
def alarm(*_):
    raise TimeoutError("too late")
MAIN
signal.signal(signal.SIGALRM, alarm)
signal.setitimer(signal.ITIMER_REAL, 1)
try:
    paddle_launch.spawn(hold, nprocs=2)
except TimeoutError as error:
    print(error)
""")
        self.assertEqual(run.out, b"too late\n")

    def test_a_forked_process_does_not_wait_for_its_parents_job(self):
        run = self.run_program(f"""\
{HOLD}MAIN
context = paddle_launch.spawn(hold, nprocs=1, join=False)
wait_ready(1)
child = os.fork()
if child == 0:
    sys.exit(0)
print(os.waitpid(child, 0)[1])
context.stop()
""")
        self.assertEqual(run.out, b"0\n")


if __name__ == "__main__":
    unittest.main()
