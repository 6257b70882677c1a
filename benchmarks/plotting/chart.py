# SPDX-License-Identifier: Apache-2.0
"""What a picture shows, before it is drawn: panels with groups of bars, and the cells of the table that hold the same."""
from dataclasses import dataclass, field
import math
import statistics

OURS, PEER, YARDSTICK = "ours", "peer", "yardstick"
YARDSTICKS = ("bare loop", "plain files", "bare connects", "/bin/true")
LOG_SCALE_FROM = 20  # times the shortest bar: with more, it could not be seen beside the longest whisker


@dataclass(frozen=True)
class Bar:
    label: str
    middle: float = 0
    low: float = 0
    high: float = 0
    runs: int = 0
    failed: int = 0
    is_ours: bool = False  # although its label does not say so

    @property
    def kind(self):
        if self.is_ours or self.label.startswith("paddle-launch"):
            return OURS
        return YARDSTICK if self.label in YARDSTICKS else PEER


def bar(label, values, failures=()):
    """A subject that failed once has no number, as in the tables."""
    if failures or not values:
        return Bar(label, runs=len(values) + len(failures), failed=len(failures))
    return Bar(label, statistics.median(values), min(values), max(values), len(values))


@dataclass(frozen=True)
class Group:
    cells: tuple  # what the first cells of its rows in the table say
    heading: str
    bars: list


@dataclass(frozen=True)
class Panel:
    heading: str
    column: str  # of the table
    unit: str
    digits: int
    groups: list
    goal: float = None  # a line where it lies
    short_unit: str = ""  # at each bar, where `unit` is too long for that

    @property
    def name(self):
        return f"{self.heading}, {self.unit}" if self.unit else self.heading

    def bars(self):
        return [one for group in self.groups for one in group.bars if not one.failed]


@dataclass(frozen=True)
class Picture:
    name: str
    section: str  # how the heading in docs/benchmarks.md begins
    table: int  # which table of the section
    title: str  # says what is better
    panels: list
    notes: list = field(default_factory=list)
    middle: str = "median"
    whiskers: str = "min to max"


class Scale:
    """From a panel's values to the place on its axis, 0 to 1."""

    def __init__(self, panel):
        bars = panel.bars()
        tops, bottoms = [one.high for one in bars], [one.low for one in bars]
        self.is_log = bool(bars) and min(bottoms) > 0 and max(tops) > LOG_SCALE_FROM * min(
            one.middle for one in bars)
        tops += [panel.goal] if panel.goal else []
        if self.is_log:
            self.ticks = decades(min(bottoms) / 1.1, max(tops))
        else:
            self.ticks = steps(min([0, *bottoms]), max([0, *tops]))
        ends = [self.along(self.ticks[0]), self.along(max([self.ticks[-1], *tops]))]
        self.start, self.length = ends[0], ends[1] - ends[0]

    def along(self, value):
        return math.log10(value) if self.is_log else value

    def place(self, value):
        return (self.along(value) - self.start) / self.length

    @property
    def base(self):
        """Where bars begin."""
        return 0 if self.is_log else self.place(0)


def decades(low, high):
    """1, 2, 5, 10 … or, where these are many, 1, 10, 100 …: one below both, and no more than are needed."""
    powers = range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)
    few = math.log10(high / low) < 2.5
    all_ticks = [factor * 10.0 ** power for power in powers for factor in ((1, 2, 5) if few else (1,))]
    first = max(tick for tick in all_ticks if tick <= low)
    return [tick for tick in all_ticks if first <= tick <= high]


def steps(low, high):
    """Four to eight round numbers around both."""
    high = high if high > low else low + 1  # nothing but zeros, or no bar at all
    rough = (high - low) / 5
    power = 10.0 ** math.floor(math.log10(rough))
    step = next(factor * power for factor in (1, 2, 5, 10) if factor * power >= rough)
    return [step * number for number in range(math.floor(low / step), math.ceil(high / step) + 1)]
