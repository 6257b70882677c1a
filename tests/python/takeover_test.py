# SPDX-License-Identifier: Apache-2.0
"""After paddle_launch.install() an unchanged `python -m paddle.distributed.launch` is this launcher, until uninstall()."""

import os
import pathlib
import subprocess
import sys
import unittest

from harness import Launch
from program_case import PACKAGE, ProgramCase

sys.path.insert(0, str(PACKAGE))
from paddle_launch import _takeover  # noqa: E402

PADDLES = ("-m", "paddle.distributed.launch")
TRAIN = "import os, sys\nprint('rank', os.environ['PADDLE_TRAINER_ID'], sys.argv[1:], sys.prefix, flush=True)\n"
STAND_IN = "import sys\nprint(\"Paddle's own\", sys.argv[1:])\n"  # no Paddle is needed to see who runs


class TakeoverTest(ProgramCase):
    """In a virtual environment with the package, and a stand-in of Paddle's launcher."""

    def setUp(self):
        super().setUp()
        self.venv = self.base / "venv"
        subprocess.run([sys.executable, "-m", "venv", "--without-pip", self.venv], check=True)
        self.python = str(self.venv / "bin" / "python")
        packages = pathlib.Path(self.ask("sysconfig.get_path('purelib')"))
        (packages / "paddle_launch").symlink_to(PACKAGE / "paddle_launch")
        for module in ("launch", "fleet/launch"):
            own = packages / "paddle" / "distributed" / module
            own.mkdir(parents=True, exist_ok=True)
            (own / "__main__.py").write_text(STAND_IN)
        self.packages = packages
        self.fleetrun = self.venv / "bin" / "fleetrun"
        self.write("train.py", TRAIN)

    def environment(self, extra=None):
        return super().environment({"PYTHONPATH": None, **(extra or {})})

    def ask(self, expression):
        return subprocess.run([self.python, "-c", f"import sysconfig\nprint({expression})"], check=True,
                              capture_output=True, text=True, env=self.environment()).stdout.strip()

    def call(self, function):
        return self.ask(f"__import__('paddle_launch').{function}()")

    def run_python(self, *args, **how):
        run = Launch(self, args, program=self.python, **how)
        run.wait()
        self.assert_status(run, 0)
        return run.out.decode()

    def test_the_same_command_runs_this_launcher_and_its_interpreter(self):
        self.assertEqual(self.run_python(*PADDLES, "train.py"), "Paddle's own ['train.py']\n")
        self.assertEqual(self.call("install"), str([str(self.packages / _takeover.FILE), str(self.fleetrun)]))
        for words in (PADDLES, ("-u", "-X", "utf8", "-W", "ignore", *PADDLES), ("-um", PADDLES[1]),
                      ("-mpaddle.distributed.fleet.launch",)):
            with self.subTest(words):
                out = self.run_python(*words, "--nproc_per_node=2", "train.py", "-m", "3")
                self.assertEqual(out, f"rank 0 ['-m', '3'] {self.venv}\n")
                self.assertIn(b"rank 1", self.log(1))
        self.assertEqual(self.call("uninstall"), str([str(self.packages / _takeover.FILE), str(self.fleetrun)]))
        self.assertEqual(self.run_python(*PADDLES, "train.py"), "Paddle's own ['train.py']\n")

    def run_fleetrun(self, *args):
        run = Launch(self, args, program=str(self.fleetrun))
        run.wait()
        self.assert_status(run, 0)
        return run.out.decode()

    def test_fleetrun_is_written_where_there_is_none(self):
        self.call("install")
        self.assertEqual(self.run_fleetrun("--quiet", "train.py", "x y"), f"rank 0 ['x y'] {self.venv}\n")

    def test_paddles_own_fleetrun_is_taken_over_and_its_file_left_alone(self):
        text = f"#!{self.python}\n{STAND_IN}"
        self.fleetrun.write_text(text)
        self.fleetrun.chmod(0o755)
        self.assertEqual(self.run_fleetrun("train.py"), "Paddle's own ['train.py']\n")
        self.assertEqual(self.call("install"), str([str(self.packages / _takeover.FILE)]))
        self.assertEqual(self.run_fleetrun("--quiet", "train.py", "x y"), f"rank 0 ['x y'] {self.venv}\n")
        self.call("uninstall")
        self.assertEqual(self.fleetrun.read_text(), text)
        self.assertEqual(self.run_fleetrun("train.py"), "Paddle's own ['train.py']\n")

    def test_a_tool_that_calls_it_gets_this_launcher_too(self):
        self.call("install")
        self.write("tool.py", "import subprocess, sys\nsubprocess.run([sys.executable, '-m', 'paddle.distributed.launch', "
                   "'train.py'], check=True)\n")
        self.assertEqual(self.run_python("tool.py"), f"rank 0 [] {self.venv}\n")

    def test_other_commands_and_a_word_keep_it_away(self):
        self.call("install")
        self.assertEqual(self.run_python(*PADDLES, env={_takeover.OFF: "off"}), "Paddle's own []\n")
        self.write("say.py", "import sys\nprint(sys.argv)\n")
        self.assertEqual(self.run_python("say.py", *PADDLES), f"{['say.py', *PADDLES]}\n")
        self.assertEqual(self.run_python("-c", "import sys; print(sys.argv)", *PADDLES), f"{['-c', *PADDLES]}\n")

    def test_without_the_package_or_the_launcher_all_is_as_before(self):
        self.call("install")
        run = Launch(self, PADDLES, program=self.python, env={"PADDLE_LAUNCH_BINARY": "/nowhere"})
        run.wait()
        self.assertEqual(run.out.decode(), "Paddle's own []\n")
        self.assert_told(run, "/nowhere", "Paddle's own launcher is used")
        os.unlink(self.packages / "paddle_launch")
        run = Launch(self, PADDLES, program=self.python)
        run.wait()
        self.assertEqual((run.out.decode(), run.err), ("Paddle's own []\n", ""))


if __name__ == "__main__":
    unittest.main()
