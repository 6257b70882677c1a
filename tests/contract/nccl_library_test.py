# SPDX-License-Identifier: Apache-2.0
"""libpaddle_launch_nccl.so as a trainer uses it: from Python, with a made-up environment and a made-up NCCL. Each case
is a process of its own, as the library remembers what it did."""
import os
import subprocess
import sys
import tempfile
import unittest

LIBRARY = os.environ["PADDLE_LAUNCH_NCCL_LIBRARY"]
FAKE = os.environ["FAKE_NCCL_LIBRARY"]
EXAMPLE = os.environ.get("NCCL_EXAMPLE", "")
SOURCE = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))

FIRST, SECOND = bytes(range(128)), bytes(reversed(range(128)))
ONE = {"PADDLE_LAUNCH_NCCL_ID": FIRST.hex(), "PADDLE_LAUNCH_NCCL_VERSION": "22809", "PADDLE_TRAINER_ID": "1",
       "PADDLE_TRAINERS_NUM": "2", "PADDLE_LAUNCH_NCCL_LIB": FAKE}
TWO = {**ONE, "PADDLE_LAUNCH_NCCL_ID": f"{FIRST.hex()},{SECOND.hex()}"}

TRAINER = """
import ctypes, sys, time
ours = ctypes.CDLL(sys.argv[1])
ours.paddle_launch_nccl_last_error.restype = ctypes.c_char_p
def error(): return ours.paddle_launch_nccl_last_error().decode()
def init(deadline_ms):
    communicator = ctypes.c_void_p()
    return ours.paddle_launch_nccl_init(ctypes.byref(communicator), deadline_ms), communicator.value
"""


