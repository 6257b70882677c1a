# SPDX-License-Identifier: Apache-2.0
"""At a terminal: standard input, Ctrl-C, Ctrl-Z and fg."""

import os
import signal
import time
import unittest

from harness import (HOLD, READY, SH, LauncherCase, Terminal, binary, children, comm, python_trainer, stat_fields,
                     state, wait_until)

RECORDER = python_trainer("recorder.py")


class TerminalTest(LauncherCase):
    def test_one_trainer_has_the_terminal(self):
        terminal = Terminal(self, ["--nproc_per_node=1", SH, "-c",
                                   "test -t 0 && echo a tty; read line; echo \"heard:$line\""])
        terminal.wait_screen(b"a tty\n")
        terminal.type(b"hello\n")
        terminal.wait_screen(b"heard:hello\n")
        self.assertEqual(terminal.wait_event("exited"), ["exited", "0"])

    def test_the_only_trainer_is_the_foreground_group(self):
        gate = self.gate()
        terminal = Terminal(self, ["--nproc_per_node=1", SH, "-c", HOLD])
        pid = self.wait_ready(1)[0]
        wait_until(lambda: terminal.foreground() == int(stat_fields(pid)[2]), terminal.told)
        gate.open()
        self.assertEqual(terminal.wait_event("exited"), ["exited", "0"])

    def test_two_trainers_have_dev_null(self):
        terminal = Terminal(self, ["--nproc_per_node=2", SH, "-c",
                                   "readlink /proc/self/fd/0 >in.$PADDLE_TRAINER_ID; read line; exit 0"])
        self.assertEqual(terminal.wait_event("exited"), ["exited", "0"])
        self.assertEqual([self.read(f"in.{rank}") for rank in range(2)], ["/dev/null\n"] * 2)

    def test_stdin_0_gives_the_terminal_to_rank_0(self):
        text = "[ $PADDLE_TRAINER_ID = 0 ] || exec readlink /proc/self/fd/0 >in.1; read line; echo \"heard:$line\""
        terminal = Terminal(self, ["--stdin", "0", "--nproc_per_node=2", SH, "-c", text])
        terminal.type(b"hello\n")
        terminal.wait_screen(b"heard:hello\n")
        self.assertEqual(terminal.wait_event("exited"), ["exited", "0"])
        self.assertEqual(self.read("in.1"), "/dev/null\n")

    def test_ctrl_c_stops_a_job_of_several(self):
        self.gate()
        terminal = Terminal(self, ["--nproc_per_node=3", "--grace=600", *RECORDER, "--save", "0.1"])
        self.wait_ready(3)
        terminal.type(b"\x03")
        self.assertEqual(terminal.wait_event("exited"), ["exited", "130"])
        for rank in range(3):
            self.assertEqual(self.read(f"signals.{rank}").split(), ["TERM"])
            self.assertEqual(self.read(f"saved.{rank}"), "checkpoint")

    def test_ctrl_c_goes_to_the_trainer_that_has_the_terminal(self):
        self.gate()
        terminal = Terminal(self, ["--nproc_per_node=1", "--grace=5", SH, "-c",
                                   "trap 'echo interrupted; exit 5' INT; " + READY + "while :; do sleep 0.05; done"])
        pid = self.wait_ready(1)[0]
        wait_until(lambda: terminal.foreground() == int(stat_fields(pid)[2]), terminal.told)
        terminal.type(b"\x03")
        terminal.wait_screen(b"interrupted\n")
        self.assertEqual(terminal.wait_event("exited"), ["exited", "5"])

    def test_hanging_up_the_terminal_ends_the_job(self):
        self.gate()
        terminal = Terminal(self, ["--nproc_per_node=2", "--grace=1", SH, "-c", HOLD])
        pids = self.wait_ready(2)
        os.kill(terminal.leader.pid, signal.SIGKILL)  # the kernel sends SIGHUP to the foreground group
        self.assert_gone([terminal.pid, *pids.values()])

    def suspend_and_continue(self, count, *options):
        gate = self.gate()
        terminal = Terminal(self, [f"--nproc_per_node={count}", *options, SH, "-c",
                                   "sleep 1000 & echo $! >kid.$PADDLE_TRAINER_ID; " + HOLD + "echo done"])
        pids = self.wait_ready(count)
        everyone = [*pids.values(), *(int(self.read(f"kid.{rank}")) for rank in range(count))]
        if count == 1:
            wait_until(lambda: terminal.foreground() == int(stat_fields(pids[0])[2]), terminal.told)
        for _ in range(2):
            terminal.type(b"\x1a")
            terminal.wait_event("stopped")
            self.assertEqual(state(terminal.pid), "T")
            # The groups were sent SIGSTOP before the launcher stopped; on a busy machine they take it a little later.
            wait_until(lambda: {state(pid) for pid in everyone} == {"T"}, terminal.told)
            terminal.order("fg")
            terminal.wait_event("continued")
            wait_until(lambda: all(state(pid) in "SR" for pid in (terminal.pid, *everyone)), terminal.told)
        gate.open()
        self.assertEqual(terminal.wait_event("exited"), ["exited", "0"])
        terminal.wait_screen(b"done\n")

    def test_ctrl_z_stops_the_trainers_and_fg_continues_them(self):
        self.suspend_and_continue(2)

    def test_ctrl_z_stops_a_trainer_in_the_foreground_and_fg_continues_it(self):
        self.suspend_and_continue(1)

    def test_a_suspended_job_can_be_ended(self):
        self.gate()
        terminal = Terminal(self, ["--nproc_per_node=2", "--grace=2", SH, "-c", HOLD])
        pids = self.wait_ready(2)
        terminal.type(b"\x1a")
        terminal.wait_event("stopped")
        os.kill(terminal.pid, signal.SIGTERM)
        terminal.order("bg")
        self.assertEqual(terminal.wait_event("exited"), ["exited", "143"])
        self.assert_gone(pids.values())

    def test_sigtstp_stops_a_job_and_bg_continues_it(self):
        gate = self.gate()
        terminal = Terminal(self, ["--nproc_per_node=2", SH, "-c", HOLD])
        pids = self.wait_ready(2)
        os.kill(terminal.pid, signal.SIGTSTP)
        terminal.wait_event("stopped")
        self.assertEqual({state(pid) for pid in pids.values()}, {"T"})
        terminal.order("bg")
        terminal.wait_event("continued")
        wait_until(lambda: all(state(pid) in "SR" for pid in pids.values()), terminal.told)
        gate.open()
        self.assertEqual(terminal.wait_event("exited"), ["exited", "0"])

    def test_the_launcher_is_stopped_after_its_trainers(self):
        gate = self.gate()
        terminal = Terminal(self, ["--nproc_per_node=2", SH, "-c", HOLD])
        pids = self.wait_ready(2)
        guard = next(pid for pid in children(terminal.pid) if comm(pid) == "pl-guard")
        os.kill(guard, signal.SIGSTOP)  # nobody can stop the trainers now
        wait_until(lambda: state(guard) == "T", "the guard to stand still")
        terminal.type(b"\x1a")
        time.sleep(0.5)  # in which a launcher that did not wait for them would stop
        self.assertNotEqual(state(terminal.pid), "T", "the launcher was stopped before its trainers")
        os.kill(guard, signal.SIGCONT)
        terminal.wait_event("stopped")
        self.assertEqual({state(pid) for pid in pids.values()}, {"T"})
        terminal.order("fg")
        terminal.wait_event("continued")
        gate.open()
        self.assertEqual(terminal.wait_event("exited"), ["exited", "0"])

    def test_a_job_in_the_background_does_not_take_the_terminal(self):
        # A launcher that is not in the foreground group must neither grab the terminal nor be stopped by trying to.
        gate = self.gate()
        terminal = Terminal(self, [SH, "-m", "-c", '"$@" & wait $!; echo status $?', "sh", binary(),
                                   "--nproc_per_node=1", SH, "-c", HOLD], program="/usr/bin/env")
        self.wait_ready(1)
        self.assertEqual(terminal.foreground(), terminal.pid)
        gate.open()
        terminal.wait_screen(b"status 0")
        terminal.wait_event("exited")


