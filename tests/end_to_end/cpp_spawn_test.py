# SPDX-License-Identifier: Apache-2.0
"""paddle_launch::spawn, by a program that uses it (tests/spawn/spawn_program.cc)."""

import os
import re
import signal
import unittest

from harness import SH, LauncherCase, alive, children, comm, free_port_run, program_named_by, wait_until

# What differs from run to run, or belongs to a file of its own.
OF_ONE_RUN = {"PADDLE_TRAINER_ENDPOINTS", "PADDLE_CURRENT_ENDPOINT", "PADDLE_MASTER", "POD_NAME", "PADDLE_GLOO_FS_PATH",
              "PADDLE_LAUNCH_NCCL_ID", "_", "PWD", "SHLVL", "OLDPWD"}


def program():
    return program_named_by("PADDLE_LAUNCH_SPAWN_PROGRAM")


class SpawnCase(LauncherCase):
    def spawn(self, how, *, nprocs=None, **more):
        return self._spawn(self.run_launcher, how, nprocs, more)

    def start_spawn(self, how, *, nprocs=None, **more):
        return self._spawn(self.start, how, nprocs, more)

    @staticmethod
    def _spawn(start, how, nprocs, more):
        env = {name: value for name, value in more.items() if name.isupper()}
        rest = {name: value for name, value in more.items() if not name.isupper()}
        if nprocs is not None:
            env["TRY_NPROCS"] = str(nprocs)
        return start(how, program=program(), env=env, **rest)

    def lines(self, run):
        return run.out.decode().splitlines()

    def error(self, run):
        self.assert_status(run, 3)
        found = re.search(r"SpawnError rank=(-?\d+) code=(\d+) signal=(\d+) status=(\d+) message=\[(.*?)\] what=\[(.*)\]",
                          run.out.decode(), re.S)
        self.assertTrue(found, run.told())
        return (*map(int, found.groups()[:4]), *found.groups()[4:])


class EnvironmentTest(SpawnCase):
    def variables(self, name):
        entries = (self.dir / name).read_bytes().split(b"\0")
        return dict(entry.decode().split("=", 1) for entry in entries if b"=" in entry)

    def assert_as_launched(self, options, variables, **wishes):
        self.assert_status(self.run_launcher("environment", program=program(), env={**variables, **wishes}), 0)
        self.assert_status(self.run_launcher(*options, "--console=direct", "--quiet", SH, "-c",
                                             "exec cat /proc/$$/environ >launched.$PADDLE_TRAINER_ID", env=variables), 0)
        ranks = [int(name.split(".")[1]) for name in os.listdir(self.dir) if name.startswith("launched.")]
        self.assertTrue(ranks)
        for rank in ranks:
            ours, launched = self.variables(f"env.{rank}"), self.variables(f"launched.{rank}")
            self.assertEqual(set(ours) - OF_ONE_RUN - {"TRY_NPROCS", "TRY_GPUS"}, set(launched) - OF_ONE_RUN)
            for name in set(launched) - OF_ONE_RUN:
                self.assertEqual(ours[name], launched[name], name)
            self.assertEqual(len(ours["PADDLE_TRAINER_ENDPOINTS"].split(",")), len(ranks))
            self.assertEqual(ours["PADDLE_CURRENT_ENDPOINT"], ours["PADDLE_TRAINER_ENDPOINTS"].split(",")[rank])

    def test_the_environment_is_that_of_a_launched_trainer(self):
        proxies = {"http_proxy": "http://proxy", "FLAGS_selected_gpus": "7"}
        self.assert_as_launched(["--nproc_per_node=3"], proxies, TRY_NPROCS="3")

    def test_the_environment_with_cards_is_that_of_a_launched_trainer(self):
        assume = {"PADDLE_LAUNCH_ASSUME_GPUS": "1"}
        self.assert_as_launched(["--gpus=4,5"], assume, TRY_GPUS="4,5")


