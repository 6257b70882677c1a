# SPDX-License-Identifier: Apache-2.0
"""Every command of README.md and README.zh-CN.md is typed by a test: here, on test hosts (tests/cluster/readme_test.py),
or where ELSEWHERE says. Cards are those of tests/fakes/fake_nvml.cc; train.py is a stand-in."""

import json
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import unittest

import markdown
import readme_page
from harness import binary, strip_own_lines
from readme_page import (CHANGING, EXAMPLES, FOUND, OTHERS, READMES, ROOT, recordings, runs, section, shown_in,
                         without_echo)
from typing_case import TRAIN, TypingCase

sys.path.append(str(ROOT / "tests" / "cluster"))
import readme_test  # noqa: E402,F401 # for the commands that it runs; its tests are run on their own

# Rank 1 fails in the first round, when the others are there.
FAIL_ONCE = """\
import time
if os.environ["PADDLE_LAUNCH_ROUND"] == "0":
    open("there." + os.environ["PADDLE_TRAINER_ID"], "w").close()
    while os.environ["PADDLE_TRAINER_ID"] != "1" or not all(os.path.exists(f"there.{rank}") for rank in range(4)):
        time.sleep(0.01)
    sys.exit(1)
"""
SAVE_ON_STOP = """\
import signal, time
def save(*_):
    print("saved", flush=True)
    sys.exit(0)
signal.signal(signal.SIGTERM, save)
open("ready." + os.environ["PADDLE_TRAINER_ID"], "w").close()
while True:
    time.sleep(0.01)
"""

# Commands that build, install or download: nothing is built twice for this test. {command: (file, how it stands there,
# why it is that)}. CI runs each of these files: scripts/test, or a test that scripts/test runs.
STAGES = "scripts/test"
ELSEWHERE = {
    "./scripts/demo": (STAGES, r"^  tests/fresh_machine/run .*\bdemo\b", "the stage fresh, on a machine that has nothing"),
    "./scripts/test": (".ci/run", r"exec .*/scripts/test", "this is what CI is"),
    "./scripts/paddle_environments": (STAGES, r"setsid scripts/paddle_environments", "the stage paddle trains with them"),
    "./scripts/setup build": ("scripts/demo", r"^scripts/setup build$", "the demo begins with it"),
    "cmake --preset release": (STAGES, r"^  cmake --preset release ", "the stage build"),
    "cmake --build --preset release": (STAGES, r"^  cmake --build --preset release ", "the stage build"),
    "cmake --install build/release --prefix P": (STAGES, r"^  cmake --install build/release --prefix ",
                                                 "the stage install, which then looks at what is there"),
    "./scripts/package": (STAGES, r"^  scripts/package$", "the stage fresh"),
    "sudo apt-get install ./build/packages/*.deb": ("tests/fresh_machine/scenarios/package", r"^apt_get install paddle-launch",
                                                    "the stage fresh, with apt, from a folder of these packages"),
    "./scripts/setup build && python3 -m venv env && env/bin/pip install .": (
        "tests/fresh_machine/scenarios/wheel", r"pip install ", "the same by hand, on a machine that has nothing"),
    "python -c 'import paddle_launch; print(paddle_launch.install())'": (
        "tests/python/takeover_test.py", r'self\.call\("install"\)', "in an environment of its own"),
    "python -c 'import paddle_launch; print(paddle_launch.uninstall())'": (
        "tests/python/takeover_test.py", r'self\.call\("uninstall"\)', "in an environment of its own"),
    "pip install .": ("docs/spawn.md", r"^pip install \.", "tests/python/wheel_test takes it from that page"),
    "paddle_launch::spawn(train, {.nprocs = 2})": ("docs/spawn.md", r"paddle_launch::spawn\(train, ",
                                                   "tests/install/spawn_package_test compiles that page"),
}
NOT_TYPED = {"python -m paddle.distributed.launch": "what this program replaces"}


