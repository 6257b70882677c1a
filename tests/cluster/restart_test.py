# SPDX-License-Identifier: Apache-2.0
"""A job on four hosts that is started again: on all of them, with one count of restarts, and with the node that was
lost once somebody starts its launcher again. Most tests hold several jobs at once."""

import os
import re
import signal
import unittest

from cluster_case import PER_NODE, ClusterCase
from scheduler_nccl_test import find_libnccl

from harness import SH, pending, wait_until

WORLD = 4 * PER_NODE
QUICK = 20.0  # seconds: far more than four launchers need to end, far less than the pauses below
LONG_PAUSE = "--restart_pause=600"
NO_PAUSE = "--restart_pause=0"
HEARTBEAT = 2
LOST = "its launcher ended without a word"

# A trainer writes down what it sees, and waits at the gate of its round if it has one.
ARRIVE = ("gate=gate.$PADDLE_LAUNCH_ROUND; [ -p $gate ] || gate=/dev/null; exec 3<$gate; "
          "me=$PADDLE_LAUNCH_ROUND.$PADDLE_TRAINER_ID; env >env.$me; echo $$ >.tmp.$me; mv .tmp.$me ready.$me; "
          "read _ <&3 || :; exec 3<&-; ")
TABLE = re.compile(r"(?m)^Rounds of this job, as this node saw them:\n"
                   r"  round +restarts +nodes +trainers +lasted +ended by\n((?:  .*\n)+)")
ROW = re.compile(r"  (\d+) +(\d+) +(\d+) +(\d+) +([\d.]+ s|\d+ min \d+ s) +(.*)")


def fails(*ranks, code=7, before=1):
    """These ranks fail in the rounds before that one, and the others of these rounds stay until they are stopped."""
    return (f"if [ $PADDLE_LAUNCH_ROUND -lt {before} ]; then case $PADDLE_TRAINER_ID in {'|'.join(map(str, ranks))}) "
            f"exit {code};; esac; exec sleep 1000; fi; ")


def saves(*ranks):
    """These ranks, when they are stopped, take their time: until there is a file "saved"."""
    return (f"case $PADDLE_TRAINER_ID in {'|'.join(map(str, ranks))}) trap ': >stopping.$PADDLE_TRAINER_ID; "
            "until [ -e saved ]; do sleep 0.05; done; exit 0' TERM; : >trapped.$PADDLE_TRAINER_ID; "
            "while :; do sleep 0.05; done;; esac; ")


def table_in(text):
    """(round, restarts, nodes, trainers, how it ended) of every round, and how many tables there are."""
    found = TABLE.findall(text)
    rows = [ROW.fullmatch(line) for line in found[0].splitlines()] if found else []
    return [(*map(int, row.group(1, 2, 3, 4)), row.group(6)) for row in rows], len(found)


