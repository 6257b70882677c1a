# SPDX-License-Identifier: Apache-2.0
"""A bug of the launcher's own while trainers run: they are stopped, waited for and reported before it ends. A fake that is
loaded into the launcher makes its wait for news fail."""

import json
import signal
import time
import unittest

from harness import READY, SH, LauncherCase, alive

# After SIGTERM each trainer saves until the test lets it go.
SAVES = "trap '' USR1; trap 'while [ ! -e saved ]; do sleep 0.05; done; echo saved; exit 0' TERM; "
TRAINER = SAVES + READY + "sleep 1000 & while :; do wait; done"


class FailedLauncherTest(LauncherCase):
    def start_with_trouble(self, *args, **variables):
        self.gate()
        return self.start(*args, SH, "-c", TRAINER,
                          env={"LD_PRELOAD": self.to_preload("FAKE_TROUBLE_LIBRARY"),
                               "FAKE_TROUBLE": str(self.dir / "trouble"), **variables})

    def fail(self, run):
        self.wait_told(run, "Local start 2 processes")  # trainers may be ready before their launcher knows of them
        self.write("trouble", "")
        run.send(signal.SIGUSR1)  # wakes it; it is passed on to the trainers, who do not mind
        self.wait_told(run, "the launcher failed: epoll_wait: State not recoverable; stopping 2 others")

    def test_trainers_are_stopped_waited_for_and_reported(self):
        for variables in ({"FAKE_TROUBLE_ONCE": "1"}, {}):  # a loop that works again, and one that never does
            with self.subTest(**variables):
                run = self.start_with_trouble("--nproc_per_node=2", "--grace=60", "--report=end.json", **variables)
                pids = self.wait_ready(2)
                self.fail(run)
                self.assertTrue(run.running(), run.told())
                self.assertTrue(all(map(alive, pids.values())), "they were given no time")
                self.write("saved", "")
                run.wait()
                self.assertFalse(any(map(alive, pids.values())), "the launcher ended before its trainers")
                self.assert_status(run, 1)
                self.assert_abort_line(run, 2, [0, 1])
                self.assert_told(run, "  what      the launcher failed: epoll_wait", "stopped   because of it: rank 0-1")
                self.assertIn(b"saved\n", run.out)
                self.assertIn("the launcher failed", self.log(1).decode().splitlines()[-1])
                report = json.loads(self.read("end.json"))
                self.assertEqual((report["status"], report["kind"]), (1, "launcher_failed"))
                for name in ("saved", "ready.0", "ready.1", "trouble"):
                    (self.dir / name).unlink(missing_ok=True)

    def test_the_grace_holds_and_nobody_is_left(self):
        run = self.start_with_trouble("--nproc_per_node=2", "--grace=1")
        pids = self.wait_ready(2)
        self.fail(run)
        run.wait()
        self.assert_status(run, 1)
        self.assertFalse(any(map(alive, pids.values())))

    def test_an_impatient_user_is_obeyed(self):
        run = self.start_with_trouble("--nproc_per_node=2", "--grace=600")
        pids = self.wait_ready(2)
        self.fail(run)
        run.send(signal.SIGINT)
        time.sleep(0.6)  # two interrupts within half a second are one
        run.send(signal.SIGINT)
        run.wait()
        self.assert_status(run, 1)
        self.assertFalse(any(map(alive, pids.values())))

    def test_it_is_not_started_again(self):
        run = self.start_with_trouble("--nproc_per_node=2", "--grace=1", "--max_restart=3", FAKE_TROUBLE_ONCE="1")
        self.wait_ready(2)
        self.fail(run)
        run.wait()
        self.assert_status(run, 1)
        self.assertNotIn("starting again", run.err)


if __name__ == "__main__":
    unittest.main()
