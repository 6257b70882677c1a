# SPDX-License-Identifier: Apache-2.0
"""Real collective training on one node ends where the same script ends under Paddle's own launcher."""

import pathlib
import subprocess
import unittest

from paddle_case import PROXIES, ROOT, SECONDS, PaddleMixin

from harness import Launch, LauncherCase, binary


class OneNodeTest(PaddleMixin, LauncherCase):
    _theirs = {}

    def theirs(self, name, ranks):
        """The result under Paddle's own launcher."""
        if (name, ranks) not in OneNodeTest._theirs:
            _, *script = self.script(name, "--out", "theirs")
            self.paddles_own("--nproc_per_node", str(ranks), *script)
            OneNodeTest._theirs[name, ranks] = self.assert_trained("theirs", ranks)
        return OneNodeTest._theirs[name, ranks]

    def assert_as_under_paddles_own(self, name, ranks, same_as=None):
        run = self.train(f"--nproc_per_node={ranks}", *self.script(name, "--out", "ours"))
        self.assert_status(run, 0)
        self.assert_same_result(self.assert_trained("ours", ranks), self.theirs(same_as or name, ranks))

    def test_two_ranks_of_data_parallel_learn_the_same(self):
        self.assert_as_under_paddles_own("data_parallel", 2)

    def test_four_ranks_of_data_parallel_learn_the_same(self):
        self.assert_as_under_paddles_own("data_parallel", 4)

    def test_fleet_learns_the_same(self):
        self.assert_as_under_paddles_own("fleet_collective", 2, same_as="data_parallel")

    def test_the_high_level_model_learns_the_same(self):
        self.assert_as_under_paddles_own("high_level_model", 2)


class ProxyTest(PaddleMixin, LauncherCase):
    def test_the_store_and_gloo_do_not_ask_a_proxy_for_the_hosts_of_the_job(self):
        run = self.train("--nproc_per_node=2", *self.script("data_parallel", "--out", "out"), env=PROXIES)
        self.assert_status(run, 0)
        self.assert_trained("out", 2)


class TakeoverTest(PaddleMixin, LauncherCase):
    def test_an_unchanged_command_of_paddles_runs_this_launcher(self):
        venv = self.base / "venv"
        subprocess.run([self.python, "-m", "venv", "--without-pip", venv], check=True)
        python = str(venv / "bin" / "python")
        def ask(interpreter, text, **env):
            return subprocess.run([interpreter, "-c", text], check=True, capture_output=True, text=True,
                                  env=self.environment(env)).stdout.strip()
        purelib = "import sysconfig; print(sysconfig.get_path('purelib'))"
        packages = pathlib.Path(ask(python, purelib))
        (packages / "paddle.pth").write_text(ask(self.python, purelib) + "\n")
        (packages / "paddle_launch").symlink_to(ROOT / "python" / "paddle_launch")
        ask(python, "import paddle_launch; paddle_launch.install()")
        run = Launch(self, ["-m", "paddle.distributed.launch", "--nproc_per_node=2", *self.script("data_parallel", "--out",
                            "out")[1:]], program=python, env={"PADDLE_LAUNCH_BINARY": binary()})
        run.wait(SECONDS)
        self.assert_status(run, 0)
        self.assertIn("paddle-launch] Local processes completed.", run.err)
        self.assert_trained("out", 2)


class WorldOfOneTest(PaddleMixin, LauncherCase):
    """init_parallel_env does nothing in a world of one, with a warning, and DataParallel is the model itself."""

    WARNING = b"`paddle.distributed.init_parallel_env` will not do anything"

    def result_of(self, out, *args):
        self.assert_status(self.train(f"--log_dir={out}", *args, "--out", out), 0)
        return self.assert_trained(out, 1)

    def test_one_process_learns_the_same_with_and_without_init_parallel_env(self):
        one = ("--nproc_per_node=1",)
        parallel = self.result_of("parallel", *one, *self.script("data_parallel"))
        self.assertIn(self.WARNING, self.log(0, "parallel"))
        alone = self.result_of("alone", *one, *self.script("data_parallel", "--alone"))
        self.assertNotIn(self.WARNING, self.log(0, "alone"))
        self.assert_same_result(parallel, alone)

    def test_one_card_may_be_named_by_its_number(self):
        """Where there is none it is assumed; a wheel for the CPU does not look at it."""
        run = ("--gpus=0", "--assume_gpus")
        self.result_of("parallel", *run, *self.script("data_parallel"))
        self.result_of("alone", *run, *self.script("data_parallel", "--alone"))


if __name__ == "__main__":
    unittest.main()