class Rounds:
    """What the trainers of a job wrote down in its folder; the gate of the first round is shut."""

    def __init__(self, case, folder, world):
        self.case, self.folder, self.world = case, folder, world
        folder.mkdir()
        os.mkfifo(folder / "gate.0")
        self._gate = os.open(folder / "gate.0", os.O_RDWR | os.O_CLOEXEC)
        case.addCleanup(self.go)

    def go(self):
        if self._gate is not None:
            os.close(self._gate)
            self._gate = None

    def wait_round(self, number, is_going_on, told):
        """The pids of its trainers by rank."""
        ready = [self.folder / f"ready.{number}.{rank}" for rank in range(self.world)]

        def look():
            going_on = is_going_on()
            have_come = all(path.exists() for path in ready)
            self.case.assertTrue(going_on or have_come, f"the job ended before round {number}\n{told()}")
            return have_come
        wait_until(look, lambda: f"round {number} of {self.folder.name}\n{told()}")
        return {rank: int(path.read_text()) for rank, path in enumerate(ready)}

    def wait_files(self, name, ranks, told):
        wait_until(lambda: all((self.folder / f"{name}.{rank}").exists() for rank in ranks), told)

    def rounds(self):
        return sorted({int(name.split(".")[1]) for name in os.listdir(self.folder) if name.startswith("ready.")})

    def environment(self, number, rank):
        text = (self.folder / f"env.{number}.{rank}").read_text(errors="replace")
        return dict(line.split("=", 1) for line in text.splitlines() if "=" in line)

    def assert_world(self, number, restarts=None):
        """All trainers of a round saw the same; their endpoints."""
        environments = [self.environment(number, rank) for rank in range(self.world)]
        for name in ("PADDLE_TRAINER_ENDPOINTS", "PADDLE_NNODES"):
            self.case.assertEqual(len({env[name] for env in environments}), 1, name)
        self.case.assertEqual(len({env["PADDLE_MASTER"] for env in environments[1:]}), 1)
        told = {(env["PADDLE_LAUNCH_ROUND"], env["PADDLE_RESTART_COUNT"]) for env in environments}
        self.case.assertEqual(told, {(str(number), str(number if restarts is None else restarts))})
        endpoints = environments[0]["PADDLE_TRAINER_ENDPOINTS"].split(",")
        self.case.assertEqual([env["PADDLE_CURRENT_ENDPOINT"] for env in environments], endpoints)
        per_node = self.world // len(self.case.addresses)
        self.case.assertEqual([text.split(":")[0] for text in endpoints],
                              [address for address in self.case.addresses for _ in range(per_node)])
        return {*endpoints, environments[0]["PADDLE_MASTER"], environments[1]["PADDLE_MASTER"]}


class Job(Rounds):
    """Launchers of one job, in a folder and with a --job_id of its own."""

    def __init__(self, case, name, then, options, how):
        super().__init__(case, case.base / name, WORLD)
        self.words = [f"--job_id={name}", *options, SH, "-c", ARRIVE + then]
        self.how = how
        self.runs = {}
        self.start(*case.names)

    def start(self, *hosts):
        """What was typed there before, if anything was, is forgotten."""
        base, self.case.dir = self.case.dir, self.folder
        try:
            self.runs.update({host: self.case.start_node(host, *self.words, **self.how) for host in hosts})
        finally:
            self.case.dir = base

    def take(self, host):
        """Its launcher is no longer one of the job's."""
        return self.runs.pop(host)

    def wait_for(self, number):
        return self.wait_round(number, lambda: all(run.running() for run in self.runs.values()), self.told)

    def begin(self):
        pids = self.wait_for(0)
        self.go()
        return pids

    def told(self):
        return self.case.all_told(self.runs)

    def table(self, host):
        rows, count = table_in(self.runs[host].err)
        self.case.assertEqual(count, 1, self.runs[host].told())
        return rows

    # claims

    def assert_ends(self, status, seconds=QUICK):
        self.case.assert_all_end(self.runs, status, seconds)

    def assert_told(self, *texts):
        self.case.assert_all_told(self.runs, *texts)

    def assert_tables(self, *causes, hosts=None):
        """All nodes tell of these rounds, the last of which completed."""
        expected = [(number, number, 4, WORLD, cause) for number, cause in enumerate((*causes, "completed"))]
        for host in hosts or self.runs:
            self.case.assertEqual(self.table(host), expected, host)


class RestartCase(ClusterCase):
    def start_job(self, name, then, *options, **how):
        return Job(self, name, then, ["--max_restart=3", *options], how)

    def text_of(self, rank, what="exit code 7"):
        return f"rank {rank} on {self.addresses[rank // PER_NODE]} failed: {what}"

    def kill(self, job, host):
        """The launcher there; returns when it is gone."""
        run = job.take(host)
        run.send(signal.SIGKILL)
        run.wait()


