#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""All that the program can say to a person, in one list: python3 tests/messages/messages.py [ROOM…], a room as in launcher/cli

Every text of two words in the sources is a message, or a part of one, unless not_messages.py says why it is none: so a
new message cannot hide."""

import os
import re
import signal
import sys
from typing import NamedTuple

from not_messages import NO_MESSAGES_IN, READ_BY_PROGRAMS, TAKES_NO_MESSAGE, WORDS_OF_PADDLE
from texts_of_c import texts_of_c
from texts_of_python import texts_of_python

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
SOURCES = ("launcher", "spawn", "plugin", "python/paddle_launch")
READERS = {".cc": texts_of_c, ".h": texts_of_c, ".c": texts_of_c, ".py": texts_of_python}

# Who says it, by the end of the call's name. What stands in none of these is a part of a message.
SPEAKERS = {
    "wrong use": ("UsageError", "ValueError", "TypeError", "CardsError", "AssertionError"),
    "error": ("LaunchError", "NodeMissing", "SpawnError", "StoppedBySignal", "voice.error", "RuntimeError",
              "FileNotFoundError", "PicklingError", "EOFError", "settings_.error"),
    "reason": ("std::runtime_error", "std::system_error", "fail", "give_up", "HubLost", "refuse", "refused",
               "refuse_together", "refuse_alone", "refuse_endpoint", "refuse_port"),
    "warning": ("voice.warning", "warnings.push_back", "warnings.emplace_back", "warn", "warnings.warn"),
    "note": ("voice.info", "notices.push_back", "notices.emplace_back", "remark", "NoLongerNeeded", "observer_.on_progress"),
    "console": ("fprintf", "fputs", "write_to_stderr_patiently", "print", "stderr.write", "sys.exit"),
}


class Message(NamedTuple):
    path: str
    line: int
    kind: str  # of SPEAKERS, "part", or "Paddle's"
    text: str

    def room(self):
        return os.path.dirname(self.path)

    def where(self):
        return f"{self.path}:{self.line}"


def is_text_for_people(text):
    """Two words, or one that is set off by a blank: names, keys and protocol words have none."""
    return " " in text and re.search(r"[A-Za-z]{2}|\bs\b", re.sub(r"\{[^}]*\}|%[-\d.*]*[a-z]+|\\x1b\[\w+", "", text))


def kind_of(text):
    calls = list(text.calls)
    if calls and calls[0].endswith(("fmt::format", "fprintf")) and not text.is_first:
        return "part"
    if calls and calls[0] == "fmt::format":
        calls.pop(0)
    for kind, names in SPEAKERS.items():
        if calls and calls[0].endswith(names):
            return kind
    return "part"


def source_files():
    for folder in SOURCES:
        for directory, _, names in sorted(os.walk(os.path.join(ROOT, folder))):
            for name in sorted(names):
                if os.path.splitext(name)[1] in READERS:
                    yield os.path.relpath(os.path.join(directory, name), ROOT)


def all_messages(used=None):
    """`used` collects the entries of not_messages.py that were needed."""
    used = set() if used is None else used
    for path in source_files():
        if path in NO_MESSAGES_IN:
            used.add(path)
            continue
        with open(os.path.join(ROOT, path), encoding="utf-8") as file:
            texts = READERS[os.path.splitext(path)[1]](file.read())
        for text in texts:
            kind = kind_of(text)
            if not is_text_for_people(text.text) and (kind in ("part", "reason") or not text.is_first):
                continue
            reader = next((call for call in text.calls if call.split(".")[-1] in TAKES_NO_MESSAGE), None)
            if reader or (path, text.text) in READ_BY_PROGRAMS:
                used.add(reader.split(".")[-1] if reader else (path, text.text))
                continue
            of_paddle = next((words for words in WORDS_OF_PADDLE if words in text.text), None)
            used.add(of_paddle)
            yield Message(path, text.line, "Paddle's" if of_paddle else kind, text.text)


def main(rooms):
    messages = [message for message in all_messages() if not rooms or message.room() in rooms]
    last = None
    for message in messages:
        if message.room() != last:
            last = message.room()
            print(f"\n{last}/")
        text = message.text.replace("\n", "\\n")
        print(f"  {os.path.basename(message.path)}:{message.line}  [{message.kind}]  {text}")
    count = {}
    for message in messages:
        count[message.kind] = count.get(message.kind, 0) + 1
    print(f"\n{len(messages)} texts: " + ", ".join(f"{number} {kind}" for kind, number in sorted(count.items())))


if __name__ == "__main__":
    signal.signal(signal.SIGPIPE, signal.SIG_DFL)  # a pager that is left
    main({room.rstrip("/") for room in sys.argv[1:]})