class StandardInputTest(LauncherCase):
    def read_by(self, trainers, content=b"", name="data"):
        data = self.base / name
        data.write_bytes(content)
        with open(data) as file:
            run = self.run_launcher(f"--nproc_per_node={trainers}", SH, "-c", "cat; readlink /proc/self/fd/0",
                                    stdin=file)
        self.assert_status(run, 0)
        return run

    def test_a_file_reaches_a_lone_trainer_and_no_other(self):
        run = self.read_by(1, b"for it\n")
        self.assertEqual(run.out.decode(), f"for it\n{self.base / 'data'}\n")
        self.assertNotIn("standard input", run.err)
        run = self.read_by(2, b"for nobody\n")
        self.assertEqual(run.out, b"/dev/null\n")
        self.assert_told(run, "what comes on standard input goes nowhere: the job has 2 processes")

    def test_a_pipe_reaches_a_lone_trainer_and_no_other(self):
        for trainers, seen in ((1, b"a line\n"), (2, b"")):
            read, write = os.pipe()
            os.write(write, b"a line\n")
            os.close(write)
            run = self.run_launcher(f"--nproc_per_node={trainers}", "/bin/cat", stdin=read)
            os.close(read)
            self.assert_status(run, 0)
            self.assertEqual(run.out, seen)
            self.assertEqual("goes nowhere" in run.err, trainers == 2, run.told())

    def test_nothing_is_said_where_nothing_was_written(self):
        self.assertNotIn("standard input", self.read_by(2).err)
        read, write = os.pipe()
        run = self.run_launcher("--nproc_per_node=2", "/bin/true", stdin=read)
        self.assertNotIn("standard input", run.err)
        os.close(read)
        os.close(write)
        self.assertNotIn("standard input", self.run_launcher("--nproc_per_node=2", "/bin/true").err)

    def test_stdin_0_hands_a_pipe_to_rank_0(self):
        read, write = os.pipe()
        run = self.start("--stdin=0", "--nproc_per_node=2", SH, "-c", "[ $PADDLE_TRAINER_ID = 0 ] || exit 0; cat",
                         stdin=read)
        os.close(read)
        with open(write, "w") as pipe:
            pipe.write("line one\nline two\n")
        run.wait()
        self.assert_status(run, 0)
        self.assertEqual(run.out, b"line one\nline two\n")

    def test_closed_stdin_is_dev_null_for_trainers(self):
        for trainers in (1, 2):
            run = self.run_launcher(f"--nproc_per_node={trainers}", SH, "-c", "readlink /proc/self/fd/0",
                                    preexec_fn=lambda: os.close(0))
            self.assert_status(run, 0)
            self.assertEqual(run.out, b"/dev/null\n")


if __name__ == "__main__":
    unittest.main()
