# SPDX-License-Identifier: Apache-2.0
"""docs/benchmarks.md as tests read it: sections with tables and pictures, and the kept results behind them."""
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "benchmarks"))

from plotting.pictures import pictures_of  # noqa: E402
from plotting.results import read_results  # noqa: E402

PAGE = ROOT / "docs" / "benchmarks.md"
PICTURES = ROOT / "docs" / "pictures"
RESULTS = sorted((ROOT / "benchmarks" / "results").glob("*.json"))
DRAWN_BY_HAND = ["architecture.svg", "life-of-a-job.svg"]


def drawn_pictures():
    return [picture for path in RESULTS for picture in pictures_of(path.stem, read_results(path))]


class Table:
    """Of one section; `pictures` are the names of those that follow it."""

    def __init__(self, lines):
        self.heads, _, *self.rows = [[cell.strip() for cell in line.strip().strip("|").split("|")] for line in lines]
        self.pictures = []

    def row(self, cells):
        return next((row for row in self.rows if row[:len(cells)] == list(cells)), None)


def tables_by_section():
    """{heading: [Table]}; what stands before the first heading is under ""."""
    sections, heading, lines = {"": []}, "", []
    for line in [*PAGE.read_text().splitlines(), ""]:
        if line.startswith("|"):
            lines.append(line)
            continue
        if lines:
            sections[heading].append(Table(lines))
            lines = []
        if line.startswith("## "):
            heading = line.removeprefix("## ")
            sections[heading] = []
        for name in re.findall(r"!\[[^\]]+\]\(pictures/([^)]+)\.svg\)", line):
            sections[heading][-1].pictures.append(name)
    return sections
