# SPDX-License-Identifier: Apache-2.0
"""Draws a picture as SVG: text stays text, and the colours follow the reader's choice of light or dark."""
from xml.sax.saxutils import escape

from plotting.chart import OURS, PEER, YARDSTICK, Scale

WIDTH, MARGIN = 760, 16
ROW, BAR = 20, 13
ROOM_FOR_NUMBER = 86  # right of the longest whisker
LETTER = 6.7  # the width of one, at most, at 12 px: nobody measures text here
LEGEND = {OURS: "paddle-launch", PEER: "peers", YARDSTICK: "yardstick: the least there is to do"}
# Blue, orange and grey also differ for those who do not see red or green. The paper is painted: a page may be dark
# where the reader's system is light.
STYLE = """\
text { font: 12px sans-serif; fill: #1f2328 }
.title { font-size: 15px; font-weight: bold }
.head { font-weight: bold }
.soft { fill: #57606a }
.number { paint-order: stroke; stroke: #ffffff; stroke-width: 3px }
.paper { fill: #ffffff }
.ours { fill: #0072b2 } .peer { fill: #e69f00 } .yardstick { fill: #9aa4ae }
.grid { stroke: #d8dee4 } .base { stroke: #57606a } .goal { stroke: #1f2328; stroke-dasharray: 5 3 }
.whisker { stroke: #1f2328; fill: none }
@media (prefers-color-scheme: dark) {
  text { fill: #e6edf3 }
  .soft { fill: #9da7b3 }
  .number { stroke: #0d1117 }
  .paper { fill: #0d1117 }
  .ours { fill: #56b4e9 } .peer { fill: #c98a00 } .yardstick { fill: #6e7781 }
  .grid { stroke: #30363d } .base { stroke: #9da7b3 } .goal { stroke: #e6edf3 }
  .whisker { stroke: #e6edf3 }
}"""


class Sheet:
    """Lines of SVG, from the top down; `y` is where the next thing goes."""

    def __init__(self, labels):
        self.lines = []
        self.numbers = []  # of a panel: over its lines, goal and all
        self.y = MARGIN
        self.left = MARGIN + round(max(map(len, labels)) * LETTER) + 10
        self.right = WIDTH - MARGIN - ROOM_FOR_NUMBER

    def x(self, place):
        return self.left + place * (self.right - self.left)

    def write(self, *words, **place):
        self.lines.append(self.text(*words, **place))

    def text(self, x, words, style="", anchor="", above=0):
        style = f' class="{style}"' if style else ""
        anchor = f' text-anchor="{anchor}"' if anchor else ""
        return f'<text x="{x:.1f}" y="{self.y - above:.1f}"{style}{anchor}>{escape(words)}</text>'

    def line(self, style, x, top, bottom):
        self.lines.append(f'<path class="{style}" d="M{x:.1f} {top:.1f}V{bottom:.1f}"/>')

    def box(self, style, x, y, width, height):
        self.lines.append(
            f'<rect class="{style}" x="{x:.1f}" y="{y:.1f}" width="{width:.1f}" height="{height:.1f}"/>')


def number(value, digits):
    return f"{round(value, digits) + 0.0:.{digits}f}"  # the sum makes 0 of -0


def draw(picture):
    groups = [group for panel in picture.panels for group in panel.groups]
    sheet = Sheet([group.heading for group in groups] + [one.label for group in groups for one in group.bars])
    draw_heading(sheet, picture)
    for panel in picture.panels:
        draw_panel(sheet, panel)
    head = (f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {sheet.y:.0f}" width="{WIDTH}" '
            f'height="{sheet.y:.0f}" role="img" aria-labelledby="title desc">')
    return "\n".join([head, f'<title id="title">{escape(picture.title)}</title>',
                      f'<desc id="desc">{escape(in_words(picture))}</desc>', f"<style>\n{STYLE}\n</style>",
                      '<rect class="paper" width="100%" height="100%"/>', *sheet.lines, "</svg>", ""])


