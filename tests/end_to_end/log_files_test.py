# SPDX-License-Identifier: Apache-2.0
"""Logs that are no regular files, and a guard that does not answer: refused, or ended by a signal."""

import os
import signal
import time
import unittest

from harness import HOLD, MANY_SECONDS, OTHER_UID, SH, LauncherCase, free_port_run

STARTED = ": >started.$PADDLE_TRAINER_ID"


class NoRegularFileTest(LauncherCase):
    def refuse(self, name, *options, **how):
        run = self.run_launcher("--nproc_per_node=2", *options, SH, "-c", STARTED, seconds=MANY_SECONDS, **how)
        self.assert_status(run, 2)
        self.assertTrue(run.err.startswith("paddle-launch: error: "), run.told())
        self.assert_told(run, str(self.dir / "log" / name), "regular file", "--log_dir")
        self.assertEqual([file for file in os.listdir(self.dir) if file.startswith("started")], [], run.told())

    def make_log_directory(self):
        (self.dir / "log").mkdir()
        if os.geteuid() == 0:
            os.chown(self.dir / "log", OTHER_UID, OTHER_UID)

    def test_a_pipe_as_a_log_is_refused_before_anything_starts(self):
        for user in ({}, self.as_other_user()):
            for rank in (0, 1):
                for mode in (0o666, 0o222):
                    with self.subTest(user=user, rank=rank, mode=mode):
                        self.make_log_directory()
                        pipe = self.dir / f"log/workerlog.{rank}"
                        os.mkfifo(pipe)
                        pipe.chmod(mode)
                        self.refuse(pipe.name, **user)
                        for file in os.listdir(self.dir / "log"):
                            os.unlink(self.dir / "log" / file)
                        os.rmdir(self.dir / "log")

    def test_a_directory_or_a_device_as_a_log_is_refused(self):
        self.make_log_directory()
        (self.dir / "log/workerlog.1").mkdir()
        self.refuse("workerlog.1")

    def test_what_a_link_as_a_log_points_to_is_not_touched(self):
        self.make_log_directory()
        target = self.write("target", "precious\n", 0o666)
        for rank in (0, 1):
            for options in ([], ["--log_overwrite=1"]):
                with self.subTest(rank=rank, options=options):
                    link = self.dir / f"log/workerlog.{rank}"
                    if link.exists():
                        link.unlink()
                    link.symlink_to(target)
                    self.refuse(link.name, *options)
                    self.assertEqual(target.read_text(), "precious\n")
                    link.unlink()

    def test_a_link_that_points_nowhere_makes_no_file(self):
        self.make_log_directory()
        (self.dir / "log/workerlog.0").symlink_to(self.dir / "made")
        self.refuse("workerlog.0")
        self.assertFalse((self.dir / "made").exists())

    def test_a_log_directory_may_be_a_link(self):
        (self.dir / "elsewhere").mkdir()
        (self.dir / "log").symlink_to("elsewhere")
        self.assert_status(self.run_launcher("--nproc_per_node=2", SH, "-c", "echo hello"), 0)
        self.assertTrue((self.dir / "elsewhere/workerlog.1").is_file())


class StoppedGuardTest(LauncherCase):
    def test_a_second_interrupt_ends_also_a_guard_that_does_not_answer(self):
        self.gate()
        run = self.start("--nproc_per_node=2", "--grace=100", SH, "-c", HOLD)
        pids = list(self.wait_ready(2).values())
        os.kill(run.guard(), signal.SIGSTOP)
        run.send(signal.SIGINT)
        self.wait_told(run, "SIGINT")
        time.sleep(0.6)  # closer together, two interrupts are one
        run.send(signal.SIGINT)
        run.wait(MANY_SECONDS)
        self.assert_status(run, 130)
        self.assert_gone(pids)

    def test_the_grace_ends_also_with_a_guard_that_does_not_answer(self):
        self.gate()
        run = self.start("--nproc_per_node=2", "--grace=1", SH, "-c", HOLD)
        pids = list(self.wait_ready(2).values())
        os.kill(run.guard(), signal.SIGSTOP)
        run.send(signal.SIGTERM)
        run.wait(MANY_SECONDS)
        self.assert_status(run, 143)
        self.assert_gone(pids)


class LocalNamesTest(LauncherCase):
    def test_logs_count_from_0_on_every_node_in_a_folder_of_its_own(self):
        nodes = ("127.0.0.2", "127.0.0.3")
        port = str(free_port_run(10))
        runs = [self.start("--ips=" + ",".join(nodes), f"--host={node}", "--log_names=local", "--nproc_per_node=2",
                           SH, "-c", "echo $PADDLE_TRAINER_ID", env={"PADDLE_LAUNCH_PORT": port}) for node in nodes]
        for place, run in enumerate(runs):
            run.wait()
            self.assert_status(run, 0)
            self.assertEqual(run.out.decode(), f"{2 * place}\n")
            for local in (0, 1):
                log = self.read(f"log/{nodes[place]}/workerlog.{local}")
                self.assertEqual(log.splitlines()[-1], str(2 * place + local))
        self.assertEqual(sorted(os.listdir(self.dir / "log")), [*nodes, "endpoints.log"])

    def test_on_one_node_they_are_where_they_always_are(self):
        self.assert_status(self.run_launcher("--log_names=local", "--nproc_per_node=2", SH, "-c", "true"), 0)
        self.assertEqual(sorted(os.listdir(self.dir / "log")), ["endpoints.log", "workerlog.0", "workerlog.1"])


if __name__ == "__main__":
    unittest.main()