class RunTest(SpawnCase):
    def test_every_rank_runs_and_writes_where_the_program_does(self):
        run = self.spawn("rank", nprocs=3)
        self.assert_status(run, 0)
        self.assertEqual(sorted(self.lines(run)),
                         ["completed", *(f"rank {rank} of 3 cards (none)" for rank in range(3))])
        self.assertEqual(sorted(run.err.splitlines()), [f"error output of rank {rank}" for rank in range(3)])
        self.assertEqual(os.listdir(self.dir), [])

    def test_without_cards_there_is_one_process_for_each_cpu(self):
        run = self.spawn("rank")
        self.assertEqual(len(self.lines(run)) - 1, len(os.sched_getaffinity(0)))

    def test_cards_may_be_named(self):
        run = self.spawn("rank", TRY_GPUS="4,5", PADDLE_LAUNCH_ASSUME_GPUS="1")
        self.assertEqual(sorted(self.lines(run))[1:], ["rank 0 of 2 cards 4", "rank 1 of 2 cards 5"])

    def test_the_first_of_the_visible_cards_are_used(self):
        run = self.spawn("rank", nprocs=2, CUDA_VISIBLE_DEVICES="7,5,3", PADDLE_LAUNCH_ASSUME_GPUS="1")
        self.assertEqual(sorted(self.lines(run))[1:], ["rank 0 of 2 cards 0", "rank 1 of 2 cards 1"], run.told())

    def test_no_line_is_lost(self):
        run = self.spawn("lines", nprocs=2)
        self.assert_status(run, 0)
        lines = self.lines(run)
        for rank in range(2):
            self.assertEqual([line for line in lines if line.startswith(f"{rank} ")],
                             [*(f"{rank} line {number}" for number in range(5000)), f"{rank} end"])

    def test_what_was_buffered_before_is_written_once(self):
        run = self.spawn("unflushed")
        self.assertEqual(run.out, b"before, once\nwithin\nafter\n")

    def test_there_are_logs_where_a_directory_is_named(self):
        run = self.spawn("rank", nprocs=2, TRY_LOG_DIR="logs")
        self.assert_status(run, 0)
        self.assertEqual(sorted(os.listdir(self.dir / "logs")), ["endpoints.log", "workerlog.0", "workerlog.1"])
        self.assertEqual(self.trainer_bytes(1, "logs"), b"rank 1 of 2 cards (none)\nerror output of rank 1\n")

    def test_several_may_follow_each_other_and_leave_the_memory_of_the_program_alone(self):
        run = self.spawn("several")
        self.assert_status(run, 0)
        lines = self.lines(run)
        for turn, total in enumerate((40, 41, 43)):
            self.assertEqual(sorted(lines[2 * turn:2 * turn + 2]), [f"{turn} 0 zero {total}", f"{turn} 1 one {total}"])
        self.assertEqual(sorted(lines[6:]), ["first", "memory 2", "second"])

    def test_open_files_stay_open(self):
        self.assert_status(self.spawn("open_file"), 0)
        self.assertEqual(self.read("written"), "xxx")

    def test_signals_are_as_after_exec(self):
        run = self.spawn("signals")
        self.assertEqual(self.lines(run), [f"{int(signal.SIGUSR1)} default", f"{int(signal.SIGUSR2)} ignored",
                                           f"{int(signal.SIGTERM)} default", f"{int(signal.SIGCHLD)} default",
                                           f"{int(signal.SIGPIPE)} default", f"blocked {int(signal.SIGALRM)}"])


class FailureTest(SpawnCase):
    def test_an_exception_comes_back_with_its_words(self):
        run = self.spawn("throw", nprocs=3)
        self.assertEqual(self.error(run), (1, 1, 0, 1, "no such loss: 42",
                                           "rank 1 failed: exit code 1: no such loss: 42"))
        self.assert_told(run, "rank 1 ended with an exception: no such loss: 42")
        self.assert_abort_line(run, 3, [1])

    def test_an_exception_of_any_type_is_a_failure(self):
        self.assertEqual(self.error(self.spawn("throw_int", nprocs=2))[4], "an exception that is no std::exception")

    def test_an_exit_code_is_told(self):
        self.assertEqual(self.error(self.spawn("exit", nprocs=2)), (1, 7, 0, 7, "", "rank 1 failed: exit code 7"))

    def test_a_signal_is_told(self):
        rank, code, number, status, message, what = self.error(self.spawn("signal", nprocs=2))
        self.assertEqual((rank, code, number, status, message), (1, 0, signal.SIGSEGV, 139, ""))
        self.assertIn("killed by SIGSEGV", what)

    def test_threads_are_refused(self):
        run = self.spawn("threads")
        rank, _, _, status, _, what = self.error(run)
        self.assertEqual((rank, status), (-1, 2))
        self.assertIn("has 2: call spawn before the first thread is started", what)

    def test_options_that_cannot_be_are_refused(self):
        for env, text in (({"TRY_NPROCS": "0"}, "nprocs is 0"), ({"TRY_GPUS": "4,x"}, "4,x"),
                          ({"TRY_NPROCS": "3", "TRY_GPUS": "4,5"},
                           "The number of selected devices(2) is not equal to the number of spawn processes(3)"),
                          ({"TRY_NPROCS": "3", "CUDA_VISIBLE_DEVICES": "4,5", "PADDLE_LAUNCH_ASSUME_GPUS": "1"},
                           "the number of visible devices(2) is less than the number of spawn processes(3)"),
                          ({"TRY_GRACE": "-1"}, "grace is -1 ms"),
                          ({"TRY_LOG_DIR": "/dev/null/x"}, "/dev/null/x")):
            run = self.run_launcher("rank", program=program(), env=env)
            rank, _, _, status, _, what = self.error(run)
            self.assertEqual((rank, status), (-1, 2), run.told())
            self.assertIn(text, what)
            self.assertEqual(os.listdir(self.dir), [])


