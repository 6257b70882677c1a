# SPDX-License-Identifier: Apache-2.0
"""python -m paddle_launch …: the launcher, whose trainers run with this interpreter."""

import os
import sys

from ._binary import find_binary

# The launcher's options that take no value. A test compares them with --help=all.
FLAGS = {"-h", "--help", "--version", "--assume_gpus", "--check", "--dry_run", "--legacy_env", "--make_token", "--quiet",
         "--status", "--stop", "--stop_with_parent"}


def needs_interpreter(words):
    """Whether there is a script, and no --python among the launcher's own options before it."""
    rest = iter(words)
    for word in rest:
        name, has_value, _ = word.partition("=")
        name = name[:2] + name[2:].replace("-", "_")
        if name == "--python":
            return False
        if not word.startswith("-") or word in ("-", "--", "-m"):
            return True
        if not has_value and name not in FLAGS:
            next(rest, None)
    return False


def main(words):
    if sys.executable and needs_interpreter(words):
        words = [f"--python={sys.executable}", *words]
    try:
        binary = find_binary()
    except FileNotFoundError as error:
        sys.exit(f"python -m paddle_launch: {error}")
    os.execv(binary, [binary, *words])


if __name__ == "__main__":
    main(sys.argv[1:])