class FailureTest(RestartCase):
    def test_a_trainer_that_fails_on_any_node_starts_all_again(self):
        jobs = {rank: self.start_job(f"rank{rank}", fails(rank), "--restart_pause=0.5") for rank in (0, 4, 7)}
        for job in jobs.values():
            job.begin()
        for rank, job in jobs.items():
            with self.subTest(rank=rank):
                job.wait_for(1)
                job.assert_ends(0)
                job.assert_tables(self.text_of(rank))
                job.assert_told(f"round 0 failed: {self.text_of(rank)}; starting again in 0.5 s (restart 1 of 3)",
                                "round 1 begins: 2 processes here, 8 trainers on 4 nodes in all")
                self.assertEqual(job.assert_world(0) & job.assert_world(1), set())
                for run in job.runs.values():
                    self.assertEqual(run.err.count("ABORT!!!"), 1, run.told())

    def test_several_rounds_and_then_no_restart_is_left(self):
        job = self.start_job("many", fails(3, code="$((10 + PADDLE_LAUNCH_ROUND))", before=9), NO_PAUSE)
        job.begin()
        job.assert_ends(13)
        self.assertEqual(job.rounds(), [0, 1, 2, 3])
        job.assert_told("not started again: no restart is left (--max_restart=3)")
        for host in job.runs:
            self.assertEqual([row[-1] for row in job.table(host)],
                             [self.text_of(3, f"exit code {code}") for code in range(10, 14)])
            self.assertEqual([row[:2] for row in job.table(host)], [(number, number) for number in range(4)])

    def test_two_failures_at_once_are_one_restart(self):
        job = self.start_job("two", fails(3, 6, code="$((4 + PADDLE_TRAINER_ID))"), NO_PAUSE)
        job.begin()
        job.wait_for(1)
        job.assert_ends(0)
        job.assert_world(1)
        tables = {tuple(job.table(host)) for host in job.runs}
        self.assertEqual(len(tables), 1, job.told())
        first, second = tables.pop()
        self.assertIn(first[-1], (self.text_of(3), self.text_of(6, "exit code 10")))
        self.assertEqual(second, (1, 1, 4, WORLD, "completed"))

    def test_exit_code_102_of_any_node_uses_up_no_restart(self):
        job = self.start_job("wish", fails(5, code=102, before=2), NO_PAUSE)
        job.begin()
        job.assert_ends(0)
        for host in job.runs:
            self.assertEqual([row[:2] for row in job.table(host)], [(0, 0), (1, 0), (2, 0)])

    def test_a_signal_anywhere_while_trainers_are_stopped_is_the_end(self):
        # This rank fails when those of n3 are ready to take their time; then the launcher of that host is stopped.
        cases = ((2, "n1"), (2, "n2"), (2, "n3"), (2, "n4"), (0, "n1"))
        text = saves(4, 5) + "until [ -e trapped.4 -a -e trapped.5 ]; do sleep 0.05; done; "
        jobs = {(rank, host): self.start_job(f"rank{rank}-{host}", text + fails(rank), NO_PAUSE, "--grace=600")
                for rank, host in cases}
        for job in jobs.values():
            job.begin()
        for (_, host), job in jobs.items():
            job.wait_files("stopping", (4, 5), job.told)
            if host != "n3":  # its own processes are gone, and it waits for those of n3
                self.wait_told(job.runs[host], "the processes of this node have ended")
            job.runs[host].send(signal.SIGTERM)
            wait_until(lambda: not pending(job.runs[host].pid, signal.SIGTERM), "the launcher to take the signal")
        for job in jobs.values():
            (job.folder / "saved").touch()
        for (rank, host), job in jobs.items():
            with self.subTest(rank=rank, host=host):
                job.assert_ends(7)
                self.assertEqual(job.rounds(), [0])
                for run in job.runs.values():
                    self.assertNotIn("starting again", run.err)

    def test_a_signal_in_a_later_round_is_the_end(self):
        job = self.start_job("later", fails(6) + "exec sleep 1000", NO_PAUSE)
        job.begin()
        job.wait_for(1)
        job.runs["n2"].send(signal.SIGTERM)
        job.assert_ends(143)
        for host in job.runs:
            self.assertEqual(job.table(host)[1][-1], "the launcher on 10.77.0.2 was stopped by SIGTERM")


