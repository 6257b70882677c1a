# SPDX-License-Identifier: Apache-2.0
"""What the benchmark programs in Python share around the measuring: options, facts about the machine, the result."""
import argparse
import os
import pathlib
import subprocess

from plotting.pictures import write_pictures
from plotting.results import as_text, rounded


def option_parser(doc, repetitions=15):
    """The options that all of them have; `doc` is the program's own words about itself."""
    parser = argparse.ArgumentParser(description=doc.splitlines()[0])
    parser.add_argument("--paddle_launch", required=True, type=os.path.abspath, metavar="PATH")
    parser.add_argument("--repetitions", type=int, default=repetitions, metavar="N")
    parser.add_argument("--json", metavar="FILE", help="all single times, into this file")
    parser.add_argument("--plot", metavar="DIR", help="pictures of the result, into this folder")
    return parser


def machine_facts(launcher, **others):
    return {"CPU": cpu(), "kernel": os.uname().release, "paddle-launch": first_line(launcher, "--version"), **others,
            "load before": load()}


def report(options, name, facts, table, **result):
    """Facts and table for people, single times for programs, pictures for both."""
    facts["load after"] = load()
    print("\n".join(f"- {fact}: {value}" for fact, value in facts.items()), end="\n\n")
    print(table)
    document = rounded({"machine": facts, **result})
    if options.json:
        file = pathlib.Path(options.json)
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(as_text(document))
    if options.plot:
        write_pictures(name, document, options.plot)


def load():
    return f"{os.getloadavg()[0]:.1f}"


def first_line(*words):
    done = subprocess.run(words, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    return done.stdout.splitlines()[0] if done.stdout else "unknown"


def cpu():
    name = next((line.split(":")[1].strip() for line in open("/proc/cpuinfo") if line.startswith("model name")), "?")
    return f"{os.cpu_count()} × {name}"
