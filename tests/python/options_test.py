# SPDX-License-Identifier: Apache-2.0
"""spawn's checks, in the words of paddle.distributed.spawn, before anything is started."""

import contextlib
import json
import os
import sys
import unittest
import warnings
from unittest import mock

from harness import binary
from program_case import PACKAGE

sys.path.insert(0, str(PACKAGE))
import paddle_launch  # noqa: E402

VISIBLE = ("the number of visible devices({}) is less than the number of spawn processes({}), please ensure that the "
           "correct `nprocs` argument is passed or the environment variable `CUDA_VISIBLE_DEVICES` is correctly "
           "configured.")
SELECTED = ("The number of selected devices({}) is not equal to the number of spawn processes({}), please ensure that "
            "the correct `nprocs` and `gpus` arguments are passed.")
CPU_ONLY = ("Your model will be trained under CPUONLY mode by using GLOO,because CPUPlace is specified manually or "
            "your installed PaddlePaddle only support CPU Device.")


class OptionsTest(unittest.TestCase):
    def setUp(self):
        clean = {name: value for name, value in os.environ.items() if not name.endswith("VISIBLE_DEVICES")}
        stack = contextlib.ExitStack()
        self.addCleanup(stack.close)
        stack.enter_context(mock.patch.dict(os.environ, clean, clear=True))
        os.environ["PADDLE_LAUNCH_BINARY"] = binary()
        start = mock.patch("paddle_launch._spawn._start", side_effect=AssertionError("it was started"))
        self.start = stack.enter_context(start)

    def refused(self, error, text, *args, **options):
        with warnings.catch_warnings(), self.assertRaises(error) as caught:
            warnings.simplefilter("ignore")
            paddle_launch.spawn(print, *args, **options)
        self.assertIn(text, str(caught.exception))
        self.start.assert_not_called()

    def arguments(self, **options):
        """(processes, the launcher's options) of a call that is not refused, and its warnings."""
        self.start.side_effect = None
        self.start.return_value.wait.return_value = True
        self.start.return_value.failure = None
        with warnings.catch_warnings(record=True) as told:
            warnings.simplefilter("always")
            paddle_launch.spawn(print, **options)
        _, _, nprocs, _, arguments, _ = self.start.call_args[0]
        self.start.reset_mock()
        return nprocs, arguments, [(one.category, str(one.message), os.path.basename(one.filename)) for one in told]

    def test_unknown_options_are_refused(self):
        self.refused(ValueError, "The config option (np) of `paddle.distributed.spawn` is not supported.", np=2)

    def test_deprecated_options_still_count(self):
        nprocs, arguments, told = self.arguments(nprocs=1, started_port=6170, node_ip="127.0.0.1",
                                                 cluster_node_ips="127.0.0.1")
        self.assertEqual(nprocs, 1)
        self.assertLessEqual({"--start_port=6170", "--host=127.0.0.1", "--bootstrap=solo"}, set(arguments))
        text = ("The config option (started_port) of `paddle.distributed.spawn` is deprecated. Please use the latest "
                "config options stated in the `spawn` API documentation.")
        self.assertIn((DeprecationWarning, text, "options_test.py"), told)

    def test_deprecated_cards_still_count(self):
        os.environ["PADDLE_LAUNCH_ASSUME_GPUS"] = "1"
        for name in ("selected_devices", "selected_gpus"):
            with self.subTest(name):
                self.assertIn("--gpus=4,5", self.arguments(nprocs=2, **{name: "4,5"})[1])

    def test_other_start_methods_are_warned_of_or_refused(self):
        self.refused(ValueError, "start_method='thread': there is none of this name", start_method="thread")
        for method in ("fork", "forkserver"):
            _, _, told = self.arguments(nprocs=1, start_method=method)
            self.assertIn("processes are started anew here", str(told))
            self.assertIn("options_test.py", str(told))
        self.assertNotIn("anew", str(self.arguments(nprocs=1, start_method="spawn")))

    def test_too_few_visible_cards_are_refused(self):
        os.environ.update(CUDA_VISIBLE_DEVICES="4,5", PADDLE_LAUNCH_ASSUME_GPUS="1")
        self.refused(RuntimeError, VISIBLE.format(2, 3), nprocs=3)
        del os.environ["CUDA_VISIBLE_DEVICES"]
        self.refused(RuntimeError, VISIBLE.format(0, 3), nprocs=3, backend="nccl")

    def test_selected_cards_that_do_not_fit_are_refused(self):
        os.environ.update(CUDA_VISIBLE_DEVICES="4,5", PADDLE_LAUNCH_ASSUME_GPUS="1")
        for error in (RuntimeError, ValueError):  # older and newer Paddle
            self.refused(error, SELECTED.format(2, 3), nprocs=3, gpus="4,5")
            self.refused(error, "The selected gpu card 6 cannot found in CUDA_VISIBLE_DEVICES (4,5).", nprocs=2,
                         gpus="4,6")
        self.refused(TypeError, "gpus=[4, 5]: not a text", gpus=[4, 5])
        self.refused(ValueError, "gpus and xpus are both given", gpus="4", xpus="4")

    def test_a_card_named_twice_is_told_in_the_launchers_words(self):
        os.environ.update(PADDLE_LAUNCH_ASSUME_GPUS="1", CUDA_VISIBLE_DEVICES="4,5")
        self.refused(ValueError, "twice", nprocs=2, gpus="4,4")

    def test_on_the_cpu_paddles_warning_is_given_and_several_nodes_are_refused(self):
        _, arguments, told = self.arguments(nprocs=2)
        self.assertEqual(told, [(UserWarning, CPU_ONLY, "options_test.py")])
        self.assertIn("--nproc_per_node=2", arguments)
        self.refused(AssertionError, "CPUONLY spawn only support single trainer, that is len(ips)=1, but got "
                                     "127.0.0.1,127.0.0.2.", nprocs=1, ips="127.0.0.1,127.0.0.2")
        self.refused(AssertionError, "CPUONLY spawn doesn't support use paddle cloud", nprocs=1, use_paddlecloud=True)

    def test_several_nodes_with_cards_meet_over_tcp(self):
        os.environ["PADDLE_LAUNCH_ASSUME_GPUS"] = "1"
        _, arguments, _ = self.arguments(nprocs=1, gpus="0", ips="127.0.0.1, 127.0.0.2", node_ip="127.0.0.1")
        self.assertIn("--ips=127.0.0.1,127.0.0.2", arguments)
        self.assertNotIn("--bootstrap=solo", arguments)

    def test_impossible_numbers_of_processes_are_refused(self):
        self.refused(ValueError, "nprocs=0: give 1 or more, or -1", nprocs=0)
        self.refused(TypeError, "nprocs='2': not a whole number", nprocs="2")

    def test_a_grace_that_is_none_is_refused(self):
        self.refused(ValueError, "--grace", nprocs=1, grace="soon")

    def test_a_backend_that_is_none_is_refused(self):
        self.refused(ValueError, "--backend", nprocs=1, backend="mpi")

    def test_things_that_cannot_be_called_are_refused(self):
        with self.assertRaisesRegex(TypeError, "func=7: not a function"):
            paddle_launch.spawn(7)
        with self.assertRaisesRegex(TypeError, r"args=True: not a tuple; write args=\(True,\)"):
            paddle_launch.spawn(print, args=True)

    def test_a_number_of_trainers_from_outside_does_not_count(self):
        os.environ.update(PADDLE_NPROC_PER_NODE="3", CUDA_VISIBLE_DEVICES="4,5", PADDLE_LAUNCH_ASSUME_GPUS="1")
        nprocs, arguments, _ = self.arguments()
        self.assertEqual((nprocs, "--gpus=4,5" in arguments), (2, True), json.dumps(arguments))


if __name__ == "__main__":
    unittest.main()
