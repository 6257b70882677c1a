# SPDX-License-Identifier: Apache-2.0
"""install(): from then on `python -m paddle.distributed.launch …` and `fleetrun …` of this environment are paddle-launch,
whoever types them.

A .pth file in site-packages is read whenever an interpreter of the environment starts. The line in ours looks whether
Paddle's launcher was asked for, and then becomes paddle-launch before anything of Paddle is imported. So Paddle's own
file fleetrun, which is a program in Python, stays as it is; where there is none, one is written."""

import os
import re
import site
import sys
import sysconfig

FILE = "paddle_launch_takeover.pth"
# Where this package is gone, everything is as it was before.
LINE = ("import sys; exec(\"try:\\n w = open('/proc/self/cmdline', 'rb').read()\\n if b'paddle.distributed' in w or b'fleetrun' "
        "in w: import paddle_launch._takeover as t; t.take_over()\\nexcept (ImportError, OSError): pass\")\n")
FLEETRUN = "fleetrun"
SCRIPT = "#!/bin/sh\n# written by paddle_launch.install()\nexec '{}' -m paddle_launch \"$@\"\n"
MODULES = ("paddle.distributed.launch", "paddle.distributed.fleet.launch")
OFF = "PADDLE_LAUNCH_TAKEOVER"  # "off" in the environment: Paddle's own launcher for once
WITH_VALUE = ("-W", "-X", "--check-hash-based-pycs")


def folders():
    """Where it may lie: for all users of the environment, or for this one."""
    yield sysconfig.get_path("purelib")
    if site.ENABLE_USER_SITE:
        yield site.getusersitepackages()


def fleetrun():
    return os.path.join(sysconfig.get_path("scripts"), FLEETRUN)


def is_our_fleetrun():
    try:
        with open(fleetrun()) as file:
            return file.read() == SCRIPT.format(sys.executable)
    except (OSError, UnicodeDecodeError):
        return False


def write_fleetrun():
    """Where there is none. Its path; empty: there is one, or it cannot be written."""
    try:
        with open(fleetrun(), "x") as file:
            file.write(SCRIPT.format(sys.executable))
        os.chmod(fleetrun(), 0o755)
        return [fleetrun()]
    except OSError:
        return []


def install():
    """The paths of what was written. uninstall() takes it away."""
    tried = []
    for folder in folders():
        path = os.path.join(folder, FILE)
        try:
            os.makedirs(folder, exist_ok=True)
            with open(path, "w") as file:
                file.write(LINE)
            return [path, *write_fleetrun()]
        except OSError as error:
            tried.append(str(error))
    raise PermissionError(f"cannot write {FILE}: {'; '.join(tried)}; use a virtual environment of your own")


def uninstall():
    """The paths of what was taken away."""
    found = [path for path in (os.path.join(folder, FILE) for folder in folders()) if os.path.exists(path)]
    if is_our_fleetrun():
        found.append(fleetrun())
    for path in found:
        os.unlink(path)
    return found


def words_of_launcher(command):
    """What follows `-m paddle.distributed.launch`, or this environment's fleetrun, in the interpreter's command line;
    None: neither was asked for."""
    rest = iter(command[1:])
    for word in rest:
        module = re.fullmatch(r"-[bBdEiIOqsSuvx]*m(.*)", word)
        if module:
            return list(rest) if (module[1] or next(rest, "")) in MODULES else None
        if word not in ("-", "-c") and os.path.abspath(word) == fleetrun():
            return list(rest)
        if not word.startswith("-") or word in ("-", "-c"):
            return None
        if word in WITH_VALUE:
            next(rest, None)
    return None


def take_over():
    """While the interpreter starts: does not return where Paddle's launcher was asked for."""
    with open("/proc/self/cmdline", "rb") as file:
        command = [os.fsdecode(word) for word in file.read().split(b"\0")[:-1]]
    words = words_of_launcher(command)
    if words is None or os.environ.get(OFF) == "off":
        return
    from .__main__ import main  # which may be the program itself that imports this package
    try:
        main(words)
    except SystemExit as error:  # the launcher is not there
        print(f"{error}; Paddle's own launcher is used", file=sys.stderr)
