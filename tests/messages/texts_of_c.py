# SPDX-License-Identifier: Apache-2.0
"""Every text of a C or C++ file, and the call in which it stands. Read word by word, without a compiler: literals that
are written one after the other, or are joined with +, are one text, and {} stands for what is not known here."""

import re
from typing import NamedTuple

WORDS = re.compile(r"""
  (?P<skip>   //[^\n]* | /\*.*?\*/ | \s+ | ^[ \t]*\#(?:\\\n|[^\n])* )
| (?P<raw>    R"(?P<fence>[^(\s]*)\((?P<inside>.*?)\)(?P=fence)" )
| (?P<text>   (?:u8)?"(?:\\.|[^"\\\n])*" )
| (?P<letter> '(?:\\.|[^'\\\n])+' )
| (?P<number> \d[\w'.]* )
| (?P<name>   [A-Za-z_]\w* )
| (?P<sign>   ::|->|\+=|\+\+|&&|\|\||. )
""", re.VERBOSE | re.DOTALL | re.MULTILINE)
ESCAPES = {r"\n": "\n", r"\t": "\t", r"\"": '"', r"\\": "\\"}
CLOSING = {")": "(", "]": "[", "}": "{"}
ENDS_OPERAND = {",", ";", "?", ":", "&&", "||", "+="}


class Word(NamedTuple):
    kind: str  # "text", "name", "sign", …
    word: str  # without quotes
    line: int


class Text(NamedTuple):
    line: int
    text: str
    calls: tuple  # from the innermost call to the outermost, within one block: ("fmt::format", "UsageError")
    is_first: bool  # argument of the innermost call


def _words(source):
    line = 1
    for match in WORDS.finditer(source):
        kind, word = match.lastgroup, match.group()
        if match.group("raw"):
            yield Word("text", match.group("inside"), line)
        elif kind == "text":
            inside = word[word.index('"') + 1:-1]
            yield Word("text", re.sub(r"\\.", lambda escape: ESCAPES.get(escape.group(), escape.group()), inside), line)
        elif kind != "skip":
            yield Word(kind, word, line)
        line += word.count("\n")


def _is_macro(word):
    return word.kind == "name" and re.fullmatch(r"[A-Z][A-Z0-9_]+", word.word)


def _adjacent_joined(words):
    """"a" "b" and MACRO "b" as one text, std::string("a") as "a"."""
    joined = []
    for word in words:
        last = joined[-1] if joined else None
        if word.kind == "text" and last and (last.kind == "text" or _is_macro(last)):
            joined[-1] = Word("text", (last.word if last.kind == "text" else "{}") + word.word, last.line)
        elif _is_macro(word) and last and last.kind == "text":
            joined[-1] = last._replace(word=last.word + "{}")
        elif word.word == ")" and [one.word for one in joined[-5:-1]] == ["std", "::", "string", "("] \
                and last.kind == "text":
            joined[-5:] = [last]
        else:
            joined.append(word)
    return joined


def _operand_end(words, start):
    """Where the operand of + that begins at start ends."""
    depth = 0
    for at in range(start, len(words)):
        word = words[at]
        if word.kind != "sign":
            continue
        if word.word in CLOSING.values():
            depth += 1
        elif word.word in CLOSING:
            if depth == 0:
                return at
            depth -= 1
        elif depth == 0 and (word.word == "+" or word.word in ENDS_OPERAND):
            return at
    return len(words)


def _sum(words, at):
    """The text at `at` with all that is added to it, and the places of the texts that it contains."""
    text = ("{}" if at and words[at - 1] == ("sign", "+", words[at - 1].line) else "") + words[at].word
    used, end = {at}, at + 1
    while end < len(words) and words[end].kind == "sign" and words[end].word == "+":
        start, end = end + 1, _operand_end(words, end + 1)
        if end == start + 1 and words[start].kind == "text":
            text += words[start].word
            used.add(start)
        else:
            text += "{}"
    return text, used


def _callee(words, bracket):
    """The name before a bracket: voice.error, std::runtime_error; "" where a block or a list begins."""
    at = bracket
    while at and (words[at - 1].kind == "name" or words[at - 1].word in ("::", ".", "->")):
        if at < bracket and words[at - 1].kind == "name" and words[at].kind == "name":
            break  # "throw UsageError(", "return fmt::format("
        at -= 1
    return "".join(word.word for word in words[at:bracket]).lstrip(".")


def texts_of_c(source):
    words = _adjacent_joined(_words(source))
    open_calls, used = [], set()
    for at, word in enumerate(words):
        if word.kind == "sign" and word.word in CLOSING.values():
            open_calls.append(_callee(words, at) if word.word == "(" else "{" if word.word == "{" else "")
        elif word.kind == "sign" and word.word in CLOSING and open_calls:
            open_calls.pop()
        elif word.kind == "text" and at not in used:
            text, places = _sum(words, at)
            used |= places
            block = len(open_calls) - open_calls[::-1].index("{") if "{" in open_calls else 0
            calls = tuple(call for call in reversed(open_calls[block:]) if call)
            before = "".join(one.word for one in words[max(0, at - 3):at])
            yield Text(word.line, text, calls, before.endswith(("(", "stderr,")))
