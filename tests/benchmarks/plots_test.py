# SPDX-License-Identifier: Apache-2.0
"""The pictures and the tables of docs/benchmarks.md say what the kept results say."""
import json
import pathlib
import re
import tempfile
import unittest
import xml.etree.ElementTree

import benchmarks_page as page
from plotting.drawing import LETTER, draw
from plotting.results import as_text, read_results

SVG = "{http://www.w3.org/2000/svg}"
SIZES = {"title": 15, "name": 13, "small": 11, "value": 11}  # of letters, by class; else 12
# Goals, and a table whose times were taken from traces, by hand.
WITHOUT_RESULTS = {("", 0), ("Schedulers", 2)}


def numbers(cell):
    """The first number of a cell, and the two around '..' if there are any."""
    found = re.search(r"-?\d+(\.\d+)?", cell)
    spread = re.search(r"(-?\d+(?:\.\d+)?)\.\.(-?\d+(?:\.\d+)?)", cell)
    return found and found.group(), spread and spread.groups()


class DrawnPictures(unittest.TestCase):
    def test_are_exactly_what_the_kept_results_give(self):
        drawn = {picture.name + ".svg": draw(picture) for picture in page.drawn_pictures()}
        there = {path.name: path.read_text() for path in page.PICTURES.glob("*.svg") if path.name not in page.DRAWN_BY_HAND}
        self.assertEqual(sorted(there), sorted(drawn))
        for name, text in drawn.items():
            self.assertTrue(text == there[name], f"docs/pictures/{name} is old: run benchmarks/plot.py")

    def test_cut_no_text(self):
        for path in page.PICTURES.glob("*.svg"):
            svg = xml.etree.ElementTree.parse(path).getroot()
            _, _, width, height = map(float, svg.get("viewBox").split())
            for text in svg.iter(SVG + "text"):
                length = len(text.text) * LETTER * SIZES.get(text.get("class"), 12) / 12
                x = float(text.get("x")) - {"middle": length / 2, "end": length}.get(text.get("text-anchor"), 0)
                with self.subTest(path.name, text=text.text):
                    self.assertGreaterEqual(x, 0)
                    self.assertLessEqual(x + length, width)
                    self.assertLess(float(text.get("y")), height)


class EveryPicture(unittest.TestCase):
    def test_can_be_read_by_all(self):
        for path in page.PICTURES.glob("*.svg"):
            with self.subTest(path.name):
                svg = xml.etree.ElementTree.parse(path).getroot()
                self.assertTrue(svg.find(SVG + "title").text)
                self.assertTrue(svg.find(SVG + "desc").text)
                self.assertIn("@media (prefers-color-scheme: dark)", svg.find(SVG + "style").text)

    def test_needs_nothing_from_elsewhere(self):
        for path in page.PICTURES.glob("*.svg"):
            text = path.read_text().replace('xmlns="http://www.w3.org/2000/svg"', "")
            self.assertNotRegex(text, r"href|@import|https?:|url\((?!#)", path.name)

    def test_is_shown_somewhere(self):
        shown = "".join((page.ROOT / name).read_text() for name in ("README.md", "docs/architecture.md", "docs/benchmarks.md"))
        for path in page.PICTURES.glob("*.svg"):
            self.assertIn(f"pictures/{path.name})", shown)


