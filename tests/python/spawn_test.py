# SPDX-License-Identifier: Apache-2.0
"""spawn: what runs where, with which arguments, cards, variables, output and results."""

import unittest

from harness import free_port_run
from program_case import ProgramCase

CARDS = """\
def show(word="-"):
    print(RANK, os.environ["PADDLE_TRAINERS_NUM"], os.environ.get("FLAGS_selected_gpus"),
          os.environ["PADDLE_DISTRI_BACKEND"], word, flush=True)
"""


class SpawnTest(ProgramCase):
    def lines(self, body, **how):
        return sorted(self.run_program(body, **how).out.decode().splitlines())

    def cards(self, call, **variables):
        return self.lines(f"{CARDS}MAIN\npaddle_launch.spawn({call})\n",
                          env={"PADDLE_LAUNCH_ASSUME_GPUS": "1", **variables})

    def test_the_four_ways_of_paddles_document_work(self):
        visible = {"CUDA_VISIBLE_DEVICES": "4,5,6,7"}
        self.assertEqual(self.cards("show", **visible), [f"{rank} 4 {rank} nccl -" for rank in range(4)])
        self.assertEqual(self.cards("show, args=(True,)", **visible),
                         [f"{rank} 4 {rank} nccl True" for rank in range(4)])
        self.assertEqual(self.cards("show, args=(True,), nprocs=2", **visible), ["0 2 0 nccl True", "1 2 1 nccl True"])
        self.assertEqual(self.cards("show, nprocs=2, gpus='4,5'"), ["0 2 4 nccl -", "1 2 5 nccl -"])

    def test_named_cards_become_places_among_the_visible_ones(self):
        self.assertEqual(self.cards("show, nprocs=2, gpus='7, 5'", CUDA_VISIBLE_DEVICES="4,5,6,7"),
                         ["0 2 3 nccl -", "1 2 1 nccl -"])
        self.assertEqual(self.cards("show, gpus='4,5,6'"), [f"{rank} 3 {rank + 4} nccl -" for rank in range(3)])

    def test_custom_devices_are_named_by_devices(self):
        self.assertEqual(self.cards("show, nprocs=2", PADDLE_XCCL_BACKEND="custom_cpu", CUSTOM_CPU_VISIBLE_DEVICES="0,1"),
                         ["0 2 None xccl -", "1 2 None xccl -"])

    def test_processes_run_on_the_cpu_where_there_are_no_cards_or_gloo_is_asked_for(self):
        self.assertEqual(self.cards("show, nprocs=3"), [f"{rank} 3 None gloo -" for rank in range(3)])
        self.assertEqual(self.cards("show, nprocs=2, backend='gloo'", CUDA_VISIBLE_DEVICES="4,5"),
                         ["0 2 None gloo -", "1 2 None gloo -"])

    def test_without_a_number_there_is_one_process_for_each_cpu(self):
        self.assertEqual(self.lines(f"{CARDS}os.cpu_count = lambda: 3\nMAIN\npaddle_launch.spawn(show)\n"),
                         [f"{rank} 3 None gloo -" for rank in range(3)])

    def test_where_paddle_is_loaded_its_device_decides(self):
        self.write("paddle.py", "def get_device():\n    return 'cpu'\n")
        for call in ("show, nprocs=2", "show, nprocs=2, gpus='0,1'", "show, nprocs=2, gpus='4,5'"):
            body = f"{CARDS}import paddle\nMAIN\npaddle_launch.spawn({call})\n"
            self.assertEqual(self.lines(body, env={"PADDLE_LAUNCH_ASSUME_GPUS": "1", "CUDA_VISIBLE_DEVICES": "0,1"}),
                             ["0 2 None gloo -", "1 2 None gloo -"], call)

    def test_the_environment_is_a_trainers(self):
        run = self.run_program("""\
def show():
    names = ("PADDLE_TRAINER_ENDPOINTS", "PADDLE_CURRENT_ENDPOINT", "PADDLE_MASTER", "PADDLE_LOCAL_SIZE", "OWN")
    print(all(os.environ.get(name) for name in names), os.environ["no_proxy"])
MAIN
os.environ["OWN"] = "set by the program"
paddle_launch.spawn(show, nprocs=1)
""", env={"http_proxy": "http://127.0.0.1:1"})
        self.assertEqual(run.out, b"True 127.0.0.1\n")

    def test_output_comes_straight_and_in_order(self):
        run = self.run_program("""\
def speak():
    os.write(1, b"out\\n")
    os.write(2, b"err\\n")
MAIN
sys.stdout.write("before ")
paddle_launch.spawn(speak, nprocs=1)
print("after")
""")
        self.assertEqual((run.out, run.err), (b"before out\nafter\n", "err\n"))
        self.assertFalse((self.dir / "log").exists())

    def test_lines_stay_whole(self):
        run = self.run_program("""\
def speak():
    for number in range(200):
        print("from", RANK, number)
MAIN
paddle_launch.spawn(speak, nprocs=3)
""")
        self.assertEqual(sorted(run.out.decode().splitlines()),
                         sorted(f"from {rank} {number}" for rank in range(3) for number in range(200)))

    def test_there_are_logs_only_where_asked_for(self):
        run = self.run_program("""\
def speak():
    print("from", RANK)
MAIN
paddle_launch.spawn(speak, nprocs=2, log_dir="logs")
""")
        self.assertEqual(run.out, b"from 0\n")
        self.assertEqual(self.trainer_bytes(1, "logs"), b"from 1\n")

    def test_the_configuration_is_shown_where_asked_for(self):
        run = self.run_program("def nothing(): pass\nMAIN\npaddle_launch.spawn(nothing, nprocs=1, print_config=True)\n")
        self.assert_told(run, "-----------  Configuration Arguments -----------", "nproc_per_node: 1")

    def test_a_main_program_is_found_again_as_by_multiprocessing(self):
        (self.dir / "elsewhere").mkdir()
        self.write("helper.py", "word = 'helped'\n")
        body = """\
import multiprocessing
class Own:
    def __init__(self, value): self.value = value
def show(own, keyword):
    import helper
    print(own.value, keyword, helper.word, sys.argv[1:], os.path.basename(os.getcwd()), __name__,
          multiprocessing.current_process().name, type(own) is Own)
MAIN
os.chdir("elsewhere")
paddle_launch.spawn(show, [Own(7), "word"], nprocs=1)
"""
        expected = b"7 word helped ['--steps', '3'] elsewhere __mp_main__ SpawnProcess-1 True\n"
        self.assertEqual(self.run_program(body, "--steps", "3").out, expected)
        as_module = self.run_program(body, "--steps", "3", python=["-c", "import runpy, sys; sys.argv = sys.argv[1:]; "
                                                                   "sys.path.insert(0, ''); "
                                                                   "runpy.run_module('program', run_name='__main__', "
                                                                   "alter_sys=True)"])
        self.assertEqual(as_module.out, expected)

    def test_the_interpreters_flags_are_kept(self):
        run = self.run_program("""\
def show():
    print(sys.flags.optimize, sys.flags.utf8_mode)
MAIN
paddle_launch.spawn(show, nprocs=1)
""", python=["-O", "-X", "utf8"])
        self.assertEqual(run.out, b"1 1\n")

    def test_results_come_back_in_the_order_of_the_ranks(self):
        run = self.run_program("""\
class Result:
    def __init__(self, rank): self.rank = rank
def work(factor):
    time.sleep(0.1 * (2 - int(RANK)))
    return Result(int(RANK) * factor)
MAIN
context = paddle_launch.spawn(work, (10,), nprocs=3)
print([queue.get().rank for queue in context.return_queues], context.join(),
      [(process.rank, process.exitcode, process.is_alive()) for process in context.processes])
""")
        self.assertEqual(run.out, b"[0, 10, 20] True [(0, 0, False), (1, 0, False), (2, 0, False)]\n")

    def test_a_context_is_joined_when_it_suits(self):
        run = self.run_program("""\
def work():
    ready()
    while not os.path.exists("go"):
        time.sleep(0.01)
MAIN
context = paddle_launch.spawn(work, nprocs=2, join=False)
print(context.join(timeout=0.05))
wait_ready(2)
alive = [process.is_alive() for process in context.processes]
pids = sorted(process.pid for process in context.processes)
print(alive, pids == sorted(int(open(f"ready.{rank}").read()) for rank in range(2)))
open("go", "w")
print(context.join())
""")
        self.assertEqual(run.out, b"False\n[True, True] True\nTrue\n")

    def test_what_multiprocessing_shares_can_be_an_argument(self):
        run = self.run_program("""\
import multiprocessing
from multiprocessing import shared_memory
def work(queue, lock, counter, array, memory, pipe):
    with lock, counter.get_lock():
        counter.value += 1
        array[int(RANK)] = int(RANK) + 1
        time.sleep(0.3 * int(RANK))  # the first is gone before the second looks
        memory.buf[int(RANK)] = int(RANK) + 5
        shared_memory.SharedMemory(memory.name).close()
        queue.put(RANK)
        pipe.send(int(RANK))
MAIN
method = multiprocessing.get_context("spawn")
queue, lock, counter, array = method.Queue(), method.Lock(), method.Value("i", 0), method.Array("i", 2)
memory = shared_memory.SharedMemory(create=True, size=2)
receiver, sender = method.Pipe(duplex=False)
paddle_launch.spawn(work, (queue, lock, counter, array, memory, sender), nprocs=2)
print(sorted(queue.get() for _ in range(2)), counter.value, list(array), list(memory.buf[:2]),
      sorted(receiver.recv() for _ in range(2)))
memory.close()
memory.unlink()
""")
        self.assertEqual(run.out, b"['0', '1'] 2 [1, 2] [5, 6] [0, 1]\n")
        self.assertEqual(run.err, "")

    def test_two_programs_are_two_nodes_of_one_job(self):
        """Two programs, each of which is a node."""
        body = """\
def work(fails):
    print(RANK, os.environ["PADDLE_TRAINERS_NUM"])
    if fails:
        ready()
        wait_ready(2)
        if RANK == "1":
            raise ValueError("broken")
        time.sleep(60)
MAIN
try:
    paddle_launch.spawn(work, (sys.argv[2] == "fails",), nprocs=1, gpus="0", ips="127.0.0.1,127.0.0.2",
                        node_ip=sys.argv[1])
except paddle_launch.SpawnError as error:
    print(error)
"""
        for word in ("works", "fails"):
            variables = {"PADDLE_LAUNCH_ASSUME_GPUS": "1", "PADDLE_LAUNCH_PORT": str(free_port_run(10))}
            first, second = [self.start_program(body, node, word, env=variables) for node in ("127.0.0.1", "127.0.0.2")]
            for run in (first, second):
                run.wait()
                self.assert_status(run, 0)
            self.assertTrue(first.out.startswith(b"0 2\n"), first.told())
            self.assertTrue(second.out.startswith(b"1 2\n"), second.told())
            # The traceback is where the process ran.
            self.assertEqual(b"Process 1 terminated with exit code 1." in first.out, word == "fails", first.told())
            self.assertEqual(b"ValueError: broken" in second.out, word == "fails", second.told())

    def test_a_job_inside_a_job_is_one_of_its_own(self):
        run = self.run_program("""\
def inner():
    print("inner", RANK, flush=True)
def outer():
    paddle_launch.spawn(inner, nprocs=2)
MAIN
paddle_launch.spawn(outer, nprocs=2)
""")
        self.assertEqual(sorted(run.out.decode().splitlines()), ["inner 0", "inner 0", "inner 1", "inner 1"])


if __name__ == "__main__":
    unittest.main()
