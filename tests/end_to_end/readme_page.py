# SPDX-License-Identifier: Apache-2.0
"""The READMEs, each with the page for the first days behind it, as tests use them: a test takes its commands out of their
text with @runs, and tests/readme/commands_test fails where a command of theirs is in no test."""

import functools
import os
import pathlib
import re

import markdown

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
EXAMPLES = ROOT / "examples"
GOES_ON = {"README.md": "docs/getting-started.md", "README.zh-CN.md": "docs/getting-started.zh-CN.md"}
READMES = {name: "".join((ROOT / page).read_text(encoding="utf-8") for page in (name, more)) for name, more in GOES_ON.items()}
TYPED = {command for text in READMES.values() for command in markdown.typed(text)}

FOUND = "found [+2.999, -1.999, +0.500, +1.000]"  # by examples/linear_regression.py with four trainers

# What differs from run to run in a recording.
MOMENT = r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d,\d{3}"
SECONDS = r"\b\d+(?:\.\d)? s\b *"  # with what fills its column
PORT = r"(?<=\d\.\d):\d{4,5}\b"
CUT_LIST = r"(?<=  )\.\.\. \S+"  # the end of a list that is too long for its column
PID = r"(?<=  pid) +\d+"
NODE = r"(?<=  node) +\S+(?= \()"
LOG_FOLDER = r"(?:(?<=  log)      |(?<=; log)) \S+(?=/workerlog)"
FOLDER = r"(?<=File \")[^\"]+(?=/)"
# Who complains of a lost neighbour and ends before it is stopped.
OTHERS = (r"(?<=rank=\[)[\d,]+",)
CHANGING = (MOMENT, SECONDS, PORT, CUT_LIST, PID, NODE, LOG_FOLDER, FOLDER)

run_here = {}  # {command: the test that types it}, of all modules that were imported


def runs(*commands):
    """The test that is decorated types these commands of the READMEs, and gets them as its arguments."""
    def mark(test):
        run_here.update(dict.fromkeys(commands, test.__qualname__))

        @functools.wraps(test)
        def with_commands(case):
            for command in commands:
                case.assertIn(command, TYPED, "no README has this command any more")
            return test(case, *commands)
        return with_commands
    return mark


def section(title, name="README.md"):
    """The section of that heading."""
    return next(found for found in markdown.sections(READMES[name]) if found.title == title)


def shown_in(title, number=0):
    """The pattern of a recording below that heading: the block of that number among those without a language."""
    return markdown.recorded(recordings(title)[number], CHANGING)


def recordings(title):
    return [block.text for block in section(title).blocks if not block.language]


def fake_cards(count):
    """Variables that give this machine so many cards: those of tests/fakes/fake_nvml.cc, which is no driver."""
    library = os.environ.get("FAKE_NVML_LIBRARY")
    if not library or not os.path.exists(library):
        raise RuntimeError(f"FAKE_NVML_LIBRARY must name the library made of tests/fakes/fake_nvml.cc; it is {library!r}")
    return {"PADDLE_LAUNCH_NVML_LIBRARY": os.path.abspath(library), "FAKE_NVML_CARDS": str(count)}


def without_echo(text):
    """Before the ABORT line the console may have what rank 0 said when it lost its neighbours, whole or in part. The
    report then says who ended for that reason, and who had to be stopped."""
    before, line, after = text.partition("ABORT!!!")
    before = re.sub(r"(?m)^(?:Traceback .*|  .*|\w+Error: .*)\n|; stopping \d others?(?=$)", "", before)
    return before + line + re.sub(r"(?m)^  (?:also|stopped) .*\n", "", after)
