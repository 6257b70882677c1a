# SPDX-License-Identifier: Apache-2.0
"""Programs that use the package paddle_launch, run as users run them and looked at from outside."""

import os
import pathlib
import sys

from harness import Launch, LauncherCase, binary, wait_until

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
PACKAGE = ROOT / "python"

HEADER = """\
import os, signal, sys, threading, time, warnings
import paddle_launch
RANK = os.environ.get("PADDLE_TRAINER_ID")
if RANK is None:
    warnings.simplefilter("ignore")
def ready():
    with open(f".ready.{RANK}", "w") as file:
        file.write(str(os.getpid()))
    os.rename(file.name, f"ready.{RANK}")
def wait_ready(count):
    while sum(name.startswith("ready.") for name in os.listdir()) < count:
        time.sleep(0.01)
"""


class ProgramCase(LauncherCase):
    """Nothing may be left in the temporary directory either."""

    leaves_files = False

    def setUp(self):
        super().setUp()
        self.tmp = self.base / "tmp"
        self.tmp.mkdir()

    def tearDown(self):
        super().tearDown()
        if not self.leaves_files:
            self.assertEqual(os.listdir(self.tmp), [])

    def environment(self, extra=None):
        own = {"PADDLE_LAUNCH_BINARY": binary(), "PYTHONPATH": str(PACKAGE), "PYTHONDONTWRITEBYTECODE": "1",
               "TMPDIR": str(self.tmp)}
        return super().environment({**own, **(extra or {})})

    def write_program(self, body):
        """body: the top level of a script; what is below MAIN runs in the parent only."""
        before, _, after = body.partition("MAIN\n")
        main = "".join(f"    {line}\n" for line in after.splitlines()) or "    pass\n"
        self.write("program.py", f'{HEADER}{before}if __name__ == "__main__":\n{main}')

    def start_program(self, body, *args, python=(), **how):
        self.write_program(body)
        return Launch(self, [*python, "program.py", *args], program=sys.executable, **how)

    def run_program(self, body, *args, status=0, **how):
        run = self.start_program(body, *args, **how)
        run.wait()
        self.assert_status(run, status)
        return run

    def wait_ranks(self, count):
        """Their process numbers, by rank."""
        names = [self.dir / f"ready.{rank}" for rank in range(count)]
        wait_until(lambda: all(name.exists() and name.read_text() for name in names), lambda: self.launches[-1].told())
        return [int(name.read_text()) for name in names]