class BetweenRoundsTest(RestartCase):
    def start_pausing(self, *names):
        """Jobs that have ten minutes until their next round."""
        jobs = [self.start_job(name, fails(2), LONG_PAUSE) for name in names]
        for job in jobs:
            job.begin()
        for job in jobs:
            self.wait_all_told(job.runs, "starting again in 10 min 0 s (restart 1 of 3)")
        return jobs

    def test_a_signal_in_the_pause_ends_all_nodes_at_once(self):
        signals = {"n1": signal.SIGTERM, "n3": signal.SIGINT}
        jobs = dict(zip(signals, self.start_pausing(*signals)))
        for host, job in jobs.items():
            job.runs[host].send(signals[host])
        for host, job in jobs.items():
            with self.subTest(host=host):
                job.assert_ends(128 + signals[host])
                job.assert_told(f"stopped by {signals[host].name} between two rounds")

    def test_the_hub_that_is_lost_in_the_pause_ends_all_nodes_at_once(self):
        job, = self.start_pausing("hub")
        self.kill(job, "n1")
        job.assert_ends(75)
        job.assert_told("10.77.0.1, which holds the job together, was lost")

    def test_a_node_that_is_lost_in_the_pause_is_waited_for(self):
        job = self.start_job("short", fails(2), "--restart_pause=2")
        job.begin()
        self.wait_all_told(job.runs, "starting again in 2 s (restart 1 of 3)")
        self.kill(job, "n3")
        self.wait_all_told(job.runs, "waiting for 1 of 4 nodes: 10.77.0.3")
        job.start("n3")
        job.wait_for(1)
        job.assert_ends(0)