class EveryCommandTest(unittest.TestCase):
    maxDiff = None

    def test_every_command_is_run(self):
        known = {*readme_page.run_here, *ELSEWHERE, *NOT_TYPED}
        for name, text in READMES.items():
            unknown = [command for command in markdown.typed(text) if command not in known]
            self.assertEqual(unknown, [], f"{name}: no test runs: {'; '.join(unknown)}")
        self.assertEqual(known - readme_page.TYPED, set(), "no README has these any more")

    def test_who_runs_the_others_does(self):
        for command, (file, words, why) in ELSEWHERE.items():
            self.assertTrue(re.search(words, (ROOT / file).read_text(), re.M), f"{file}: {command} ({why})")

    def test_every_option_in_the_text_is_one(self):
        """Of the launcher, or of the example that the sentence is about."""
        helps = [[binary(), "--help=all"], [sys.executable, str(EXAMPLES / "linear_regression.py"), "--help"]]
        known = {word for words in helps for word in
                 re.findall(r"--\w+", subprocess.run(words, capture_output=True, text=True, check=True).stdout)}
        for name, text in READMES.items():
            for part in markdown.sections(text):
                named = [word for span in markdown.spans(part.prose) if span.startswith("--")
                         for word in re.findall(r"--\w+", span)]
                self.assertEqual([word for word in named if word not in known], [], f"{name}, {part.title}")


class EveryDayTest(TypingCase):
    @runs("paddle-launch train.py")
    def test_one_trainer_for_each_visible_card(self, command):
        run = self.type(command, cards=3)
        self.assert_cards(["0", "1", "2"])
        self.assertEqual(run.out, strip_own_lines(self.log(0)))  # rank 0 on stdout, the launcher on stderr
        self.assert_told(run, "Local processes completed.")

    @runs("paddle-launch --gpus 2,3 train.py --batch_size=64")
    def test_cards_by_number(self, command):
        self.type(command, cards=4)
        self.assert_cards(["2", "3"], "['--batch_size=64']")

    @runs("CUDA_VISIBLE_DEVICES=0,1,2,3 fleetrun train.py")
    def test_fleetrun(self, command):
        self.type(command, cards=8)
        self.assert_cards(["0", "1", "2", "3"])

    @runs("paddle-launch --nproc_per_node=4 train.py")
    def test_processes_on_the_cpu(self, command):
        self.type(command)
        self.assertEqual([lines[0] for lines in self.said(4)], [f"rank {rank} of 4" for rank in range(4)])

    @runs("paddle-launch --dry_run --assume_gpus --gpus=0,1 train.py")
    def test_the_plan(self, command):
        run = self.type(command)
        self.assertRegex(run.out.decode(), r"PADDLE_TRAINERS_NUM\W+2\b")
        self.assertFalse((self.dir / "log").exists())

    @runs("paddle-launch --console all --grace 120 train.py")
    def test_all_ranks_on_the_screen_and_time_to_save(self, command):
        self.write("train.py", TRAIN + SAVE_ON_STOP)
        run = self.start_typed(f"exec {command}", cards=2)
        self.wait_file("ready.0")
        self.wait_file("ready.1")
        run.send(signal.SIGTERM)
        run.wait()
        self.assert_status(run, 128 + signal.SIGTERM)
        for rank in range(2):
            self.assertIn(f"[{rank}] rank {rank} of 2\n".encode(), run.out)
            self.assertIn(f"[{rank}] saved\n".encode(), run.out)

    @runs("paddle-launch --server_num=1 --worker_num=4 train.py")
    def test_parameter_servers_on_one_node(self, command):
        shutil.copy(EXAMPLES / "parameter_server.py", self.dir / "train.py")
        run = self.type(command)
        self.assertIn(b"worker 0 found [+3.0, -2.0, +0.5, +1.0]", run.out)
        self.assertEqual(sorted(os.listdir(self.dir / "log")),
                         ["endpoints.log", "serverlog.0", *(f"workerlog.{rank}" for rank in range(4))])

    @runs("paddle-launch --max_restart=3 train.py")
    def test_a_failed_job_is_started_again(self, command):
        self.write("train.py", TRAIN + FAIL_ONCE)
        run = self.type(command, cards=4)
        self.assertRegex(run.err, shown_in("A job that is started again"))

    @runs("paddle-launch --quiet --console direct --report end.json train.py")
    def test_for_programs(self, command):
        run = self.type(command, cards=2)
        self.assertEqual(run.err, "")
        self.assertEqual(sorted(re.findall(r"rank \d of 2", run.out.decode())), ["rank 0 of 2", "rank 1 of 2"])
        self.assertEqual(json.loads(self.read("end.json"))["status"], 0)
        self.assertEqual(sorted(os.listdir(self.dir)), ["end.json", "examples", "train.py"])