class SeveralNodesTest(SpawnCase):
    def start_both(self, how):
        nodes = ("127.0.0.2", "127.0.0.3")
        port = str(free_port_run(10))
        return [self.start_spawn(how, nprocs=2, TRY_IPS=",".join(nodes), POD_IP=node, PADDLE_LAUNCH_PORT=port)
                for node in nodes]

    def test_ranks_count_over_all_nodes(self):
        runs = self.start_both("rank")
        for place, run in enumerate(runs):
            run.wait()
            self.assert_status(run, 0)
            self.assertEqual(sorted(self.lines(run)), ["completed", f"rank {2 * place} of 4 cards (none)",
                                                       f"rank {2 * place + 1} of 4 cards (none)"])

    def test_a_failure_is_told_on_every_node(self):
        first, second = self.start_both("throw")
        first.wait()
        second.wait()
        self.assertEqual(self.error(first)[:5], (1, 1, 0, 1, "no such loss: 42"))
        self.assertEqual(self.error(second), (1, 1, 0, 1, "", "rank 1 on 127.0.0.2 failed: exit code 1"))


class HandleTest(SpawnCase):
    def test_join_for_says_whether_all_have_ended_and_pids_are_theirs(self):
        run = self.spawn("join_for", nprocs=2)
        self.assert_status(run, 0)
        lines = self.lines(run)
        pids = [line.split()[1] for line in lines if line.startswith("pid ")]
        self.assertEqual([line for line in lines if not line.startswith("pid ")],
                         ["join_for 0", "join_for 1", "again 1"])
        self.assertEqual(pids, [self.read(f"ready.{rank}").strip() for rank in range(2)])

    def test_stop_and_the_end_of_the_handle_leave_nothing(self):
        run = self.spawn("stop", nprocs=2)
        self.assert_status(run, 0)
        lines = self.lines(run)
        self.assertEqual((lines[0], lines[-1]), ("stopped", "destroyed"))
        self.assertEqual(len(lines), 4)
        for line in lines[1:-1]:
            self.assertFalse(alive(int(line.split()[1])))


    def test_an_ended_job_whose_number_is_somebody_elses_is_not_signalled(self):
        options = ("--pid", "--fork", "--mount-proc")
        tool = self.need_namespace(*options)
        self.need_root("chooses the number of the next process")
        run = self.spawn("stale_number", nprocs=1, prefix=[tool, *options])
        self.assert_status(run, 0)
        self.assertEqual(self.lines(run), ["the stranger was left alone"])


class LeftoversTest(SpawnCase):
    def launcher_of(self, run):
        def look():
            return next((pid for pid in children(run.pid) if comm(pid) == "paddle-launch"), None)
        return wait_until(look, "the launcher process")

    def test_nothing_stays_when_the_program_is_killed(self):
        run = self.start_spawn("wait", nprocs=3)
        pids = self.wait_ready(3)
        launcher = self.launcher_of(run)
        run.send(signal.SIGKILL)
        run.wait()
        self.assert_gone([launcher, *pids.values()])

    def test_nothing_stays_when_a_program_that_ignores_sigterm_is_killed(self):
        def deaf():
            signal.signal(signal.SIGTERM, signal.SIG_IGN)
        run = self.start_spawn("wait", nprocs=2, TRY_GRACE="600000", preexec_fn=deaf)
        pids = self.wait_ready(2)
        run.send(signal.SIGKILL)
        run.wait()
        self.assert_gone(pids.values())

    def test_nothing_stays_when_the_program_ends_without_joining(self):
        run = self.spawn("exit_without_join", nprocs=2, TRY_NO_JOIN="1")
        self.assert_status(run, 5)
        self.assert_nothing_left()

    def test_nothing_stays_when_the_launcher_process_is_killed(self):
        run = self.start_spawn("wait", nprocs=2)
        pids = self.wait_ready(2)
        os.kill(self.launcher_of(run), signal.SIGKILL)
        run.wait()
        self.assertIn("the launcher process of spawn was killed", self.error(run)[5])
        self.assert_gone(pids.values())

    def test_a_signal_to_the_launcher_process_is_told(self):
        run = self.start_spawn("wait", nprocs=2)
        self.wait_ready(2)
        os.kill(self.launcher_of(run), signal.SIGTERM)
        run.wait()
        rank, _, _, status, _, what = self.error(run)
        self.assertEqual((rank, status, what), (-1, 143, "the launcher was stopped by SIGTERM"))

    def test_processes_look_like_those_of_the_program(self):
        run = self.start_spawn("wait", nprocs=2)
        pids = self.wait_ready(2)
        self.assertEqual({comm(pid) for pid in pids.values()}, {comm(run.pid)})
        run.send(signal.SIGKILL)
        run.wait()
        self.assert_gone(pids.values())


if __name__ == "__main__":
    unittest.main()
