# SPDX-License-Identifier: Apache-2.0
"""The voice of the messages, as far as a machine can hear it. CONTRIBUTING.md says the same in three lines."""

import re

# Who may stand first with a capital letter: names, and words that have several capitals.
NAMES = re.compile(r"(Slurm|Gloo|Rounds of this job)\b|[A-Z]\w*[A-Z_]")
UNWANTED = {
    r"\bplease\b|\bsorry\b|(?<!#)!": "no courtesy and no exclamation: say what is so",
    r"\binvalid\b|\billegal\b|\bunable\b|\bfailed to\b|\bbad\b": "say what is wrong with it, not that it is wrong",
    r"\bcan not\b|\b(ca|do|does|is|could|wo)n't\b": "cannot, do not, does not: in full",
    r"\be\.g\.|\bi\.e\.|\betc\.": "no abbreviations",
    r"\b(recogniz|color|behavior|neighbor|initializ|synchroniz)": "British spelling",
    r'"': "'…' around a value, `…` around a command that one types",
    r"\.\.\.": "…, not three dots",
    r"\bleave away\b|\bleave (--\S+|\{\w*\}) out\b": "leave out --option",
    r"(?<![\w-])--(?!prefix)[a-z_]+ \{|(?-i:\b[A-Z]+_[A-Z_]+) \{": "--option={} and VARIABLE={}, as they are typed",
    r"(\b\d+|\{\})(s|ms|min|h|KiB|MiB)\b": "a blank between a number and its unit",
}
COLUMNS = ("launcher/tell/",)  # tables and the report line their texts up
# What can be done begins with one of these verbs, or is put in by the caller.
REMEDY = re.compile(
    r"(?:^|[;:,.] |\(|\bor |\band )(?:or |and |to |\{\})?(?:add|ask|call|change|check|choose|correct|end|free|give|"
    r"install|leave|let|look|make|name|put|raise|return|run|say|see|set|shorten|split|start|stop|try|unset|use|"
    r"write)\b|"
    r"(?:; \{\}|, and \{\}|; \{\} or \{\}|; \{\}\{\})$", re.IGNORECASE)


def _is_one_sentence(text):
    return not re.search(r"[.?] [A-Z{-]|\n[A-Z]", text.rstrip())


def _sentence_faults(message):
    text = message.text.strip()
    if re.match(r"[A-Z]", text) and not NAMES.match(text):
        yield "begins in lower case, but for names"
    if text.endswith(".") and _is_one_sentence(text):
        yield "one sentence has no full stop"
    if not text.endswith((".", ":", "{}", "?")) and re.search(r"\. [A-Z]", text) and message.kind != "part":
        yield "the last of several sentences has a full stop"


def _blank_faults(message):
    if "  " in message.text.strip() and not message.path.startswith(COLUMNS):
        yield "one blank between words"
    if message.kind != "part" and message.text.rstrip("\n") != message.text.rstrip("\n").strip(" "):
        yield "no blank at the ends"


def faults_of(message, without_remedy=()):
    if message.kind == "Paddle's":
        return
    for pattern, why in UNWANTED.items():
        if re.search(pattern, message.text, re.IGNORECASE):
            yield why
    yield from _sentence_faults(message)
    yield from _blank_faults(message)
    is_error = message.kind in ("wrong use", "error") and message.text not in without_remedy
    if is_error and not REMEDY.search(message.text):
        yield "says what to do; if nobody knows, NO_REMEDY of not_messages.py says why"
