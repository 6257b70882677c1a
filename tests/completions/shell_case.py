# SPDX-License-Identifier: Apache-2.0
"""What shells offer at the Tab key. The tests are the same for each; a file for each shell says how it is driven.

PADDLE_LAUNCH_COMPLETIONS names the directory of the completions that were built.
"""

import os
import pathlib
import pty
import re
import shutil
import subprocess
import tempfile
import time
import unittest

COMPLETIONS = pathlib.Path(os.environ.get("PADDLE_LAUNCH_COMPLETIONS", "."))
SOURCE = pathlib.Path(__file__).resolve().parents[2] / "completions"
REQUIRED = "PADDLE_LAUNCH_REQUIRE_SHELLS"  # 1: a shell that is not there fails its tests, as in CI
DEADLINE = 60.0

MODES = {"collective", "ps", "ps-heter", "rpc"}
BACKENDS = {"auto", "nccl", "gloo", "bkcl", "hccl", "cncl", "xccl", "heter", "flagcx"}
CONSOLES = {"rank0", "all", "none", "direct", "0"}
# Both commands write down their words.
PROGRAMS = ["paddle-launch() { printf '%s\\n' \"$@\" >.typed; mv .typed .words; }",
            "fleetrun() { paddle-launch \"$@\"; }"]
FILES = {"train.py", "tokens.txt", "tree"}  # of the directory in which the tests type


def needed(shell):
    """The path of a shell."""
    path = shutil.which(shell)
    if path is None and os.environ.get(REQUIRED) == "1":
        raise AssertionError(f"{REQUIRED}=1, but {shell} is not installed")
    if path is None:
        raise unittest.SkipTest(f"{shell} is not installed")
    return path


class Directory:
    """A directory with FILES in it, and an environment whose home it is."""

    def __init__(self, case):
        self.path = pathlib.Path(tempfile.mkdtemp(prefix="paddle-launch-completions-"))
        case.addClassCleanup(shutil.rmtree, self.path, ignore_errors=True)
        for name in FILES - {"tree"}:
            (self.path / name).touch()
        (self.path / "tree").mkdir()
        self.env = {"PATH": os.environ["PATH"], "HOME": str(self.path / "tree"), "LANG": "C.UTF-8", "TERM": "dumb",
                    "COLUMNS": "200", "LINES": "500"}

    def file_of(self, name, lines):
        """A file in the home directory."""
        path = self.path / "tree" / name
        path.write_text("\n".join(lines) + "\n")
        return str(path)


class Screen:
    """A shell at a terminal of its own."""

    def __init__(self, case, command, directory):
        master, slave = pty.openpty()
        self._master, self._text = master, ""
        self._marks = 0
        self._words = directory.path / ".words"
        os.set_blocking(master, False)
        self._process = subprocess.Popen(command, stdin=slave, stdout=slave, stderr=slave, cwd=directory.path,
                                         env=directory.env, start_new_session=True)
        os.close(slave)
        case.addClassCleanup(self._end)
        self.after_mark()

    def _end(self):
        self._process.kill()
        self._process.wait()
        os.close(self._master)

    def type(self, text):
        os.write(self._master, text.encode())

    def wait(self, condition, what):
        """Reads until condition(text) is true of what came since the last mark; returns that text."""
        end = time.monotonic() + DEADLINE
        while not condition(self._text):
            try:
                self._text += os.read(self._master, 65536).decode(errors="replace")
            except BlockingIOError:
                if time.monotonic() > end:
                    raise AssertionError(f"waited in vain for {what}; the screen:\n{self._text}") from None
                time.sleep(0.005)
        return self._text

    def after_mark(self):
        """Forgets the line that is typed, and returns what the screen showed before."""
        self._marks += 1
        self.type(f"\x15echo MA''RK{self._marks};\n")
        text = self.wait(lambda text: f"MARK{self._marks}" in text, "the mark")
        self._text = ""
        return text.partition("echo MA''RK")[0]

    def offered(self, line, expected):
        """The words that are listed when the Tab key is hit, beside those of the line itself."""
        def words(text):
            return set(re.sub(r"[\x00-\x1f\x7f]|\x1b\[[0-9;?]*[A-Za-z]", " ", text).split())
        self.type(line + "\t")
        self.wait(lambda text: expected <= words(text), sorted(expected))
        return words(self.after_mark()) - set(line.split())


    def completed(self, line):
        """The words of the command, as it is executed after the Tab key."""
        self.type(line + "\t\n")
        self.wait(lambda _: self._words.exists(), f"the command after: {line}")
        words = self._words.read_text().splitlines()
        self._words.unlink()
        self.after_mark()
        return words


class ShellTests:
    """For a case with offered(line, expected) and completed(line), whose `program` is one of the two names."""

    program = "paddle-launch"

    def expect(self, line, words):
        self.assertEqual(self.offered(f"{self.program} {line}", set(words)), set(words), line)

    def expect_line(self, line, *words):
        found = [word.rstrip("/") for word in self.completed(f"{self.program} {line}")]
        self.assertEqual(found, list(words), line)

    def test_values_of_an_option(self):
        self.expect("--run_mode ", MODES)
        self.expect("--backend ", BACKENDS)
        self.expect("--console ", CONSOLES)
        self.expect("--quiet --gpus 0,1 --log_level ", {"DEBUG", "INFO", "WARNING", "ERROR"})
        self.expect("--sort_ip ", {"true", "false"})
        self.expect("--bootstrap ", {"auto", "solo", "tcp", "mpi", "pmix"})

    def test_a_value_is_finished(self):
        self.expect_line("--run_mode col", "--run_mode", "collective")
        self.expect_line("--run_mode=col", "--run_mode=collective")
        self.expect_line("--master=n1:6161 --console di", "--master=n1:6161", "--console", "direct")
        self.expect_line("--master n1:6161 --backend=fl", "--master", "n1:6161", "--backend=flagcx")
        self.expect_line("--dry_run=", "--dry_run=json")
        self.expect_line("--help=a", "--help=all")

    def test_names_of_options(self):
        self.expect_line("--gp", "--gpus")
        self.expect_line("--run", "--run_mode")
        self.expect("--elastic_", {"--elastic_server", "--elastic_timeout", "--elastic_settle", "--elastic_ttl",
                                   "--elastic_level", "--elastic_pre_hook"})
        self.expect_line("--status --nccl_lib=x --nproc", "--status", "--nccl_lib=x", "--nproc_per_node")

    def test_files_and_directories(self):
        self.expect_line("--log_dir t", "--log_dir", "tree")
        self.expect_line("--log_dir=t", "--log_dir=tree")
        self.expect_line("--token_file to", "--token_file", "tokens.txt")
        self.expect_line("--report=to", "--report=tokens.txt")

    def test_the_script_is_a_file(self):
        self.expect_line("tra", "train.py")
        self.expect_line("--quiet tra", "--quiet", "train.py")
        self.expect_line("--gpus 0,1 tra", "--gpus", "0,1", "train.py")
        self.expect_line("--dry_run tra", "--dry_run", "train.py")
        self.expect_line("-- tra", "--", "train.py")

    def test_after_the_script_there_are_files_alone(self):
        for before in ("train.py", "--quiet train.py", "--gpus 0 -m package", "train.py --run_mode",
                       "train.py --gpus 0", "-- train.py", "train.py --console"):
            self.expect_line(f"{before} to", *before.split(), "tokens.txt")
        self.expect_line("train.py --gp", "train.py", "--gp")
        self.expect_line("-m package --gp", "-m", "package", "--gp")