def trainer(code, env, expect=0):
    clean = {name: value for name, value in os.environ.items() if not name.startswith(("PADDLE_", "NCCL_"))}
    done = subprocess.run([sys.executable, "-c", TRAINER + code, LIBRARY], env={**clean, **env}, timeout=60,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    if done.returncode != expect:
        raise AssertionError(f"ended with {done.returncode}: {done.stdout}")
    return done.stdout.strip()


class HandOver(unittest.TestCase):
    def test_ids_come_out_byte_by_byte(self):
        said = trainer("print(ours.paddle_launch_nccl_id_count(), ours.paddle_launch_nccl_version())\n"
                       "id = ctypes.create_string_buffer(128)\n"
                       "for i in range(3): print(ours.paddle_launch_nccl_id(i, id), id.raw.hex())\n"
                       "print(error())", TWO)
        self.assertEqual(said.splitlines(), ["2 22809", f"0 {FIRST.hex()}", f"0 {SECOND.hex()}", f"-1 {SECOND.hex()}",
                                             "there is no id 2; ask for one from 0 to 1"])

    def test_without_the_launcher_there_are_none(self):
        said = trainer("print(ours.paddle_launch_nccl_id_count(), error())", {})
        self.assertRegex(said, "^-1 PADDLE_LAUNCH_NCCL_ID is not set.*ncclGetUniqueId$")

    def test_what_is_no_id_is_refused(self):
        for value, why in ((FIRST.hex()[:-1], "has 255 characters"), ("xy" * 128, "not hex"),
                           (FIRST.hex() + ",", "has 257 characters")):
            said = trainer("print(ours.paddle_launch_nccl_id(0, ctypes.create_string_buffer(128)), error())",
                           {"PADDLE_LAUNCH_NCCL_ID": value})
            self.assertRegex(said, f"^-1 .*{why}")


class Version(unittest.TestCase):
    CHECK = ("why = ctypes.create_string_buffer(300)\n"
             "print(ours.paddle_launch_nccl_check_version(why, ctypes.c_size_t(300)), why.value.decode())")

    def test_the_same_is_good(self):
        self.assertEqual(trainer(self.CHECK, ONE), "0")

    def test_another_is_told_with_both_numbers(self):
        said = trainer(self.CHECK, {**ONE, "FAKE_NCCL_VERSION": "22304"})
        self.assertRegex(said, "^1 .*with NCCL 22809, this process has 22304.*--nccl_lib$")

    def test_no_library_cannot_be_told(self):
        said = trainer(self.CHECK, {**ONE, "PADDLE_LAUNCH_NCCL_LIB": "/nowhere/libnccl.so.2"})
        self.assertRegex(said, "^-1 libnccl.so.2 cannot be loaded .*/nowhere")

    def test_the_library_that_is_already_there_is_used(self):
        with tempfile.TemporaryDirectory() as place:
            os.symlink(FAKE, os.path.join(place, "libnccl.so.2"))
            loaded = f"ctypes.CDLL({place + '/libnccl.so.2'!r})\n" + self.CHECK
            self.assertEqual(trainer(loaded, {**ONE, "PADDLE_LAUNCH_NCCL_LIB": "/nowhere/libnccl.so.2"}), "0")


class Init(unittest.TestCase):
    def setUp(self):
        if "built without nccl.h" in trainer("print(init(10), error())", ONE):
            self.skipTest("the library was built without nccl.h, so it opens no communicator")

    def test_a_communicator_comes_up_with_one_id_and_with_several(self):
        for env in (ONE, TWO):
            self.assertRegex(trainer("print(init(5000))", env), r"^\(0, \d+\)$")

    def test_an_id_serves_once(self):
        said = trainer("init(5000)\nprint(init(5000), error())", ONE)
        self.assertRegex(said, r"^\(-1, None\) .*an id serves one communicator, once")

    def test_at_the_deadline_it_is_aborted_and_says_what_to_look_for(self):
        with tempfile.TemporaryDirectory() as place:
            aborted = os.path.join(place, "aborted")
            said = trainer("begin = time.monotonic()\nprint(init(200), error())\n"
                           "assert 0.2 <= time.monotonic() - begin < 10",
                           {**ONE, "FAKE_NCCL": "slow", "FAKE_NCCL_ABORTED": aborted})
            self.assertTrue(os.path.exists(aborted))
        self.assertRegex(said, r"^\(-1, None\) rank 1 of 2: NCCL was not up after 200 ms; look for")

    def test_an_error_comes_with_nccls_words(self):
        said = trainer("print(init(5000), error())", {**ONE, "FAKE_NCCL": "lost"})
        self.assertRegex(said, "rank 1 of 2: NCCL did not come up: remote process exited: fake: no interface found")

    def test_without_the_launcher_it_names_what_is_missing(self):
        self.assertIn("PADDLE_TRAINERS_NUM is not set", trainer("print(init(10), error())", {}))

    def test_another_version_and_a_wrong_rank_are_refused_before_anything_hangs(self):
        self.assertIn("this process has 22304", trainer("print(init(5000), error())",
                                                        {**ONE, "FAKE_NCCL_VERSION": "22304"}))
        self.assertIn("PADDLE_TRAINER_ID=2 is not below", trainer("print(init(5000), error())",
                                                                  {**ONE, "PADDLE_TRAINER_ID": "2"}))


class Form(unittest.TestCase):
    def test_it_needs_neither_cuda_nor_nccl_nor_a_runtime_of_cxx(self):
        dynamic = subprocess.run(["readelf", "-d", LIBRARY], check=True, capture_output=True, text=True).stdout
        for name in ("nccl.so", "cuda", "stdc++"):
            self.assertNotIn(name, "\n".join(line for line in dynamic.splitlines() if "NEEDED" in line))

    def test_nothing_but_the_interface_is_exported(self):
        symbols = subprocess.run(["nm", "-D", "--defined-only", LIBRARY], check=True, capture_output=True, text=True)
        names = [line.split()[-1] for line in symbols.stdout.splitlines()]
        self.assertEqual(len(names), 6)
        self.assertTrue(all(name.startswith("paddle_launch_nccl_") for name in names), names)


class Example(unittest.TestCase):
    def run_example(self, command):
        done = subprocess.run(command, env={**os.environ, **ONE}, timeout=120, capture_output=True, text=True)
        if os.path.exists("/dev/nvidiactl"):
            self.skipTest("this machine has GPUs")
        if "all_reduce.py: libcudart" in done.stderr:
            self.skipTest("there is no CUDA runtime on this machine")
        self.assertEqual(done.returncode, 77, done.stdout + done.stderr)
        self.assertRegex(done.stderr, "no GPU can be used here.*nothing was done")

    def test_without_a_gpu_it_says_so(self):
        if not EXAMPLE:
            self.skipTest("CUDA was not there when examples/nccl/all_reduce.cc would have been built")
        self.run_example([EXAMPLE])

    def test_without_a_gpu_the_one_in_python_says_so_as_well(self):
        self.run_example([sys.executable, os.path.join(SOURCE, "examples/nccl/all_reduce.py")])


if __name__ == "__main__":
    unittest.main()
