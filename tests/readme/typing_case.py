# SPDX-License-Identifier: Apache-2.0
"""Types commands of pages on one node, as somebody would who has installed the launcher."""

import os
import subprocess

from harness import SH, Launch, LauncherCase, binary, strip_own_lines
from readme_page import EXAMPLES, fake_cards

# The train.py of the pages, unless a test writes its own.
TRAIN = """\
import os, sys
print(f"rank {os.environ['PADDLE_TRAINER_ID']} of {os.environ['PADDLE_TRAINERS_NUM']}", flush=True)
print(f"card {os.environ.get('FLAGS_selected_gpus')} {sys.argv[1:]} {sys.executable}", flush=True)
"""


class TypingCase(LauncherCase):
    def setUp(self):
        super().setUp()
        self.path = self.python_on_path()
        for name in ("paddle-launch", "fleetrun"):
            (self.base / "bin" / name).symlink_to(binary())
        (self.dir / "examples").symlink_to(EXAMPLES)
        self.write("train.py", TRAIN)

    def start_typed(self, command, *, cards=0, together=False, **variables):
        """cards: as many fake ones. together: stderr goes where stdout goes, as on a terminal."""
        env = {"PATH": self.path, **(fake_cards(cards) if cards else {}), **variables}
        return Launch(self, ["-c", command], program=SH, env=env, stderr=subprocess.STDOUT if together else None)

    def type(self, command, status=0, **how):
        run = self.start_typed(command, **how)
        run.wait()
        self.assert_status(run, status)
        return run

    def said(self, count):
        """What each trainer wrote, by rank; there are no more of them."""
        names = {name for name in os.listdir(self.dir / "log") if not name.endswith(".gpu.log")}  # where cards are played
        self.assertEqual(names, {"endpoints.log", *(f"workerlog.{rank}" for rank in range(count))})
        return [strip_own_lines(self.log(rank)).decode().splitlines() for rank in range(count)]

    def assert_cards(self, cards, arguments="[]"):
        """One trainer for each of them."""
        size = len(cards)
        for rank, lines in enumerate(self.said(size)):
            self.assertEqual(lines[0], f"rank {rank} of {size}")
            self.assertTrue(lines[1].startswith(f"card {cards[rank]} {arguments} "), lines)
