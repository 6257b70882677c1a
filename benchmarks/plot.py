#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Draws the pictures of docs/benchmarks.md from the JSON of the benchmark programs; needs nothing but Python.

plot.py [--keep] [--into docs/pictures] [FILE...]

A FILE is the --json of a program in Python, under that program's name (first_step.json), or launch_benchmark's of one
section (start.json); a folder stands for all such files in it. Without any, the results that are kept in
benchmarks/results are drawn again. --keep puts the FILEs there first, without what they say about whose machine it was.
"""
import argparse
import pathlib

from plotting.pictures import write_pictures
from plotting.results import as_text, read_results

ROOT = pathlib.Path(__file__).resolve().parent.parent
KEPT = ROOT / "benchmarks" / "results"


def all_files(given):
    return [file for path in given for file in (sorted(path.glob("*.json")) if path.is_dir() else [path])]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("files", nargs="*", type=pathlib.Path, metavar="FILE")
    parser.add_argument("--into", type=pathlib.Path, default=ROOT / "docs" / "pictures", metavar="DIR")
    parser.add_argument("--keep", action="store_true", help="also put the results into benchmarks/results")
    options = parser.parse_args()
    for path in all_files(options.files or [KEPT]):
        document = read_results(path)
        if options.keep:
            (KEPT / path.name).write_text(as_text(document))
        for picture in write_pictures(path.stem, document, options.into):
            print(picture)


if __name__ == "__main__":
    main()
