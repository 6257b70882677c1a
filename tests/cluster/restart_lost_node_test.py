# SPDX-License-Identifier: Apache-2.0
"""A job on four hosts that lost a node is started again once somebody starts that node's launcher again. Most tests
hold several jobs at once."""

import signal
import unittest

from restart_case import NO_PAUSE, QUICK, WORLD, RestartCase, saves

from harness import wait_until

HEARTBEAT = 2
LOST = "its launcher ended without a word"


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


if __name__ == "__main__":
    unittest.main()