class ThePage(unittest.TestCase):
    def setUp(self):
        self.sections = page.tables_by_section()

    def table(self, picture):
        heading = next(heading for heading in self.sections if heading.startswith(picture.section))
        return self.sections[heading][picture.table]

    def test_has_a_picture_under_each_table_that_has_results(self):
        for picture in page.drawn_pictures():
            self.assertEqual(self.table(picture).pictures, [picture.name])
        known = {(picture.section, picture.table) for picture in page.drawn_pictures()} | WITHOUT_RESULTS
        for heading, tables in self.sections.items():
            for index in range(len(tables)):
                is_known = any(heading.startswith(section) and bool(section) == bool(heading) and index == table
                               for section, table in known)
                self.assertTrue(is_known, f"table {index} of '{heading}' has no picture")

    def test_has_the_medians_and_ranges_of_the_results(self):
        for picture in page.drawn_pictures():
            for panel in picture.panels:
                for group in panel.groups:
                    for bar in group.bars:
                        with self.subTest(picture.name, column=panel.column, group=group.heading, bar=bar.label):
                            self.compare(self.table(picture), panel, group, bar)

    def compare(self, table, panel, group, bar):
        row = table.row([*group.cells, bar.label])
        self.assertIsNotNone(row, "the table has no such row")
        if bar.failed:
            self.assertTrue("failed" in " ".join(row) or row[-1] != "0")
            return
        column = table.heads.index(panel.column)
        middle, spread = numbers(row[column])
        self.same(middle, bar.middle)
        if spread is None and table.heads[column + 1].startswith("min..max"):
            _, spread = numbers(row[column + 1])
        if spread is not None:
            self.same(spread[0], bar.low)
            self.same(spread[1], bar.high)

    def same(self, written, value):
        digits = len(written.partition(".")[2])
        self.assertLessEqual(abs(float(written) - value), 0.501 * 10 ** -digits, f"{written} is not {value}")


class TheReadme(unittest.TestCase):
    def median(self, name, column, label, cells=()):
        picture = next(picture for picture in page.drawn_pictures() if picture.name == name)
        panel = next(panel for panel in picture.panels if panel.column == column)
        return next(bar.middle for group in panel.groups if group.cells == cells for bar in group.bars if bar.label == label)

    def test_quotes_the_page(self):
        english, chinese = ((page.ROOT / name).read_text() for name in ("README.md", "README.zh-CN.md"))
        pause = "without the pause that was asked for: median, ms"
        restart = self.median("next-round", pause, "paddle-launch --ips")
        torchrun = self.median("next-round", pause, "torchrun") / 1000
        ours, paddle = (self.median("first-step", "first step, s", label, ("4",))
                        for label in ("paddle-launch", "paddle.distributed.launch"))
        for quoted in (f"costs {restart:.0f} ms", f"torchrun: {torchrun:.1f} s", f"{ours:.1f} s, and {paddle:.1f} s under"):
            self.assertIn(quoted, english)
        for quoted in (f"{restart:.0f} 毫秒", f"torchrun 为 {torchrun:.1f} 秒", f"{ours:.1f} 秒；用飞桨自带启动器是 {paddle:.1f} 秒"):
            self.assertIn(quoted, chinese)


class KeptResults(unittest.TestCase):
    def test_stay_as_they_are_when_they_are_kept_again(self):
        for path in page.RESULTS:
            self.assertEqual(as_text(read_results(path)), path.read_text(), path.name)

    def test_leave_out_whose_machine_it_was(self):
        run = {"name": "start/hydra/8/iterations:1/repeats:2/manual_time", "run_type": "iteration", "family_index": 3,
               "repetition_index": 0, "real_time": 12.5, "time_unit": "ms", "cpu": 0.25}
        other = {**run, "repetition_index": 1, "error_occurred": True, "error_message": "torn"}
        mean = {**run, "run_type": "aggregate", "name": run["name"] + "_mean"}
        context = {"date": "today", "num_cpus": 2, "load_avg": [0.5, 1, 2], "host_name": "secret", "executable": "/home/me/x"}
        with tempfile.NamedTemporaryFile("w+", suffix=".json") as file:
            json.dump({"context": context, "benchmarks": [other, mean, run]}, file)
            file.flush()
            kept = read_results(pathlib.Path(file.name))
        self.assertEqual(kept, {"machine": {"date": "today", "CPUs": 2, "load before": [0.5, 1, 2]}, "rows": [
            {"case": "start/hydra/8", "seconds": [0.0125], "failures": ["torn"], "cpu": [0.25]}]})