class RecordingsTest(TypingCase):
    @runs("paddle-launch --nproc_per_node=4 examples/linear_regression.py")
    def test_a_good_run(self, command):
        run = self.type(command, together=True)
        shown = run.out.decode()
        shown = re.sub(r"(?m)^WARNING .* trainers share .*\n", "", shown)  # where there are fewer CPUs: left out, it says
        self.assertRegex(shown, shown_in("What a good run looks like"))
        self.assertIn(f"rank 0 {FOUND}", shown)

    @runs("paddle-launch --nproc_per_node=4 examples/linear_regression.py")
    def test_an_aborted_run(self, command):
        more = re.search(r"`(--fail_rank [^`]*)`", section("What an aborted run looks like").prose)[1]
        run = self.type(f"{command} {more}", status=1, together=True)
        told = without_echo(run.out.decode())
        for title in ("When a rank fails", "What an aborted run looks like"):
            shown = without_echo(recordings(title)[0])
            self.assertRegex(told, markdown.recorded(shown, (*OTHERS, *CHANGING)))


class OtherCommandsTest(TypingCase):
    def python(self):
        return {"PYTHONPATH": str(ROOT / "python"), "PYTHONDONTWRITEBYTECODE": "1", "PADDLE_LAUNCH_BINARY": binary()}

    @runs("python -m paddle_launch --gpus=0,1 train.py")
    def test_the_python_module(self, command):
        self.type(command, cards=2, **self.python())
        self.assert_cards(["0", "1"])
        self.assertIn(str(self.base / "bin" / "python"), self.said(2)[1][1])  # the interpreter that was typed

    @runs("paddle_launch.spawn(train, nprocs=2)")
    def test_spawn(self, call):
        self.write("train.py", "import os\nimport paddle_launch\n\n\ndef train():\n"
                   f"    print('rank', os.environ['PADDLE_TRAINER_ID'])\n\n\nif __name__ == '__main__':\n    {call}\n")
        run = self.type("python train.py", **self.python())
        self.assertEqual(sorted(run.out.decode().splitlines()), ["rank 0", "rank 1"])

    @runs("man paddle-launch")
    def test_the_manual_page_has_every_option(self, command):
        if shutil.which("man") is None:
            self.skipTest("man is not installed")
        folder = self.base / "share" / "man" / "man1"
        folder.mkdir(parents=True)
        shutil.copy(ROOT / "docs" / "paddle-launch.1", folder)
        run = self.type(command, MANPATH=str(folder.parent), MANWIDTH="1000", MANPAGER="cat", GROFF_NO_SGR="1")
        page = re.sub(".\b", "", run.out.decode())
        options = re.findall(r"(?m)^  (--\w+)", subprocess.run([binary(), "--help=all"], capture_output=True, text=True,
                                                               check=True).stdout)
        self.assertGreater(len(options), 20)
        self.assertEqual([option for option in options if option not in page], [])


class ExitStatusTest(TypingCase):
    # The rows of the table: what leads to them, and the status.
    ROWS = {
        "0": [("paddle-launch --nproc_per_node=2 /bin/true", 0)],
        "N": [("paddle-launch --nproc_per_node=2 /bin/sh -c 'exit 7'", 7)],
        "128+S": [("paddle-launch --nproc_per_node=2 /bin/sh -c 'kill -9 $$'", 137)],
        "126, 127": [("echo neither ELF nor script >bad; chmod +x bad; paddle-launch ./bad", 126),
                     ("printf '#!/no/such/interpreter\\n' >bad; chmod +x bad; paddle-launch ./bad", 127)],
        "1": [("paddle-launch --start_port={port} /bin/true", 1)],  # somebody has it
        "2": [("paddle-launch --nproc_per_node=none train.py", 2)],
        "75": [("paddle-launch --bootstrap_timeout=1 --ips=127.0.0.1,127.0.0.2 --host=127.0.0.1 /bin/true", 75)],
    }

    def test_every_row_of_the_table(self):
        table, = markdown.tables(section("The same, and different").prose)
        self.assertEqual([row[0] for row in table[1:]], list(self.ROWS))
        with socket.create_server(("", 0)) as taken:
            for command, status in (way for ways in self.ROWS.values() for way in ways):
                with self.subTest(command):
                    self.type(command.replace("{port}", str(taken.getsockname()[1])), status)


if __name__ == "__main__":
    unittest.main()
