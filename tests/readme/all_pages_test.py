# SPDX-License-Identifier: Apache-2.0
"""All pages of this repository: every link that points into it leads somewhere, to a file or folder and to a heading of
it, and commands in a page are typed by a test."""

import pathlib
import unittest
import urllib.parse

import markdown

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
NOT_OURS = ("build", "dist", "log")  # what a build and a run make

# Pages that ask to type something, and the test that does; it names the page.
TYPED_BY = {
    "README.md": "tests/end_to_end/readme_page.py", "README.zh-CN.md": "tests/end_to_end/readme_page.py",
    "docs/getting-started.md": "tests/end_to_end/readme_page.py",
    "docs/getting-started.zh-CN.md": "tests/end_to_end/readme_page.py",
    "docs/elastic.md": "tests/cluster/elastic_page_test.py", "docs/logs-and-ranks.md": "tests/readme/pages_test.py",
    "docs/parameter-server.md": "tests/cluster/pages_test.py", "docs/running-under-mpi.md": "tests/cluster/pages_test.py",
    "docs/running-under-slurm.md": "tests/cluster/pages_test.py", "docs/several-nodes.md": "tests/cluster/pages_test.py",
    "docs/spawn.md": "tests/python/page_test.py",
}
TYPED_BY_NOBODY = {
    "CONTRIBUTING.md": "what CI itself begins with",
    "docs/benchmarks.md": "a quarter of an hour on a machine that does nothing else",
    "docs/portable.md": "compiles everything once more, for two processors",
    "docs/writing-a-plugin.md": "tests/contract compiles the same plugin and lets the same program try it",
    "examples/shared_directory_rendezvous/README.md": "needs a launcher that was changed; tests/contract has it meet",
    "tests/sites/README.md": "a quarter of an hour for each site; scripts/test runs a part of one",
    "tests/cluster/README.md": "for a look around by hand; the tests there do the same in Python",
}


def pages():
    folders = [path for path in ROOT.iterdir() if path.is_dir() and path.name not in NOT_OURS and path.name[0] != "."]
    return sorted([*ROOT.glob("*.md"), *(page for folder in folders for page in folder.rglob("*.md"))])


class AllPagesTest(unittest.TestCase):
    def broken(self, page):
        text = page.read_text(encoding="utf-8")
        for section in markdown.sections(text):
            for link in markdown.links(section.prose):
                path, _, anchor = urllib.parse.unquote(link).partition("#")
                if urllib.parse.urlsplit(link).scheme:
                    continue
                target = (page.parent / path).resolve() if path else page
                if ROOT not in target.parents or not target.exists():
                    yield f"{link}: there is no such file"
                elif anchor and (target.suffix != ".md"
                                 or anchor not in markdown.anchors(target.read_text(encoding="utf-8"))):
                    yield f"{link}: there is no such heading"

    def test_every_link_leads_somewhere(self):
        names = [str(page.relative_to(ROOT)) for page in pages()]
        for expected in ("README.md", "README.zh-CN.md", "CONTRIBUTING.md", "docs/elastic.md", "examples/README.md",
                         "tests/cluster/README.md"):
            self.assertIn(expected, names)
        found = {name: list(self.broken(page)) for name, page in zip(names, pages())}
        self.assertEqual({name: links for name, links in found.items() if links}, {})

    def test_every_page_with_commands_has_a_test(self):
        with_commands = {str(page.relative_to(ROOT)) for page in pages() if "\n```sh\n" in page.read_text(encoding="utf-8")}
        self.assertEqual(with_commands - set(TYPED_BY_NOBODY), set(TYPED_BY))
        for page, test in TYPED_BY.items():
            self.assertIn(f'"{pathlib.Path(page).name}"', (ROOT / test).read_text(encoding="utf-8").replace("docs/", ""))

    def test_headings_are_named_as_github_does(self):
        text = "# One: `two` & three\n\n## C++\n\n```\n# no heading\n```\n\n## C++\n\n### [a](b.md) 中文_b\n"
        self.assertEqual(markdown.anchors(text), {"one-two--three", "c", "c-1", "a-中文_b"})


if __name__ == "__main__":
    unittest.main()