def draw_heading(sheet, picture):
    sheet.y += 12
    sheet.write(MARGIN, picture.title, "title")
    for note in picture.notes:
        sheet.y += 18
        sheet.write(MARGIN, note, "soft")
    sheet.y += 20
    x = MARGIN
    kinds = {one.kind for panel in picture.panels for one in panel.bars()}
    for kind, words in LEGEND.items():
        if kind not in kinds:
            continue
        sheet.box(kind, x, sheet.y - 10, 11, 11)
        sheet.write(x + 16, words)
        x += 16 + len(words) * LETTER + 14
    runs = sorted({one.runs for panel in picture.panels for one in panel.bars()})
    counted = " to ".join(str(count) for count in sorted({*runs[:1], *runs[-1:]}))
    if runs:
        sheet.write(x, f"bar: {picture.middle} of {counted}, whisker: {picture.whiskers}", "soft")
    sheet.y += 8


def draw_panel(sheet, panel):
    scale = Scale(panel)
    sheet.y += 22
    kind_of_scale = ", log scale" if scale.is_log else ""
    goal = f"; dashed: the goal, {panel.goal:g} {panel.unit}" if panel.goal else ""
    sheet.write(MARGIN, f"{panel.name}{kind_of_scale}{goal}", "head")
    top = sheet.y + 8
    bottom = top + sum(len(group.bars) * ROW + (ROW if group.heading else 6) for group in panel.groups)
    for tick in scale.ticks:
        sheet.line("base" if scale.place(tick) == scale.base else "grid", sheet.x(scale.place(tick)), top, bottom)
    sheet.y = top
    for group in panel.groups:
        draw_group(sheet, panel, group, scale)
    if panel.goal:
        sheet.line("goal", sheet.x(scale.place(panel.goal)), top, bottom)
    sheet.lines += sheet.numbers
    sheet.numbers = []
    sheet.y = bottom + 15
    for tick in scale.ticks:
        sheet.write(sheet.x(scale.place(tick)), f"{tick:g}", "soft", "middle")
    sheet.y += 8


def draw_group(sheet, panel, group, scale):
    if group.heading:
        sheet.y += ROW
        sheet.write(MARGIN, group.heading, "soft", above=5)
    else:
        sheet.y += 6
    for one in group.bars:
        sheet.y += ROW
        draw_bar(sheet, panel, one, scale)


def draw_bar(sheet, panel, one, scale):
    middle = sheet.y - ROW / 2
    sheet.write(sheet.left - 8, one.label, "", "end", above=6)
    if one.failed:
        sheet.write(sheet.left + 6, f"failed, {one.failed} of {one.runs}", "head", above=6)
        return
    ends = sorted([sheet.x(scale.base), sheet.x(scale.place(one.middle))])
    sheet.box(one.kind, ends[0], middle - BAR / 2, max(ends[1] - ends[0], 1), BAR)
    low, high = sheet.x(scale.place(one.low)), sheet.x(scale.place(one.high))
    sheet.lines.append(f'<path class="whisker" d="M{low:.1f} {middle - 3:.1f}v6m0 -3H{high:.1f}m0 -3v6"/>')
    words = f"{number(one.middle, panel.digits)} {panel.short_unit or panel.unit}".rstrip()
    sheet.numbers.append(sheet.text(max(high, ends[1]) + 6, words, "number", above=6))


def in_words(picture):
    """All numbers once more, for those who hear the picture."""
    parts = []
    for panel in picture.panels:
        for group in panel.groups:
            told = "; ".join(f"{one.label}: {'failed' if one.failed else number(one.middle, panel.digits)}"
                             for one in group.bars)
            parts.append(f"{panel.name}{', ' + group.heading if group.heading else ''}: {told}.")
    return " ".join([*picture.notes, *parts])
