# SPDX-License-Identifier: Apache-2.0
"""README.md and README.zh-CN.md say the same, and so do the pages that have a twin, section by section: headings, commands,
recordings, tables, code, links and figures. A comment, a sentence and a drawing may be translated."""

import collections
import pathlib
import re
import unittest

import markdown

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
CHINESE = re.compile(r"[\u3000-\u303f\u4e00-\u9fff\uff00-\uffef]")
FIGURE = re.compile(r"\d+(?:[.:]\d+)*")
ASCII_WORD = re.compile(r"[A-Za-z][\w./-]+")
# Pictures and pages have a twin in the other language.
TWIN = re.compile(r"[.-]zh(-CN)?(?=\.)")


PAGES = ("README", "docs/getting-started")


def read(name):
    return markdown.sections((ROOT / name).read_text(encoding="utf-8"))


def outline(block):
    """What both languages must have in common."""
    return markdown.commands(block.text) if block.language == "sh" else block.text


def first_column(table):
    """Figures and codes as they are; words are translated."""
    return ["words" if CHINESE.search(row[0]) or re.search("[a-z]{3}", row[0]) else row[0] for row in
            ([cell.replace("、", ", ") for cell in row] for row in table[1:])]


def plain(prose):
    """Without what is compared by itself."""
    return markdown.LINK.sub("", markdown.SPAN.sub("", prose))


class LanguagesTest(unittest.TestCase):
    maxDiff = None

    @classmethod
    def setUpClass(cls):
        cls.pairs = [pair for page in PAGES for pair in zip(read(f"{page}.md"), read(f"{page}.zh-CN.md"))]

    def each(self, look):
        for english, chinese in self.pairs:
            with self.subTest(english.title):
                self.assertEqual(look(chinese), look(english))

    def test_headings(self):
        for page in PAGES:
            levels = [[section.level for section in read(page + end)] for end in (".md", ".zh-CN.md")]
            self.assertEqual(levels[1], levels[0], page)
        twins = [*ROOT.glob("*.zh-CN.md"), *ROOT.glob("docs/*.zh-CN.md")]
        self.assertEqual(sorted(str(twin.relative_to(ROOT)) for twin in twins), [f"{page}.zh-CN.md" for page in PAGES])

    def test_blocks(self):
        for english, chinese in self.pairs:
            with self.subTest(english.title):
                self.assertEqual([block.language for block in chinese.blocks],
                                 [block.language for block in english.blocks])
                for ours, theirs in zip(english.blocks, chinese.blocks):
                    if CHINESE.search(theirs.text) and theirs.language != "sh":
                        self.assert_same_drawing(ours.text, theirs.text)
                    else:
                        self.assertEqual(outline(theirs), outline(ours))

    def assert_same_drawing(self, english, chinese):
        """As many lines, and no name that the English one does not have."""
        self.assertEqual(len(chinese.splitlines()), len(english.splitlines()))
        known = set(ASCII_WORD.findall(english))
        self.assertEqual([word for word in ASCII_WORD.findall(chinese) if not {word, f"{word}s"} & known], [])

    def test_every_command_of_a_block_is_explained_in_both(self):
        self.each(lambda section: [[" # " in line for line in block.text.splitlines()] for block in section.blocks
                                   if block.language == "sh"])

    def test_tables(self):
        self.each(lambda section: [(len(table), first_column(table), {len(row) for row in table})
                                   for table in markdown.tables(section.prose)])

    def test_code_within_sentences(self):
        self.each(lambda section: collections.Counter(markdown.spans(section.prose)))

    def test_links(self):
        # A heading has another name there.
        self.each(lambda section: collections.Counter(TWIN.sub("", link.partition("#")[0])
                                                      for link in markdown.links(section.prose)))

    def test_figures(self):
        self.each(lambda section: collections.Counter(FIGURE.findall(plain(section.prose))))

    def test_the_other_language_is_chinese(self):
        for english, chinese in self.pairs:
            with self.subTest(english.title):
                self.assertIsNone(CHINESE.search(plain(english.prose).replace("中文", "")))
                self.assertTrue(CHINESE.search(chinese.title + chinese.prose))


if __name__ == "__main__":
    unittest.main()
