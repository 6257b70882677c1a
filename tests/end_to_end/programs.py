# SPDX-License-Identifier: Apache-2.0
"""The programs that tests start: the launcher itself, and trainers/."""

import os
import pathlib
import shutil
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
TRAINERS = HERE / "trainers"
SH = "/bin/sh"


def program_named_by(variable):
    path = os.environ.get(variable)
    if not path or not os.access(path, os.X_OK):
        raise RuntimeError(f"{variable} must name a program; it is {path!r}")
    return os.path.abspath(path)


def binary():
    return program_named_by("PADDLE_LAUNCH_BINARY")


def sanitizer_options(words):
    """ASAN_OPTIONS with these added; nothing to a binary without the sanitizer."""
    return {"ASAN_OPTIONS": f"{os.environ.get('ASAN_OPTIONS', '')}:{words}".lstrip(":")}


def python_trainer(name, *args):
    """The command line of trainers/NAME under this very interpreter, started as fast as it can be."""
    return [sys.executable, "-IS", str(TRAINERS / name), *map(str, args)]


def compile_trainer(case, name):
    compiler = shutil.which("cc") or shutil.which("gcc") or shutil.which("clang")
    if compiler is None:
        case.skipTest(f"no C compiler for trainers/{name}")
    program = case.base / pathlib.Path(name).stem
    subprocess.run([compiler, "-O1", "-o", str(program), str(TRAINERS / name)], check=True)
    return str(program)
