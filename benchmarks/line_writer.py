#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes argv[1] numbered lines of 100 bytes; line_check.cc knows the same layout."""
import os
import sys


def main():
    names = ("PADDLE_TRAINER_ID", "PMI_RANK", "OMPI_COMM_WORLD_RANK")
    rank = int(next(os.environ[name] for name in names if name in os.environ))
    head = f"rank={rank:03d} seq="
    tail = " " + "x" * 77 + "\n"
    write = sys.stdout.write
    for sequence in range(int(sys.argv[1])):
        write(f"{head}{sequence:08d}{tail}")


main()
