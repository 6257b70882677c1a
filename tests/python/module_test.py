# SPDX-License-Identifier: Apache-2.0
"""python -m paddle_launch is the launcher, and its trainers run with the same interpreter."""

import importlib.metadata
import os
import re
import shutil
import subprocess
import sys
import unittest
from unittest import mock

from harness import Launch, binary
from program_case import PACKAGE, ProgramCase

sys.path.insert(0, str(PACKAGE))
from paddle_launch import __main__ as module  # noqa: E402
from paddle_launch import _binary  # noqa: E402


class ModuleTest(ProgramCase):
    def run_module(self, *args, **how):
        run = Launch(self, ["-m", "paddle_launch", *args], program=how.pop("program", sys.executable), **how)
        run.wait()
        return run

    def test_trainers_have_the_same_interpreter(self):
        own = self.base / "own-python"
        own.symlink_to(sys.executable)
        self.write("train.py", "import sys\nprint(sys.executable, sys.argv[1:])\n")
        run = self.run_module("--quiet", "--nproc_per_node=2", "train.py", "--python", "3", program=str(own))
        self.assert_status(run, 0)
        self.assertEqual(run.out.decode(), f"{own} ['--python', '3']\n")
        self.assertEqual(len(self.log(1).splitlines()), 2)

    def test_the_users_interpreter_wins(self):
        own = self.base / "own-python"
        own.symlink_to(sys.executable)
        self.write("train.py", "import sys\nprint(sys.executable)\n")
        for words in (["--python", str(own)], [f"--python={own}"]):
            run = self.run_module("--nproc_per_node=1", *words, "train.py")
            self.assert_status(run, 0)
            self.assertEqual(run.out.decode(), f"{own}\n")
            self.assertNotIn("WARNING", run.err)

    def test_a_launcher_in_a_virtual_environment_runs_scripts_with_that_ones_interpreter(self):
        programs = self.base / "venv" / "bin"
        programs.mkdir(parents=True)
        shutil.copy(binary(), programs)
        (programs / "fleetrun").symlink_to("paddle-launch")
        (programs / "python").write_text("#!/bin/sh\necho the python of the environment\n")
        (programs / "python").chmod(0o755)
        self.write("train.py", "print('another python')\n")
        for has_settings, words in ((False, b"another python\n"), (True, b"the python of the environment\n")):
            if has_settings:
                (programs.parent / "pyvenv.cfg").touch()
            for program in ("paddle-launch", "fleetrun"):
                run = Launch(self, ["--quiet", "train.py"], program=str(programs / program),
                             env={"PATH": self.python_on_path()})
                run.wait()
                self.assert_status(run, 0)
                self.assertEqual(run.out, words)

    def test_it_is_the_launcher_itself(self):
        self.write("train.py", "import sys\nsys.exit(7)\n")
        self.assert_status(self.run_module("--quiet", "train.py"), 7)
        self.assertRegex(self.run_module("--version").out.decode(), r"\d+\.\d+")
        self.assert_status(self.run_module("--no_such_option", "train.py"), 2)
        self.assert_status(self.run_module("--make_token", "--token_file=token"), 0)

    def test_the_launchers_own_options_end_at_the_script(self):
        for words, expected in (([], False), (["--python", "x", "t.py"], False), (["--python=x"], False),
                                (["t.py", "--python=x"], True), (["--gpus", "0", "--python=x", "t.py"], False),
                                (["--quiet", "t.py", "--python=x"], True), (["--gpus=0", "t.py", "--python=x"], True),
                                (["-m", "t", "--python=x"], True), (["--", "t", "--python=x"], True),
                                (["--dry-run", "t.py", "--python=x"], True), (["--assume-gpus", "--python=x"], False),
                                (["--log_dir", "--python=x"], False), (["--dry_run=json", "--python=x", "t"], False),
                                (["--job_id", "j", "--status"], False), (["--scale", "3"], False), (["--make_token"], False)):
            self.assertEqual(module.needs_interpreter(words), expected, words)

    def test_options_without_a_value_are_those_of_the_help(self):
        text = subprocess.run([binary(), "--help=all"], stdout=subprocess.PIPE, check=True).stdout.decode()
        bare = re.findall(r"(?m)^  (--\w+)(?:\[=\w+\])?(?:   .*)?$", text.partition("Base Parameters")[2])
        self.assertIn("--quiet", bare)
        self.assertEqual(set(bare) - module.FLAGS, set())
        self.assertEqual(module.FLAGS - set(bare) - {"-h", "--help", "--version"}, set())

    def test_the_variable_must_name_a_program(self):
        run = self.run_module("t.py", env={"PADDLE_LAUNCH_BINARY": "/nowhere"})
        self.assert_status(run, 1)
        self.assertRegex(run.err, r"\Apython -m paddle_launch: PADDLE_LAUNCH_BINARY=/nowhere: .+\n\Z")


class FindTest(unittest.TestCase):
    def find(self, recorded, scripts, path):
        files = mock.Mock(side_effect=recorded) if isinstance(recorded, Exception) else mock.Mock(return_value=recorded)
        with mock.patch.dict(os.environ, {"PATH": path}), mock.patch("importlib.metadata.files", files), \
                mock.patch("sysconfig.get_path", return_value=scripts):
            os.environ.pop("PADDLE_LAUNCH_BINARY")
            return _binary.find_binary()

    def setUp(self):
        patch = mock.patch.dict(os.environ, {"PADDLE_LAUNCH_BINARY": binary()})
        patch.start()
        self.addCleanup(patch.stop)

    def test_the_binary_is_looked_for_place_by_place(self):
        program = binary()
        folder = os.path.dirname(program)
        missing = importlib.metadata.PackageNotFoundError()
        recorded = mock.Mock(parent=mock.Mock(), locate=lambda: program)
        recorded.name, recorded.parent.name = "paddle-launch", "bin"
        for places in (([recorded], "/nowhere", ""), (missing, folder, ""), (None, "/nowhere", folder)):
            self.assertEqual(self.find(*places), program)
        with self.assertRaisesRegex(FileNotFoundError, "install the package with pip, or name the program in PADDLE_"):
            self.find(missing, "/nowhere", "/nowhere")


if __name__ == "__main__":
    unittest.main()