class LostNodeTest(RestartCase):
    def lose(self, name, host="n3", *options):
        """A job that waits for this node, whose launcher was killed."""
        job = self.start_job(name, "[ $PADDLE_LAUNCH_ROUND = 0 ] && exec sleep 1000; :", NO_PAUSE, *options)
        job.begin()
        self.kill(job, host)
        return job

    def wait_for_missing(self, job, address="10.77.0.3"):
        self.wait_all_told(job.runs, f"waiting for 1 of 4 nodes: {address}")

    def test_a_node_that_is_started_again_joins_the_others(self):
        jobs = {host: self.lose(f"lost-{host}", host) for host in ("n2", "n4")}
        for host, job in jobs.items():
            self.wait_for_missing(job, self.hosts.address(host))
            job.start(host)
        for host, job in jobs.items():
            with self.subTest(host=host):
                job.wait_for(1)
                job.assert_ends(0)
                others = [name for name in self.names if name != host]
                cause = f"node {self.hosts.address(host)} was lost: {LOST}"
                job.assert_tables(cause, hosts=others)
                self.assertNotIn("Rounds of this job", job.runs[host].err)
                for name in others:
                    self.assert_told(job.runs[name], f"round 0 failed: {cause}; starting again (restart 1 of 3)")
                self.assertEqual(job.assert_world(0) & job.assert_world(1), set())

    def test_a_node_may_be_started_again_before_the_others_have_stopped(self):
        others = [rank for rank in range(WORLD) if rank not in self.ranks_of("n3")]
        text = "[ $PADDLE_LAUNCH_ROUND = 0 ] || exit 0; " + saves(*others) + "exec sleep 1000"
        job = self.start_job("early", text, NO_PAUSE, "--grace=600")
        job.begin()
        job.wait_files("trapped", others, job.told)
        self.kill(job, "n3")
        job.wait_files("stopping", others, job.told)
        job.start("n3")
        # It has come when the hub has made it wait, or turned it away.
        wait_until(lambda: "waiting for" in job.runs["n3"].err or not job.runs["n3"].running(), job.told, QUICK)
        (job.folder / "saved").touch()
        job.wait_for(1)
        job.assert_ends(0)

    def test_the_hub_that_is_lost_ends_all(self):
        job = self.lose("hub", "n1")
        job.assert_ends(75)
        job.assert_told("10.77.0.1, which holds the job together, was lost",
                        "not started again: nobody could take the place of the lost node")
        self.assertEqual(job.rounds(), [0])

    def test_a_lost_node_that_restart_on_does_not_name_ends_all_at_once(self):
        job = self.lose("unnamed", "n3", "--restart_on=code,signal")
        job.assert_ends(75)
        job.assert_told("not started again: ")
        self.assertEqual(job.rounds(), [0])

    def test_a_node_that_nobody_starts_again_ends_all_after_a_time(self):
        job = self.lose("never", "n3", "--bootstrap_timeout=3")
        job.assert_ends(75)
        job.assert_told("1 of 4 nodes did not come within 3 s: 10.77.0.3")
        self.assertEqual(job.rounds(), [0])

    def test_a_signal_on_any_node_that_waits_ends_all(self):
        jobs = {host: self.lose(f"waits-{host}") for host in ("n1", "n2")}
        for host, job in jobs.items():
            self.wait_for_missing(job)
            job.runs[host].send(signal.SIGTERM)
        for host, job in jobs.items():
            with self.subTest(host=host):
                job.assert_ends(143)
                job.assert_told("stopped by SIGTERM between two rounds")

    def test_a_second_launcher_of_a_node_that_is_there_takes_no_place(self):
        job = self.lose("second")
        self.wait_for_missing(job)
        first = job.runs["n2"]
        job.start("n2")
        second, job.runs["n2"] = job.runs["n2"], first
        second.wait(QUICK)
        self.assertNotIn(second.status, (0, 75), second.told())
        self.assert_told(second, "10.77.0.2")
        if any(not run.running() for run in job.runs.values()):  # it may end the job, with a reason, but not spoil it
            self.wait_all(job.runs)
            job.assert_told("two launchers claim node 10.77.0.2")
            self.assertEqual(job.rounds(), [0])
            return
        job.start("n3")
        job.wait_for(1)
        job.assert_ends(0)

    def test_a_node_that_is_cut_off_is_waited_for_and_ends_by_itself(self):
        job = self.start_job("cut", "[ $PADDLE_LAUNCH_ROUND = 0 ] && exec sleep 1000; :", NO_PAUSE,
                             f"--heartbeat={HEARTBEAT}")
        job.begin()
        self.hosts.cut("n3")
        self.addCleanup(self.hosts.restore, "n3")
        alone = job.take("n3")
        alone.wait(QUICK)
        self.assert_status(alone, 75)
        self.assert_told(alone, "10.77.0.1, which holds the job together, was lost")
        self.wait_for_missing(job)
        self.hosts.restore("n3")
        job.start("n3")
        job.wait_for(1)
        job.assert_ends(0)
        job.assert_tables("node 10.77.0.3 was lost: no answer", hosts=["n1", "n2", "n4"])


class NcclTest(RestartCase):
    @classmethod
    def setUpClass(cls):
        cls.library = find_libnccl()
        super().setUpClass()

    def usual(self, host, ips=None):
        return [f"--ips={ips or self.ips}", "--assume_gpus", "--gpus=0,1", f"--nccl_lib={self.library}",
                f"--log_dir=log.{host}"]

    def test_every_round_has_an_id_of_its_own(self):
        jobs = [self.start_job("nccl", fails(5), NO_PAUSE), self.start_job("nccl-hub", fails(0), NO_PAUSE)]
        for job in jobs:
            job.begin()
        for job in jobs:
            job.wait_for(1)
        for job in jobs:
            job.assert_ends(0)
            found = []
            for number in range(2):
                ids = {job.environment(number, rank).get("PADDLE_LAUNCH_NCCL_ID") for rank in range(WORLD)}
                self.assertEqual(len(ids), 1, ids)
                self.assertRegex(next(iter(ids)) or "", "^[0-9a-f]{256}")
                found += ids
            self.assertEqual(len(set(found)), 2, found)


if __name__ == "__main__":
    unittest.main()
