# SPDX-License-Identifier: Apache-2.0
"""How a spawned job fails: the first cause is raised in the parent, in Paddle's words, and nothing is left."""

import unittest

from program_case import ProgramCase

SHOW = """\
def show(*args, **options):
    began = time.monotonic()
    try:
        paddle_launch.spawn(*args, **options)
    except paddle_launch.SpawnError as error:
        print(repr([error.rank, error.exit_code, error.signal, str(error)]))
        print(time.monotonic() - began < 20)
"""


class FailureTest(ProgramCase):
    def failure(self, body, call="work, nprocs=2", **how):
        """[rank, exit code, signal, text] of the error, and the run."""
        run = self.run_program(f"{SHOW}{body}MAIN\nshow({call})\n", **how)
        shown, soon = run.out.decode().splitlines()
        self.assertEqual(soon, "True", run.told())
        return eval(shown), run

    def test_an_exception_is_raised_in_the_parent_with_its_traceback(self):
        (rank, code, signal, text), run = self.failure("""\
def work():
    if RANK == "1":
        raise ValueError("broken sample \\u00e9 \\udc80")
    time.sleep(60)
""")
        self.assertEqual((rank, code, signal), (1, 1, None))
        rule = "-" * 46
        self.assertTrue(text.startswith(f"\n\n{rule}\nProcess 1 terminated with the following error:\n{rule}\n\n"
                                        "Traceback (most recent call last):\n"), text)
        self.assertIn(', in work\n    raise ValueError("broken sample', text)
        self.assertTrue(text.endswith("ValueError: broken sample \u00e9 \\udc80\n"), text)
        self.assertNotIn("_child.py", text)
        self.assertNotIn("Traceback", run.err)

    def test_a_failed_process_does_not_tarry(self):
        (rank, _, _, _), _ = self.failure("""\
def work():
    ready()
    wait_ready(2)
    if RANK == "1":
        threading.Thread(target=time.sleep, args=(60,)).start()
        raise ValueError("broken")
    time.sleep(60)
""")
        self.assertEqual(rank, 1)

    def test_an_exit_code_is_told(self):
        told, _ = self.failure("def work():\n    sys.exit(7) if RANK == '1' else time.sleep(60)\n")
        self.assertEqual(told, [1, 7, None, "Process 1 terminated with exit code 7."])

    def test_the_words_of_an_exit_stay_on_stderr(self):
        told, run = self.failure("def work():\n    sys.exit('no data') if RANK == '1' else time.sleep(60)\n")
        self.assertEqual(told, [1, 1, None, "Process 1 terminated with exit code 1."])
        self.assert_told(run, "no data\n")

    def test_an_empty_exit_and_an_interrupt_are_no_failures(self):
        run = self.run_program("""\
def work():
    if RANK == "0":
        raise KeyboardInterrupt
    sys.exit()
MAIN
print(paddle_launch.spawn(work, nprocs=2).join())
""")
        self.assertEqual(run.out, b"True\n")

    def test_a_signal_is_told_by_its_name(self):
        told, _ = self.failure("def work():\n    signal.raise_signal(9) if RANK == '1' else time.sleep(60)\n")
        self.assertEqual(told, [1, None, "SIGKILL", "Process 1 terminated with signal SIGKILL."])

    def test_the_first_of_two_is_told(self):
        told, _ = self.failure("""\
def work():
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(9))
    ready()
    if RANK == "1":
        wait_ready(2)
        sys.exit(3)
    time.sleep(60)
""")
        self.assertEqual(told[:3], [1, 3, None])

    def test_a_traceback_is_in_the_log_as_well(self):
        (_, _, _, text), run = self.failure("""\
def work():
    if RANK == "1":
        raise ValueError("broken")
    time.sleep(60)
""", "work, nprocs=2, log_dir='logs'")
        self.assertIn("ValueError: broken", text)
        self.assertIn(b"ValueError: broken", self.log(1, "logs"))
        self.assertEqual(run.err, "")

    def test_a_base_exception_is_raised_as_well(self):
        (rank, _, _, text), _ = self.failure("def work():\n    raise GeneratorExit('odd')\n", "work, nprocs=1")
        self.assertEqual(rank, 0)
        self.assertIn("GeneratorExit: odd", text)

    def test_a_result_that_cannot_be_handed_over_is_a_failure(self):
        (_, code, _, text), _ = self.failure("def work():\n    return lambda: 1\n", "work, nprocs=1")
        self.assertEqual(code, 1)
        self.assertIn("TypeError: what work returned cannot be handed to the parent: ", text)

    def test_a_function_that_cannot_be_handed_over_is_refused(self):
        run = self.run_program("MAIN\npaddle_launch.spawn(lambda: 1, nprocs=1)\n", status=1)
        self.assert_told(run, "cannot hand over the function or its arguments",
                         "use a function at the top level of a file")

    def test_a_function_that_was_typed_is_refused(self):
        text = "import paddle_launch\ndef work(): pass\npaddle_launch.spawn(work, nprocs=1)"
        run = self.run_program("", python=["-c", text], status=1)
        self.assert_told(run, "spawn(work): the function was typed")

    def test_a_script_that_spawns_when_it_is_imported_is_told_so(self):
        run = self.run_program("def work(): pass\npaddle_launch.spawn(work, nprocs=1)\nMAIN\npass\n", status=1)
        self.assert_told(run, "Process 0 terminated with the following error:",
                         "An attempt has been made to start a new process before the",
                         "current process has finished its bootstrapping phase.")

    def test_a_script_that_fails_when_it_is_imported_is_a_failure(self):
        (_, code, _, text), _ = self.failure("def work(): pass\nif RANK: raise OSError('only at home')\n",
                                             "work, nprocs=1")
        self.assertEqual(code, 1)
        self.assertIn("OSError: only at home", text)

    def test_all_tracebacks_are_kept(self):
        run = self.run_program("""\
def work():
    try:
        ready()
        wait_ready(2)
        time.sleep(60 if RANK == "0" else 0)
    finally:
        raise ValueError(f"of {RANK}")
def stop(*_):
    raise OSError("stopped")
if RANK: signal.signal(signal.SIGTERM, stop)
MAIN
try:
    paddle_launch.spawn(work, nprocs=2)
except paddle_launch.SpawnError as error:
    print(error.rank, sorted(error.tracebacks), "ValueError: of 0" in error.tracebacks[0])
    print(error)
""")
        self.assertTrue(run.out.startswith(b"1 [0, 1] True\n"), run.told())
        self.assertIn(b"\n\nProcess 0 raised an error as well:\n\nTraceback", run.out)

    def test_a_killed_launcher_is_told_as_such(self):
        told, _ = self.failure("""\
def work():
    ready()
    guard = os.getppid()
    launcher = int(open(f"/proc/{guard}/stat").read().rpartition(")")[2].split()[1])
    os.kill(launcher, 9)
    time.sleep(60)
""", "work, nprocs=1")
        self.assertEqual(told[:3], [None] * 3)
        self.assertIn("the launcher ended with status -9 and left no report", told[3])

    def test_a_failure_is_raised_in_join(self):
        run = self.run_program("""\
def work(): sys.exit(4)
MAIN
context = paddle_launch.spawn(work, nprocs=1, join=False)
for _ in range(2):
    try:
        context.join()
    except Exception as error:
        print(error)
print(context.processes[0].exitcode, context.return_queues[0].empty())
try:
    context.return_queues[0].get()
except EOFError as error:
    print(error)
""")
        line = "Process 0 terminated with exit code 4.\n"
        self.assertEqual(run.out.decode(), f"{line}{line}4 True\n"
                         "this process ended without a result; join() of the job tells why\n")

    def test_whatever_keeps_the_launcher_from_starting_is_raised(self):
        run = self.run_program("""\
def work(): pass
MAIN
try:
    paddle_launch.spawn(work, nprocs=1, log_dir="a\\0b")
except ValueError as error:
    print("told:", error)
""")
        self.assertEqual(run.out, b"told: embedded null byte\n")

    def test_an_account_that_cannot_be_read_is_a_failure_and_keeps_nobody_waiting(self):
        run = self.run_program("""\
import glob
def work():
    # What the launcher writes at its end is for another reader.
    [folder] = glob.glob(os.path.join(os.environ["TMPDIR"], "paddle-launch-spawn-*"))
    os.mkdir(os.path.join(folder, f"traceback.{RANK}"))
MAIN
context = paddle_launch.spawn(work, nprocs=2, join=False)
try:
    context.join(60)
except paddle_launch.SpawnError as error:
    print(error)
print([process.is_alive() for process in context.processes])
""")
        self.assertIn(b"the job has ended, but its account cannot be read: IsADirectoryError", run.out)
        self.assertTrue(run.out.endswith(b"[False, False]\n"), run.told())

    def test_a_process_that_had_returned_ended_well(self):
        run = self.run_program("""\
def work():
    if RANK == "0":
        return "done"
    if RANK == "1":
        [guard] = {os.getppid()}
        while sum(is_sibling(pid, guard) for pid in os.listdir("/proc") if pid.isdigit()) > 2:
            time.sleep(0.01)
        sys.exit(3)
    time.sleep(60)
def is_sibling(pid, guard):
    try:
        return int(open(f"/proc/{pid}/stat").read().rpartition(")")[2].split()[1]) == guard
    except OSError:
        return False
MAIN
context = paddle_launch.spawn(work, nprocs=3, join=False)
try:
    context.join()
except paddle_launch.SpawnError as error:
    print(error)
print([process.exitcode for process in context.processes], context.return_queues[0].get())
""")
        self.assertEqual(run.out, b"Process 1 terminated with exit code 3.\n[0, 3, -15] done\n")

    def test_the_error_can_be_handed_on(self):
        run = self.run_program("""\
import pickle
def work(): sys.exit(4)
MAIN
try:
    paddle_launch.spawn(work, nprocs=1)
except paddle_launch.SpawnError as error:
    again = pickle.loads(pickle.dumps(error))
    print(again, again.rank, again.exit_code, again.report["kind"])
""")
        self.assertEqual(run.out, b"Process 0 terminated with exit code 4. 0 4 worker_failed\n")


if __name__ == "__main__":
    unittest.main()
