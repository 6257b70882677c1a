# SPDX-License-Identifier: Apache-2.0
"""Where the launcher's binary is, and what it would do."""

import json
import os
import shutil
import subprocess
import sysconfig

NAME = "paddle-launch"
VARIABLE = "PADDLE_LAUNCH_BINARY"


def find_binary():
    named = os.environ.get(VARIABLE)
    if named:
        if _is_program(named):
            return os.path.abspath(named)
        raise FileNotFoundError(f"{VARIABLE}={named}: not an executable file; name the launcher, or unset the variable")
    for path in _installed():
        if _is_program(path):
            return path
    on_path = shutil.which(NAME)
    if on_path:
        return os.path.abspath(on_path)
    raise FileNotFoundError(
        f"the program {NAME} was found neither beside this package nor in {sysconfig.get_path('scripts')} nor on PATH; "
        f"install the package with pip, or name the program in {VARIABLE}")


def _is_program(path):
    return os.path.isfile(path) and os.access(path, os.X_OK)


def _installed():
    # The one that came with this very package first: the scripts of another installation may be of another version.
    import importlib.metadata  # slow to load, and not needed where the variable names the binary
    try:
        files = importlib.metadata.files(NAME) or []
    except importlib.metadata.PackageNotFoundError:
        files = []
    for file in files:
        if file.name == NAME and file.parent.name == "bin":
            yield os.path.abspath(file.locate())
    yield os.path.join(sysconfig.get_path("scripts"), NAME)


def plan(arguments):
    """What --dry_run=json tells about these arguments; ValueError with the launcher's words when it refuses."""
    # A number of trainers from outside would be dealt cards that it does not divide.
    environment = {name: value for name, value in os.environ.items() if name != "PADDLE_NPROC_PER_NODE"}
    run = subprocess.run([find_binary(), "--dry_run=json", "--quiet", *arguments], env=environment,
                         stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False)
    if run.returncode != 0:
        raise ValueError(run.stderr.decode(errors="replace").strip())
    return json.loads(run.stdout)
