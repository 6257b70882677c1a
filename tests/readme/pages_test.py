# SPDX-License-Identifier: Apache-2.0
"""Pages whose commands need one node and no real Paddle: docs/reading-a-failure.md, docs/logs-and-ranks.md and
examples/README.md. tests/cluster/pages_test has those for several nodes."""

import re
import unittest

import markdown
from readme_page import CHANGING, EXAMPLES, OTHERS, ROOT, without_echo
from typing_case import TRAIN, TypingCase

MARK = re.compile(r"(?m) +\(\d\)$")  # (1), which the page then explains
STATUS = re.compile(r"\$ echo \$\?\n(\d+)\n")


def sections_of(name):
    return {section.title: section for section in markdown.sections((ROOT / name).read_text(encoding="utf-8"))}


class FailureTest(TypingCase):
    def run_as_shown(self, title):
        """Types the first recording below that heading: (what it is to show, what it did show)."""
        shown = MARK.sub("", sections_of("docs/reading-a-failure.md")[title].blocks[0].text)
        status = int(STATUS.search(shown)[1])
        command, _, shown = STATUS.sub("", shown).removeprefix("$ ").partition("\n")
        run = self.type(command, status, together=True)
        return without_echo(shown), without_echo(run.out.decode())

    def test_a_real_one(self):
        shown, told = self.run_as_shown("A real one")
        self.assertRegex(told, markdown.recorded(shown, (*OTHERS, *CHANGING)))

    def test_the_first_to_end_is_not_always_the_first_to_fail(self):
        shown, told = self.run_as_shown("The first to end is not always the first to fail")
        hint = "  probably"  # who of the others is dead first differs from run to run; this does not
        self.assertRegex(told, markdown.recorded(hint + shown.partition(hint)[2], CHANGING))
        self.assertIn("ConnectionError: the neighbour in the ring is gone", told.partition(hint)[0])


class LogsTest(TypingCase):
    def test_the_last_run_of_a_log(self):
        page = sections_of("docs/logs-and-ranks.md")
        for word in ("first", "second"):
            self.type(f"paddle-launch --nproc_per_node=4 train.py {word}")
        block, = (block.text for block in page["Logs append"].blocks if block.language == "sh")
        told = self.type(block).out.decode()
        self.assertEqual(len(told.splitlines()), 3)
        self.assertIn("['second']", told)
        command, _, shown = page["Which file holds what"].blocks[0].text.removeprefix("$ ").partition("\n")
        self.assertRegex(self.type(command).out.decode(), markdown.recorded(shown, CHANGING))

    def test_the_lines_of_the_launcher(self):
        self.write("train.py", TRAIN + "import time\ntime.sleep(0 if os.environ['PADDLE_TRAINER_ID'] == '2' else 1000)\n"
                   "sys.exit(1)\n")
        self.type("paddle-launch --nproc_per_node=4 train.py", 1)
        shown = sections_of("docs/logs-and-ranks.md")["Logs append"].blocks[0].text
        self.assertRegex(self.read("log/workerlog.0"), markdown.recorded(shown, (*CHANGING, r"/\S+ -u .*(?= ====)")))


class ExamplesTest(TypingCase):
    FOUND = {"linear_regression.py": "rank 0 found [+2.999, -1.999, +0.500, +1.000]", "resume.py": "rank 0 found [2.59",
             "parameter_server.py": "worker 0 found [+3.0, -2.0, +0.5, +1.0]"}

    def lines(self, title):
        """(the script, the line that starts it) of each row; a row without a script is about the one above."""
        script = None
        table, = markdown.tables(sections_of("examples/README.md")[title].prose)
        for names, _, line in table[1:]:
            script = next(iter(markdown.links(names)), script)
            yield script, line.strip("`")

    def test_with_nothing_but_python(self):
        lines = dict(self.lines("With nothing but Python"))
        self.assertEqual(lines.pop("fluid_dist.py"), "see its first lines")  # cluster.pages types them
        self.assertEqual(set(lines), set(self.FOUND))
        for script, command in lines.items():
            for path in EXAMPLES.glob("*.py"):
                self.write(path.name, path.read_text())
            with self.subTest(command):
                self.assertIn(self.FOUND[script], self.type(command).out.decode())

    def test_real_paddle_runs_the_others(self):
        tests = "".join(path.read_text() for path in (ROOT / "tests" / "real_paddle").glob("*.py"))
        for script, line in self.lines("With real Paddle"):
            if line.startswith("["):  # a link to the page that has it
                continue
            self.assertIn(script, line)
            self.assertTrue((EXAMPLES / script).exists(), script)
            if script != "spawn.py":  # it takes any Paddle there is; tests/python runs the same calls
                self.assertRegex(tests, rf'"{script.removesuffix(".py")}"', f"no test with real Paddle runs {script}")


if __name__ == "__main__":
    unittest.main()
