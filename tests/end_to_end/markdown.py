# SPDX-License-Identifier: Apache-2.0
"""Pages in Markdown, as far as the pages of this repository use it: sections, blocks, tables, links, and what a reader is
asked to type."""

import collections
import re

BLOCK = re.compile(r"(?ms)^```(\w*)\n(.*?)^```\n")
COMMENT = re.compile(r"(?m)(?:^|\s+)#\s.*$")
SPAN = re.compile(r"`([^`]+)`")
LINK = re.compile(r"""(?:\]\(|\b(?:src|srcset|href)=")([^)"\s]+)[)"]""")
GAP = ("...", "…")  # a line of a recording: something is left out here

Block = collections.namedtuple("Block", "language text")
Section = collections.namedtuple("Section", "level title blocks prose")


def sections(text):
    """[Section] in the page's order; `prose` is what is not in blocks, without the heading."""
    blocks = []

    def put_aside(found):
        blocks.append(Block(*found.groups()))
        return f"\0{len(blocks) - 1}\0\n"

    found = []
    for part in re.split(r"(?m)^(?=#+ )", BLOCK.sub(put_aside, text)):
        heading, _, prose = part.partition("\n")
        if not heading.startswith("#"):
            heading, prose = "", part
        own = [blocks[int(number)] for number in re.findall(r"\0(\d+)\0", prose)]
        marks, _, title = heading.partition(" ")
        found.append(Section(len(marks), title, own, re.sub(r"\0\d+\0\n", "", prose)))
    return [section for section in found if section.title or section.prose.strip()]


def commands(block):
    """Of a block of sh: one a line, without comments; a line that ends with a backslash goes on."""
    lines = COMMENT.sub("", block.replace("\\\n", " ")).splitlines()
    return [re.sub(r"(?<=\S) +", " ", line.strip()) for line in lines if line.strip()]


def typed(text):
    """Every command that the page asks to type, in its order and once: those of its sh blocks, and code within sentences
    that has several words and does not begin with an option, or begins with ./."""
    found = []
    for section in sections(text):
        for block in section.blocks:
            found += commands(block.text) if block.language == "sh" else []
        found += [span for span in spans(section.prose)
                  if span.startswith("./") or " " in span and not span.startswith("-")]
    return list(dict.fromkeys(found))


def spans(prose):
    """Code within sentences, also where it is broken over two lines."""
    return [" ".join(span.split()) for span in SPAN.findall(prose)]


def links(prose):
    return LINK.findall(prose)


def tables(prose):
    """[[cells of a row] of a table]; without the line below the heading."""
    found = []
    for rows in re.findall(r"(?m)(?:^\|.*\|\n)+", prose + "\n"):
        cells = [[cell.strip() for cell in row.strip().strip("|").split("|")] for row in rows.splitlines()]
        found.append([row for row in cells if not all(set(cell) <= set("-:") for cell in row)])
    return found


def anchors(text):
    """The names that links may have after #, as GitHub makes them of headings."""
    found = collections.Counter()
    names = set()
    for section in sections(text):
        title = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", section.title).replace("`", "")
        name = re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-")
        names.add(f"{name}-{found[name]}" if found[name] else name)
        found[name] += 1
    return names


def recorded(text, changing):
    """A pattern for what a page shows of a run. A line that begins and ends with dots stands for any lines. `changing` are
    patterns of what differs from run to run: where the page has text that matches one, any such text will do."""
    varying = re.compile("|".join(f"({pattern})" for pattern in changing))
    lines = []
    for line in text.splitlines():
        if line.strip().startswith(GAP) and line.strip().endswith(GAP):
            lines.append(r"(?:.*\n)*?")
            continue
        parts, end = [], 0
        for found in varying.finditer(line):
            parts += [re.escape(line[end:found.start()]), f"(?:{changing[found.lastindex - 1]})"]
            end = found.end()
        lines.append("".join(parts) + re.escape(line[end:]) + r" *\n")
    return re.compile("(?m)^" + "".join(lines))
